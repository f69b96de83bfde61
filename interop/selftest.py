"""Whether the judge and the comparison would notice: each kind of difference, one by one.

    python interop/selftest.py

run.sh runs it first, because a comparison that cannot fail proves nothing.
"""
import collections
import copy
import io
import sys

import numpy as np
import torch

import loading
from ckpt_samples import Plain
from compare import Comparison
from judge import differences
from oracle import Oracle

NAN, INF = float("nan"), float("inf")


def checkpoint():
    base = torch.arange(12, dtype=torch.float32)
    inner = {"k": [1, 2]}
    state = collections.OrderedDict([("w", torch.nn.Parameter(base[:4].clone())), ("b", torch.zeros(2))])
    state._metadata = {"": {"version": 1}}
    flat = torch.zeros(8)
    return {
        "flat": flat, "flat_view": flat[2:4],
        "base": base, "view": base[3:6], "matrix": base.view(3, 4), "other": torch.arange(12, dtype=torch.float32),
        "state": state, "int": 1, "float": 0.5, "zero": -0.0, "nan": NAN, "tuple": (1, "a"), "inner": [inner, inner],
        "keys": {0: "a", "1": "b", None: 2}, "array": np.arange(3, dtype="f4"), "objects": np.array([1, "x"], object),
        "set": {1, 2}, "plain": Plain(a=1, t=torch.ones(1)), "bytes": b"\x00\xff", "empty": [],
        "quantized": torch.quantize_per_tensor(torch.ones(2), 0.1, 0, torch.qint8),
        "sparse": torch.eye(2).to_sparse(), "deque": collections.deque([1], 3),
        "grad": torch.ones(1, requires_grad=True), "conj": torch.tensor([1 + 2j]).conj(),
        "default": collections.defaultdict(list, a=[]), "strided": torch.zeros(2, 3).t(),
    }


def setting(*path):
    """A change that puts the last argument at the keys before it."""
    *keys, last, value = path

    def change(c):
        for k in keys:
            c = c[k] if not isinstance(c, Plain) else getattr(c, k)
        c[last] = value(c[last]) if callable(value) else value
    return change


def reorder(c):
    c["int"] = c.pop("int")


def unshare(c):
    c["inner"][1] = copy.deepcopy(c["inner"][1])


def share(c):
    c["other"] = c["base"]


def move(c):
    c["flat_view"] = c["flat"][3:5]


def metadata(c):
    c["state"]._metadata[""]["version"] = 2


def no_metadata(c):
    del c["state"]._metadata


def attribute(c):
    c["plain"].a = 2


def attribute_tensor(c):
    c["plain"].t = torch.zeros(1)


def frozen(c):
    c["state"]["w"].requires_grad_(False)


def key_type(c):
    c["keys"] = {"0": "a", "1": "b", None: 2}


CHANGES = [
    ("a value of a tensor", setting("other", lambda t: t + 1)),
    ("the sign of a zero", setting("zero", 0.0)),
    ("the sign of a zero in a tensor", setting("state", "b", -torch.zeros(2))),
    ("a NaN", setting("nan", 1.0)),
    ("an int that becomes a float", setting("int", 1.0)),
    ("an int that becomes a bool", setting("int", True)),
    ("a dtype of the same width", setting("other", lambda t: t.view(torch.int32))),
    ("a shape", setting("other", lambda t: t.view(3, 4))),
    ("a stride", setting("strided", lambda t: t.contiguous())),
    ("a Parameter that becomes a tensor", setting("state", "w", lambda t: t.data)),
    ("requires_grad", setting("grad", lambda t: t.detach())),
    ("requires_grad of a Parameter", frozen),
    ("a view that becomes a copy", setting("view", lambda t: t.clone())),
    ("a copy that becomes a tie", share),
    ("a view that moves over equal values", move),
    ("the order of keys", reorder),
    ("the type of a key", key_type),
    ("a tuple that becomes a list", setting("tuple", list)),
    ("an OrderedDict that becomes a dict", setting("state", dict)),
    ("_metadata", metadata),
    ("_metadata gone", no_metadata),
    ("a shared dict that becomes two", unshare),
    ("a value in an array", setting("array", lambda a: a + 1)),
    ("an array's dtype", setting("array", lambda a: a.astype("f8"))),
    ("an item of an object array", setting("objects", np.array([1, "y"], object))),
    ("an item of a set", setting("set", {1, 3})),
    ("an attribute", attribute),
    ("a tensor in an attribute", attribute_tensor),
    ("bytes", setting("bytes", b"\x00\xfe")),
    ("bytes that become a bytearray", setting("bytes", bytearray)),
    ("an empty list that becomes a tuple", setting("empty", ())),
    ("a quantizer's scale", setting("quantized", torch.quantize_per_tensor(torch.ones(2) * 2, 0.2, 0, torch.qint8))),
    ("a sparse tensor's value", setting("sparse", lambda t: t * 2)),
    ("a sparse tensor that becomes dense", setting("sparse", lambda t: t.to_dense())),
    ("a conjugation that was applied", setting("conj", lambda t: t.resolve_conj().clone())),
    ("a deque's maxlen", setting("deque", collections.deque([1], 4))),
    ("a default factory", setting("default", collections.defaultdict(dict, a=[]))),
    ("an item gone", lambda c: c.pop("int")),
]


