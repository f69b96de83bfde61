"""What `ckpt inspect --format json --digest` should print, according to torch.

    python interop/oracle.py FILE

Loads FILE with the torch at hand and prints the JSON object. It derives the tree
from the live objects, by the same protocol by which pickle takes them apart, and
knows nothing of how ckpt reads the file.

Three things are not compared to the letter, and say so by a field of their own:
`parts` is the digests of tensors that must be found somewhere below a path, for
what torch has no single dense array for (each item lists alternatives); `resolved`
is the digest that a tensor listed at this very path must have then; `dotted` asks
for a tensor by its dotted name only.
"""
import base64
import collections
import copyreg
import datetime
import decimal
import enum
import fractions
import hashlib
import json
import math
import pathlib
import sys
import types
import uuid

import numpy as np
import torch

import loading

OPAQUE = (
    datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo, decimal.Decimal, fractions.Fraction, uuid.UUID,
    pathlib.PurePath, range, slice, complex, enum.Enum, type(Ellipsis), type(NotImplemented), type,
    types.FunctionType, types.BuiltinFunctionType, types.MethodType, torch.device, torch.dtype, torch.layout,
    torch.memory_format, torch.qscheme, np.dtype,
)
UNSIGNED_BITS = 53  # integers beyond 2^53 are printed as strings


class Wild(str):
    """A key that is not compared: a class or enum member as mapping key, a place in a mixed set."""


def qualified(cls):
    """A class's name: builtins by their bare one."""
    if cls.__module__ == "builtins":
        return cls.__qualname__
    return cls.__module__ + "." + cls.__qualname__


def key_of(k):
    """A mapping key as an element of a path."""
    if isinstance(k, str) and type(k) is str:
        return k
    if type(k) is int and -2**63 <= k < 2**63:
        return k
    if any(isinstance(x, (enum.Enum, type, torch.dtype)) for x in (k if isinstance(k, tuple) else (k,))):
        return Wild(repr(k))
    return repr(k)


def digest(dtype, shape, data):
    h = hashlib.sha256()
    h.update(dtype.encode() + b"\0" + "x".join(map(str, shape)).encode() + b"\0")
    h.update(data)
    return "sha256:" + h.hexdigest()


def tensor_fields(t):
    """The dtype, shape, bytes and digest of a dense tensor, flags not applied."""
    dtype, shape = str(t.dtype).replace("torch.", ""), list(t.shape)
    data = np.ascontiguousarray(loading.elements(t)).tobytes()
    return {"dtype": dtype, "shape": shape, "bytes": len(data), "digest": digest(dtype, shape, data)}


def array_fields(a):
    """The same of a NumPy array, in little-endian form."""
    little = a.dtype.newbyteorder("<")
    data = a.astype(little).tobytes("C")
    dtype, shape = str(little), list(a.shape)
    return {"dtype": dtype, "shape": shape, "bytes": len(data), "digest": digest(dtype, shape, data)}


