package pt

import "errors"

// entriesFloor is how many entries any pickle may make, however short it is.
const entriesFloor = 64 << 10

// errBudget is that a pickle makes more than its length allows.
var errBudget = errors.New("its objects share their parts so widely that to list them would take memory beyond reason for a file of its size")

// budget begins what reading a pickle of so many bytes may make. An entry takes
// at least a byte of the pickle, unless objects are given their arguments, items
// or state all from one shared list: a few bytes each could then make millions
// of entries each.
func (b *builder) budget(inputSize int64) { b.left = inputSize + entriesFloor }

// spend takes n entries, or as much work, off the budget.
func (b *builder) spend(n int) error {
	if b.left -= int64(n); b.left < 0 {
		return errBudget
	}
	return nil
}
