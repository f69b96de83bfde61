"""Compares what ckpt prints for a file with what the oracle says, entry by entry."""
import collections
import json

from oracle import Wild

EXACT = {
    "tensor": ("kind", "dtype", "shape", "bytes", "digest"),
    "scalar": ("kind", "type", "value"),
    "empty": ("kind", "type"),
}


def frozen(path):
    return json.dumps(path)


def below(path, top):
    return path[: len(top)] == top


def same_number(a, b):
    """Equal as JSON values of one type: 1 is not 1.0 nor true, -0.0 is not 0.0."""
    return type(a) is type(b) and repr(a) == repr(b)


def mismatches(want, got):
    """The fields in which a ckpt entry differs from the oracle's."""
    out = []
    for field in EXACT.get(want["kind"], ()):
        a, b = want.get(field), got.get(field)
        equal = same_number(a, b) if isinstance(a, float) and isinstance(b, float) else type(a) is type(b) and a == b
        if field == "value" and want["type"] == "float" and isinstance(b, int) and not isinstance(b, bool):
            equal = float(b) == a  # JSON may print 1.0 as 1
        if not equal:
            out.append("%s: torch has %.120r, ckpt %.120r" % (field, a, b))
    return out


class Comparison(object):
    def __init__(self, want, got):
        self.want, self.got = want, got
        self.differences = []
        self.checked = collections.Counter()
        self.by_path = collections.defaultdict(list)
        for e in got["entries"]:
            self.by_path[frozen(e["path"])].append(e)
        for key, entries in self.by_path.items():
            if len(entries) > 1 and not any("~" in str(k) for k in entries[0]["path"]):
                self.differences.append("%s: listed %d times" % (key, len(entries)))
        self.loose = [e["path"] for e in want["entries"] if e["kind"] == "object" or e.get("dotted")]
        self.modules = [c["path"] for c in want["containers"] if c.get("module")]
        self.run()

    def report(self, e, text):
        self.differences.append("%s: %s" % (frozen(e["path"]), text))

    def run(self):
        used = set()
        pairs = []
        wild = []
        for e in self.want["entries"]:
            if e.get("dotted"):
                self.dotted(e, used)
            elif e["kind"] == "object":
                self.parts(e, used)
            elif any(isinstance(k, Wild) for k in e["path"]):
                wild.append(e)
            else:
                found = self.by_path.get(frozen(e["path"]))
                if not found:
                    self.report(e, "ckpt does not list this %s" % e["kind"])
                    continue
                used.add(id(found[0]))
                self.one(e, found[0])
                pairs.append((e, found[0]))
        for e in wild:
            self.wild(e, used)
        for e in self.got["entries"]:
            if id(e) not in used and not any(below(e["path"], p) for p in self.loose + self.modules):
                self.report(e, "torch has no such %s" % e["kind"])
        self.aliases(pairs)
        self.containers()

    def one(self, e, found):
        self.checked[e["kind"]] += 1
        if e["kind"] == "opaque":
            if found["kind"] not in ("opaque", "scalar"):
                self.report(e, "torch has a %s, ckpt a %s" % (e["type"], found["kind"]))
            return
        if e["kind"] == "ref":
            return
        if e["name"] != found.get("name") and not any(ord(c) < 32 or ord(c) > 126 for c in e["name"]):
            self.report(e, "name: %r expected, not %r" % (e["name"], found.get("name")))
        for text in mismatches(e, found):
            self.report(e, text)

    def wild(self, e, used):
        """Finds an entry equal but for the keys that are not compared."""
        for found in self.got["entries"]:
            if id(found) in used or len(found["path"]) != len(e["path"]):
                continue
            if all(isinstance(k, Wild) or k == f for k, f in zip(e["path"], found["path"])) and not mismatches(e, found):
                used.add(id(found))
                self.checked[e["kind"]] += 1
                return
        self.report(e, "ckpt lists no such %s" % e["kind"])

    def dotted(self, e, used):
        for found in self.got["entries"]:
            if found["kind"] == "tensor" and found.get("name") == e["name"] and not mismatches(e, found):
                used.add(id(found))
                self.checked["tensor"] += 1
                return
        self.report(e, "ckpt lists no such tensor by this dotted name")

    def parts(self, e, used):
        """Looks for the arrays that something is made of anywhere below its path."""
        under = [g for g in self.got["entries"] if below(g["path"], e["path"])]
        if not under:
            return self.report(e, "ckpt lists nothing here, torch has a %s" % e["type"])
        self.checked["object"] += 1
        used.update(id(g) for g in under)
        here = [g for g in under if g["path"] == e["path"] and g["kind"] == "tensor"]
        if here and "resolved" in e:
            if here[0].get("digest") != e["resolved"]:
                self.report(e, "the values are not those that torch has: a flag was not applied")
            return
        have = collections.Counter(g.get("digest") for g in under)
        for alternatives in e["parts"]:
            match = [d for d in alternatives if have[d] > 0]
            if not match:
                self.report(e, "an array that this %s is made of is not listed" % e["type"])
            else:
                have[match[0]] -= 1

    def aliases(self, pairs):
        """Compares which tensors share a storage, whichever of them comes first."""
        def groups(side):
            root = {}
            for pair in pairs:
                e = pair[side]
                if e["kind"] == "tensor":
                    key = frozen(e["path"])
                    root[key] = root.get(frozen(e["alias_of"]), frozen(e["alias_of"])) if e.get("alias_of") else key
            together = collections.defaultdict(set)
            for key, r in root.items():
                together[r].add(key)
            return {key: together[r] for key, r in root.items()}

        want, got = groups(0), groups(1)
        for key in want:
            if key in got and want[key] != got[key]:
                self.differences.append("%s: torch ties it to %s, ckpt to %s" % (
                    key, sorted(want[key] - {key}), sorted(got[key] - {key})))

    def containers(self):
        got = {frozen(c["path"]): c["type"] for c in self.got["containers"]}
        for c in self.want["containers"]:
            key = frozen(c["path"])
            if any(isinstance(k, Wild) for k in c["path"]):
                continue
            if any(below(c["path"], p) for p in self.loose):
                continue
            self.checked["container"] += 1
            if c["type"] is not None and got.get(key) != c["type"]:
                self.differences.append("%s: torch has a %s, ckpt %s" % (key, c["type"], got.get(key, "a plain container")))
