// Package migrate plans how the leaves of an old checkpoint become those of a
// new one, and builds the new tree.
//
// # Rules
//
// [ParseRules] reads a rules file: a textproto in which each rule moves, drops
// or keeps what lies under a path. Paths are prefixes on key boundaries, the
// longest rule that covers a leaf decides about it, and the order of rules never
// matters: all of them look at both trees as they were.
//
// # Plans
//
// [NewPlan] says for every leaf of the new tree where its value comes from and
// for every leaf of the old tree what became of it. It reads structure only, no
// tensor bytes, in time and memory linear in the sizes of the trees and of the
// rules (and of the plan itself, where one source goes to many places). Every
// leaf is accounted for: what no rule and no equal path explains is a finding in
// [Plan.Report], and a plan with errors cannot be applied.
//
// # The new tree
//
// [Plan.Apply] gives the template's tree with the values moved into it:
// containers keep their type, order and payload, tensors their wrapper; subtrees
// that did not change are the very same nodes, and nodes that were shared stay
// shared where the same value went into all of them.
package migrate