class Oracle(object):
    def __init__(self, root):
        self.entries = []
        self.containers = []
        self.shared = []  # (entry, tensor) of all dense tensors, for alias_of
        self.arrays = {}  # id of a NumPy array: its first path
        self.open = {}  # id of a container being walked: its path
        self.keep = []  # what pickle's protocol made for us, so that ids stay unique
        self.walk([], root)
        groups = loading.share_groups([t for _, t in self.shared])
        first = {}
        for group, (entry, _) in zip(groups, self.shared):
            path = first.setdefault(group, entry["path"])
            if path is not entry["path"]:
                entry["alias_of"] = path

    def emit(self, path, kind, **fields):
        entry = dict(path=path, name=".".join(str(k) for k in path), kind=kind, **fields)
        self.entries.append(entry)
        return entry

    def walk(self, path, x):
        if self.scalar(path, x) or self.tensor(path, x):
            return
        if isinstance(x, OPAQUE):
            self.emit(path, "opaque", type=qualified(type(x)), text=str(x))
            return
        if id(x) in self.open:
            self.emit(path, "ref", to=self.open[id(x)])
            return
        self.open[id(x)] = path
        self.container(path, x)
        del self.open[id(x)]

    # Leaves.

    def scalar(self, path, x):
        if isinstance(x, np.generic) and not isinstance(x, (np.complexfloating, np.datetime64, np.timedelta64, np.void)):
            x = x.item()
        elif isinstance(x, np.generic):
            self.emit(path, "opaque", type="numpy." + type(x).__name__, text=str(x))
            return True
        if type(x) is bytearray:
            x = bytes(x)
        if x is None:
            self.emit(path, "scalar", type="null", value=None)
        elif type(x) is bool:
            self.emit(path, "scalar", type="bool", value=x)
        elif type(x) is int:
            self.emit(path, "scalar", type="int", value=x if abs(x) <= 2**UNSIGNED_BITS else str(x))
        elif type(x) is float:
            if not math.isfinite(x):
                x = "NaN" if math.isnan(x) else "Infinity" if x > 0 else "-Infinity"
            self.emit(path, "scalar", type="float", value=x)
        elif type(x) is str:
            self.emit(path, "scalar", type="string", value=x)
        elif type(x) is bytes:
            self.emit(path, "scalar", type="bytes", value={"base64": base64.b64encode(x).decode()})
        else:
            return False
        return True

    def tensor(self, path, x):
        if loading.is_storage(x):
            x = loading.storage_tensor(x)
        if isinstance(x, np.ndarray):
            if x.dtype.hasobject:
                return False
            entry = self.emit(path, "tensor", **array_fields(x))
            self.keep.append(x)
            if id(x) in self.arrays:
                entry["alias_of"] = self.arrays[id(x)]
            self.arrays.setdefault(id(x), path)
            return True
        if not isinstance(x, torch.Tensor):
            return False
        if loading.is_plain_tensor(x) and not loading.is_flagged(x):
            self.shared.append((self.emit(path, "tensor", **tensor_fields(x)), x))
            return True
        fields = {}
        if loading.is_flagged(x):
            fields["resolved"] = tensor_fields(x.resolve_conj().resolve_neg().clone())["digest"]
        self.emit(path, "object", type=qualified(type(x)), parts=list(self.parts(x)), **fields)
        return True

    def parts(self, x):
        """The digests of the dense arrays that a tensor of another sort is made of."""
        if loading.is_uninitialized(x):
            return
        if getattr(x, "__dict__", None):
            for v in vars(x).values():
                if isinstance(v, torch.Tensor):
                    for part in self.parts(v):
                        yield part
        if getattr(x, "is_nested", False):
            # values() of the strided layout gives the parts, of the jagged one the buffer
            inner = [x.values(), x.offsets()] if x.layout == torch.jagged else [x.values().flatten()]
            for t in inner:
                yield [tensor_fields(t.detach())["digest"]]
        elif x.is_meta:
            return
        elif x.layout == torch.sparse_coo:
            yield [tensor_fields(x._indices())["digest"]]
            yield [tensor_fields(x._values().detach())["digest"]]
        elif x.layout in (getattr(torch, "sparse_csr", 0), getattr(torch, "sparse_bsr", 0)):
            for t in (x.crow_indices(), x.col_indices(), x.values()):
                yield [tensor_fields(t)["digest"]]
        elif x.layout in (getattr(torch, "sparse_csc", 0), getattr(torch, "sparse_bsc", 0)):
            for t in (x.ccol_indices(), x.row_indices(), x.values()):
                yield [tensor_fields(t)["digest"]]
        elif x.is_quantized and x.dtype in (torch.quint4x2, torch.quint2x4):
            raw = loading.storage_bytes(x).tobytes()
            yield [digest("uint8", [len(raw)], raw)]
        elif x.is_quantized:
            data = np.ascontiguousarray(loading.elements(x)).tobytes()
            integers = str(x.dtype).replace("torch.q", "")
            yield [digest(d, x.shape, data) for d in (integers, "q" + integers)]
            if x.qscheme() in (torch.per_channel_affine, torch.per_channel_affine_float_qparams):
                yield [tensor_fields(x.q_per_channel_scales())["digest"]]
                yield [tensor_fields(x.q_per_channel_zero_points())["digest"]]
        else:
            yield [tensor_fields(x.detach().as_subclass(torch.Tensor))["digest"]]

    # Containers.

    def items(self, path, typ, pairs, empty=True):
        """Lists a container's (key, value) pairs; an empty one is an entry itself."""
        pairs = list(pairs)
        if not pairs and empty:
            self.emit(path, "empty", type=typ)
        elif typ not in ("dict", "list"):
            self.containers.append({"path": path, "type": typ})
        for k, v in pairs:
            self.walk(path + [k], v)

    def container(self, path, x):
        typ = qualified(type(x))
        if isinstance(x, np.ndarray):
            self.items(path, "numpy.ndarray", enumerate(x.ravel().tolist()))
        elif type(x) in (dict, collections.OrderedDict, collections.defaultdict, collections.Counter):
            self.items(path, typ, ((key_of(k), v) for k, v in x.items()))
        elif type(x) in (set, frozenset):
            if len({type(v) for v in x}) <= 1 and all(type(v) in (int, float, str, bytes) for v in x):
                self.items(path, typ, enumerate(sorted(x)))
            else:  # no order that everybody would choose
                self.items(path, typ, ((Wild(i), v) for i, v in enumerate(x)))
        elif type(x) in (list, tuple, collections.deque, torch.Size):
            self.items(path, typ, enumerate(x))
        elif isinstance(x, tuple) and hasattr(x, "_fields"):
            self.items(path, typ, enumerate(x))
        elif isinstance(x, torch.jit.ScriptModule):
            self.containers.append({"path": path, "type": None, "module": True})
            for name, t in x.state_dict().items():
                self.emit(path + [name], "tensor", dotted=True, **tensor_fields(t))
        elif isinstance(x, torch.nn.Module):
            self.module(path, typ, x)
        else:
            self.instance(path, typ, x)

    def module(self, path, typ, m):
        """A pickled module: its state_dict() names, and its own attributes beside them."""
        self.containers.append({"path": path, "type": typ, "module": True})

        def tensors(prefix, m):
            for group in (m._parameters, m._buffers):
                for name, t in group.items():
                    if t is not None:
                        self.walk(path + [prefix + name], t)
            for name, child in m._modules.items():
                if child is not None:
                    tensors(prefix + name + ".", child)

        tensors("", m)
        for name, v in vars(m).items():
            if not name.startswith("_"):
                self.walk(path + [name], v)

    def instance(self, path, typ, x):
        """An object of a class that is not plain data, as pickle takes it apart."""
        how = x.__reduce_ex__(2)
        self.keep.append(how)
        if isinstance(how, str):
            self.emit(path, "opaque", type=typ, text=how)
            return
        func, args, state, listed, mapped = (tuple(how) + (None,) * 3)[:5]
        pairs = []
        if func is copyreg.__newobj__:
            args = args[1:]
        elif func is getattr(copyreg, "__newobj_ex__", None):
            # Its spelling depends on the protocol: nothing but its presence.
            self.emit(path, "object", type=typ, parts=[])
            return
        elif func is copyreg._reconstructor:
            args = args[2:] if args[1] is not object else ()
        else:
            typ = qualified(func) if isinstance(func, type) else func.__module__ + "." + func.__qualname__
        listed, mapped = list(listed or ()), list(mapped or ())
        args, attrs = list(enumerate(args)), self.attributes(state)
        items = list(enumerate(listed)) + [(key_of(k), v) for k, v in mapped]
        keys = [k for k, _ in args + attrs + items]
        if len(set(map(repr, keys))) < len(keys):  # two parts share a key: a place of their own
            if args:
                self.items(path + ["__args__"], "__args__", args, empty=False)
            if attrs:
                self.items(path + ["__dict__"], "__dict__", attrs, empty=False)
            args, attrs = [], []
        self.items(path, typ, pairs + args + attrs + items)

    @staticmethod
    def attributes(state):
        if state is None:
            return []
        if isinstance(state, dict):
            return list(state.items())
        if isinstance(state, tuple) and len(state) == 2 and isinstance(state[1], dict):
            if isinstance(state[0], (dict, type(None))):  # attributes and slots
                return list((state[0] or {}).items()) + list(state[1].items())
        return [("__state__", state)]


def describe(path):
    """The JSON object for the file at path, as Python data."""
    o = Oracle(loading.load(path))
    tensors = [e for e in o.entries if e["kind"] == "tensor"]
    return {
        "file": path,
        "format": "pt",
        "tensors": len(tensors),
        "parameters": sum(int(np.prod(e["shape"], dtype=object)) for e in tensors),
        "tensor_bytes": sum(e["bytes"] for e in tensors),
        "entries": o.entries,
        "containers": o.containers,
    }


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print(json.dumps(describe(sys.argv[1]), indent=1))