def through_torch(c):
    buf = io.BytesIO()
    torch.save(c, buf)
    buf.seek(0)
    return loading.load(buf)


def listed(root):
    """The oracle's listing as ckpt would print it, parts found one by one."""
    o = Oracle(root)
    entries = []
    for e in copy.deepcopy(o.entries):
        if e["kind"] != "object":
            entries.append(e)
            continue
        for i, alternatives in enumerate(e["parts"]):
            entries.append({"path": e["path"] + [i], "name": "", "kind": "tensor", "digest": alternatives[-1]})
    return {"entries": entries, "containers": o.containers}


LISTING = [
    ("a digest", lambda t, s: t.update(digest="sha256:00")),
    ("a shape", lambda t, s: t.update(shape=[1])),
    ("a dtype", lambda t, s: t.update(dtype="int8")),
    ("a path", lambda t, s: t.update(path=["elsewhere"])),
    ("a name", lambda t, s: t.update(name="elsewhere")),
    ("a tie that is not there", lambda t, s: t.update(alias_of=["other"])),
    ("a scalar's type", lambda t, s: s.update(type="float")),
    ("a scalar's value", lambda t, s: s.update(value=2)),
    ("a bool for an int", lambda t, s: s.update(value=True)),
    ("a string for an int", lambda t, s: s.update(value="1")),
]


def main():
    missed = []
    plain = differences(through_torch(checkpoint()), through_torch(checkpoint()))
    if plain:
        missed.append("an equal checkpoint is judged different: %s" % plain)
    for name, change in CHANGES:
        changed = through_torch(checkpoint())
        change(changed)
        if name == "a conjugation that was applied" and loading.TORCH < (2, 0):
            continue  # applied by torch.save itself there
        if not differences(through_torch(checkpoint()), changed):
            missed.append("the judge does not notice " + name)

    root = checkpoint()
    want = {"entries": Oracle(root).entries, "containers": Oracle(root).containers}
    found = Comparison(want, listed(root)).differences
    if found:
        missed.append("an equal listing compares different: %s" % found)
    for name, change in LISTING:
        got = listed(root)
        at = {str(e["path"]): e for e in got["entries"]}
        change(at["['view']"], at["['int']"])
        if not Comparison(want, got).differences:
            missed.append("the comparison does not notice " + name)
    for name, path in (("a missing entry", "int"), ("a missing part", "sparse"), ("a missing tie", "view")):
        got = listed(root)
        if name == "a missing tie":
            for e in got["entries"]:
                e.pop("alias_of", None)
        else:
            got["entries"] = [e for e in got["entries"] if e["path"][0] != path]
        if not Comparison(want, got).differences:
            missed.append("the comparison does not notice " + name)
    got = listed(root)
    got["entries"].append(dict(got["entries"][0], path=["more"], name="more"))
    if not Comparison(want, got).differences:
        missed.append("the comparison does not notice an entry too many")
    for line in missed:
        print("FAIL " + line)
    print("selftest: %d changes, %d missed" % (len(CHANGES) + len(LISTING) + 4, len(missed)))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
