"""Whether a rewritten checkpoint is, to torch, the one it was made from.

    python interop/judge.py OLD NEW

Loads both with the torch at hand, and NEW once more by mmap, and both once more
with weights_only where OLD allows it. They must have equal values (bit for bit,
any NaN equal to any other NaN scalar), dtypes, shapes, strides, requires_grad and
classes; the same container types, key types and key order, `_metadata` included;
the same objects at several places; and the same tensors in one storage, at the
same distances. Prints the first 20 differences and exits 1 if there are any.
"""
import collections
import enum
import struct
import sys
import types
import zipfile

import numpy as np
import torch

import loading

SHOWN = 20
ATOMS = (type(None), bool, int, float, complex, str, bytes, type, types.FunctionType, types.BuiltinFunctionType,
         torch.dtype, torch.device, torch.layout, torch.memory_format, torch.qscheme, np.dtype, enum.Enum,
         type(Ellipsis), type(NotImplemented))


class Judge(object):
    def __init__(self):
        self.differences = []
        self.pairs = {}  # id of an old object: the new one that was compared with it
        self.back = {}
        self.keep = []
        self.tensors = []  # (where, old, new) that have storages

    def report(self, where, text, *args):
        self.differences.append((where or "the root") + ": " + text % args)

    def compare(self, where, a, b):
        """Compares two objects; where is how to reach them."""
        if type(a) is not type(b):
            return self.report(where, "%s became %s", type(a).__name__, type(b).__name__)
        if isinstance(a, ATOMS):
            return self.atom(where, a, b)
        if id(a) in self.pairs or id(b) in self.back:
            if self.pairs.get(id(a)) is not b and not (isinstance(a, tuple) and len(a) == 0):
                self.report(where, "shared with another place in one file and not in the other")
            return
        self.pairs[id(a)], self.back[id(b)] = b, a
        self.keep.append((a, b))
        if loading.is_storage(a):
            return self.tensor(where, loading.storage_tensor(a), loading.storage_tensor(b))
        if isinstance(a, torch.Tensor):
            return self.tensor(where, a, b)
        if isinstance(a, np.ndarray):
            return self.array(where, a, b)
        if isinstance(a, np.generic):
            if a.dtype != b.dtype or a.tobytes() != b.tobytes():
                self.report(where, "%r became %r", a, b)
            return
        if type(a) in (set, frozenset):
            return self.unordered(where, a, b)
        if isinstance(a, dict):
            self.mapping(where, a, b)
        elif isinstance(a, (list, tuple, collections.deque)):
            self.sequence(where, a, b)
        elif isinstance(a, torch.jit.ScriptModule):
            return self.mapping(where, a.state_dict(), b.state_dict())
        elif isinstance(a, torch.nn.Module):
            return self.mapping(where, vars(a), vars(b))
        else:
            return self.instance(where, a, b)
        if isinstance(a, collections.defaultdict):
            self.compare(where + ".default_factory", a.default_factory, b.default_factory)
        if isinstance(a, collections.deque) and a.maxlen != b.maxlen:
            self.report(where, "maxlen %s became %s", a.maxlen, b.maxlen)
        if getattr(a, "__dict__", None) or getattr(b, "__dict__", None):
            self.mapping(where + ".__dict__", vars(a), vars(b))

    def atom(self, where, a, b):
        if isinstance(a, float):
            same = struct.pack("d", a) == struct.pack("d", b) or (a != a and b != b)
        elif isinstance(a, complex):
            self.atom(where + ".real", a.real, b.real)
            return self.atom(where + ".imag", a.imag, b.imag)
        else:
            same = a is b or a == b
        if not same:
            self.report(where, "%.80r became %.80r", a, b)

    def sequence(self, where, a, b):
        if len(a) != len(b):
            return self.report(where, "%d items became %d", len(a), len(b))
        for i, (x, y) in enumerate(zip(a, b)):
            self.compare("%s[%d]" % (where, i), x, y)

    def unordered(self, where, a, b):
        def order(v):
            return type(v).__name__, repr(v)

        self.sequence(where, sorted(a, key=order), sorted(b, key=order))

    def mapping(self, where, a, b):
        if len(a) != len(b):
            return self.report(where, "%d keys became %d", len(a), len(b))
        for (k, x), (l, y) in zip(list(a.items()), list(b.items())):
            n = len(self.differences)
            self.compare("%s key %r" % (where, k), k, l)
            if len(self.differences) == n:
                self.compare("%s[%r]" % (where, k), x, y)

    def instance(self, where, a, b):
        """Compares objects of other classes as pickle takes them apart."""
        p, q = a.__reduce_ex__(2), b.__reduce_ex__(2)
        self.keep.append((p, q))
        if isinstance(p, str) or isinstance(q, str):
            if p != q:
                self.report(where, "%s became %s", p, q)
            return
        p, q = ((tuple(x) + (None,) * 4)[:5] for x in (p, q))
        self.compare(where + ".__reduce__()", p[0], q[0])
        if len(p[1]) != len(q[1]):
            self.report(where, "%d arguments became %d", len(p[1]), len(q[1]))
        for i, (x, y) in enumerate(zip(p[1], q[1])):
            self.compare("%s(argument %d)" % (where, i), x, y)
        if isinstance(p[2], dict) and isinstance(q[2], dict):
            self.mapping(where + ".__dict__", p[2], q[2])
        elif isinstance(p[2], tuple) and isinstance(q[2], tuple):
            self.sequence(where + ".__getstate__()", p[2], q[2])
        else:
            self.compare(where + ".__getstate__()", p[2], q[2])
        self.sequence(where, list(p[3] or ()), list(q[3] or ()))
        self.sequence(where + ".items()", [list(kv) for kv in p[4] or ()], [list(kv) for kv in q[4] or ()])

    def array(self, where, a, b):
        # NumPy itself makes an array native when it reads a pickle of a protocol
        # below 5, so the byte order in memory says nothing about the file.
        little = a.dtype.newbyteorder("<"), b.dtype.newbyteorder("<")
        if little[0] != little[1] or a.shape != b.shape:
            return self.report(where, "array %s %s became %s %s", a.dtype.str, a.shape, b.dtype.str, b.shape)
        if a.flags.f_contiguous != b.flags.f_contiguous or a.flags.c_contiguous != b.flags.c_contiguous:
            self.report(where, "the array changed between C and Fortran order")
        if a.dtype.hasobject:
            for i, (x, y) in enumerate(zip(a.ravel().tolist(), b.ravel().tolist())):
                self.compare("%s.flat[%d]" % (where, i), x, y)
        elif a.astype(little[0]).tobytes() != b.astype(little[0]).tobytes():
            self.report(where, "the array's values differ")

    def tensor(self, where, a, b):
        if loading.is_uninitialized(a):
            return
        for name in ("dtype", "layout", "device", "requires_grad", "is_quantized", "is_sparse", "is_leaf"):
            x, y = getattr(a, name), getattr(b, name)
            if x != y:
                self.report(where, "%s %s became %s", name, x, y)
        # A jagged tensor's attributes hold a symbolic size, numbered by the process.
        if (vars(a) or vars(b)) and not getattr(a, "is_nested", False):
            self.mapping(where + ".__dict__", vars(a), vars(b))
        if loading.is_flagged(a) or loading.is_flagged(b):
            if (a.is_conj(), a.is_neg()) != (b.is_conj(), b.is_neg()):
                self.report(where, "is_conj or is_neg changed")
        if getattr(a, "_backward_hooks", None) or getattr(b, "_backward_hooks", None):
            self.compare(where + "._backward_hooks", a._backward_hooks, b._backward_hooks)
        if a.layout != b.layout or a.dtype != b.dtype:
            return
        a, b = a.detach(), b.detach()
        parts = self.parts(a), self.parts(b)
        if parts[0] is not None:
            for name in parts[0]:
                self.compare_part(where + "." + name, parts[0][name], parts[1][name])
            return
        a, b = a.as_subclass(torch.Tensor), b.as_subclass(torch.Tensor)
        if a.shape != b.shape:
            return self.report(where, "shape %s became %s", tuple(a.shape), tuple(b.shape))
        if a.stride() != b.stride():
            self.report(where, "stride %s became %s", a.stride(), b.stride())
        if a.is_meta:
            return
        self.tensors.append((where, a, b))
        if a.dtype in (getattr(torch, "quint4x2", 0), getattr(torch, "quint2x4", 0)):
            same = np.array_equal(loading.storage_bytes(a), loading.storage_bytes(b))
        else:
            same = loading.elements(a).tobytes() == loading.elements(b).tobytes()
        if not same:
            self.report(where, "the tensor's values differ")
        if a.is_quantized:
            self.quantizer(where, a, b)

    def compare_part(self, where, x, y):
        if isinstance(x, torch.Tensor) and isinstance(y, torch.Tensor):
            self.keep.append((x, y))
            self.tensor(where, x, y)
        elif x != y:
            self.report(where, "%s became %s", x, y)

    def quantizer(self, where, a, b):
        if a.qscheme() != b.qscheme():
            return self.report(where, "qscheme %s became %s", a.qscheme(), b.qscheme())
        if a.qscheme() == torch.per_tensor_affine:
            names = ("q_scale", "q_zero_point")
        else:
            names = ("q_per_channel_scales", "q_per_channel_zero_points", "q_per_channel_axis")
        for name in names:
            x, y = getattr(a, name)(), getattr(b, name)()
            if not (torch.equal(x, y) and x.dtype == y.dtype if isinstance(x, torch.Tensor) else x == y):
                self.report(where, "%s %s became %s", name, x, y)

    @staticmethod
    def parts(t):
        """The dense parts of a tensor that is not one array, or None."""
        if getattr(t, "is_nested", False):
            if t.layout == torch.jagged:
                return {"values": t.values(), "offsets": t.offsets()}
            return {"buffer": t.values(), "sizes": t._nested_tensor_size(), "strides": t._nested_tensor_strides(),
                    "offsets": t._nested_tensor_storage_offsets()}
        if t.layout == torch.sparse_coo:
            return {"size": tuple(t.shape), "indices": t._indices(), "values": t._values(), "coalesced": t.is_coalesced()}
        if t.layout in (getattr(torch, "sparse_csr", 0), getattr(torch, "sparse_bsr", 0)):
            return {"size": tuple(t.shape), "crow": t.crow_indices(), "col": t.col_indices(), "values": t.values()}
        if t.layout in (getattr(torch, "sparse_csc", 0), getattr(torch, "sparse_bsc", 0)):
            return {"size": tuple(t.shape), "ccol": t.ccol_indices(), "row": t.row_indices(), "values": t.values()}
        return None

    def ties(self):
        """Compares which tensors share memory, and how far apart they begin in it."""
        sides = []
        for side in (1, 2):
            tensors = [t[side] for t in self.tensors]
            groups = loading.share_groups(tensors)
            start = {}
            at = [loading.span(t)[1] + t.storage_offset() * t.element_size() for t in tensors]
            for g, address, t in zip(groups, at, tensors):
                if t.numel() > 0:
                    start[g] = min(start.get(g, address), address)
            sides.append([(g, address - start[g] if t.numel() > 0 else 0) for g, address, t in zip(groups, at, tensors)])
        for (where, _, _), x, y in zip(self.tensors, *sides):
            if x[0] != y[0]:
                return self.report(where, "shares its storage with other tensors than before")
            if x[1] != y[1]:
                self.report(where, "began %d bytes into what it shares with others, now %d", x[1], y[1])


def differences(old, new):
    """What differs between two loaded checkpoints, as lines."""
    j = Judge()
    j.compare("", old, new)
    j.ties()
    return j.differences


def judge(old_path, new_path):
    """What differs between two files in any way of loading them, as lines."""
    old = loading.load(old_path)
    out = differences(old, loading.load(new_path))
    if loading.TORCH >= (2, 1) and zipfile.is_zipfile(new_path):
        out += ["with mmap: " + d for d in differences(old, loading.load(new_path, mmap=True))]
    if loading.TORCH >= (1, 13):
        try:
            old = loading.load(old_path, weights_only=True)
        except Exception:  # not a file of weights only: nothing to ask of NEW
            return out
        try:
            out += ["with weights_only: " + d for d in differences(old, loading.load(new_path, weights_only=True))]
        except Exception as e:
            out.append("with weights_only: no longer loads: %s" % e)
    return out


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    found = judge(*sys.argv[1:])
    for line in found[:SHOWN]:
        print(line)
    if len(found) > SHOWN:
        print("and %d more" % (len(found) - SHOWN))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
