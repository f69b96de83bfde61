# -*- coding: utf-8 -*-
"""Samples that every torch writes, 1.0 on Python 2.7 to the newest."""
from __future__ import unicode_literals

import collections

import numpy as np
import torch
from torch import nn

import ckpt_samples as cs
from registry import NEWEST, TORCH, sample

DTYPES = (
    "float64 float32 float16 bfloat16 float8_e4m3fn float8_e4m3fnuz float8_e5m2 "
    "float8_e5m2fnuz float8_e8m0fnu int64 int32 int16 int8 uint64 uint32 uint16 uint8 "
    "bool complex32 complex64 complex128"
).split()


def of_dtype(name):
    """Three elements of a dtype, whatever arithmetic this torch has for it."""
    dtype = getattr(torch, name, None)
    if dtype is None:
        return None
    if name in ("bfloat16", "complex64", "complex128") and TORCH < (1, 7):
        return None  # half-built there: some cannot even be filled
    if name == "complex32" and TORCH < (2, 0):
        return None  # no storage class to pickle it by
    if name == "bool":
        if TORCH < (1, 2):
            return None
        return torch.tensor([1, 0, 1], dtype=torch.uint8).to(dtype)
    if name.startswith("float8"):
        return torch.tensor([0, 0x38, 0xF1], dtype=torch.uint8).view(dtype)
    if name == "complex32":
        return torch.tensor([1, 2, 3, 4, 5, 6], dtype=torch.float16).view(dtype)
    if name.startswith("complex"):
        return torch.tensor([1 + 2j, -0.5j, 3], dtype=dtype)
    if name.startswith("uint") and name != "uint8":
        size = getattr(torch, name[1:])
        return torch.tensor([1, -2, 300], dtype=size).view(dtype)
    return torch.tensor([1, 2, 100 if name == "uint8" else -3]).to(dtype)


def dtypes():
    out = collections.OrderedDict()
    for name in DTYPES:
        t = of_dtype(name)
        if t is not None:
            out[name] = t
    return out


def is_v3(name):
    """Whether a dtype has no storage class: it needs _rebuild_tensor_v3."""
    return name.startswith("float8") or name in ("uint16", "uint32", "uint64", "complex32")


def legacy_dtypes():
    """torch writes the others to a legacy stream too, but cannot load them."""
    return collections.OrderedDict((k, v) for k, v in dtypes().items() if not is_v3(k))


@sample("legacy-untyped", "dtypes that torch writes to a legacy stream and cannot load again",
        since=NEWEST, legacy=True)
def legacy_untyped():
    return collections.OrderedDict((k, v) for k, v in dtypes().items() if is_v3(k))


for p in (1, 2, 3, 4, 5):
    if TORCH >= NEWEST or (p == 2 and TORCH >= (1, 6)):
        sample("zip-dtypes-p%d" % p, "every dtype, pickle protocol %d, zip" % p,
               since=(1, 6), legacy=False, protocol=p)(dtypes)
    if TORCH >= NEWEST or p == 2 or (p in (1, 3, 4) and TORCH == (1, 0)):
        sample("legacy-dtypes-p%d" % p, "every dtype, pickle protocol %d, legacy stream" % p,
               legacy=True, protocol=p)(legacy_dtypes)


def views():
    base = torch.arange(24, dtype=torch.float32)
    m = base.view(4, 6)
    image = torch.arange(24, dtype=torch.float32).view(1, 2, 3, 4)
    big = torch.arange(1000, dtype=torch.int32)
    out = collections.OrderedDict([
        ("base", base),
        ("same", base),
        ("reshaped", m),
        ("transposed", m.t()),
        ("offset", base[5:9]),
        ("overlap", base[7:12]),
        ("every_other", base[1::2]),
        ("column", m[:, 2]),
        ("inner", m[1:3, 2:5]),
        ("expanded", base[3:4].expand(5)),
        ("expanded_2d", base[:3].view(3, 1).expand(3, 4)),
        ("zero_d", torch.tensor(3.5)),
        ("zero_d_view", base[11]),
        ("empty", torch.empty(0)),
        ("empty_2d", torch.empty(3, 0, 2)),
        ("empty_view", base[4:4]),
        ("permuted", image.permute(0, 2, 3, 1)),
        ("small_of_big", big[500:504]),
    ])
    if hasattr(torch, "channels_last"):
        out["channels_last"] = image.contiguous(memory_format=torch.channels_last)
    else:
        out["channels_last"] = image.permute(0, 2, 3, 1).contiguous().permute(0, 3, 1, 2)
    return out


sample("zip-views", "views, ties, strides, offsets; a small view of a big storage",
       since=(1, 6), legacy=False)(views)
sample("legacy-views", "views, ties, strides, offsets; a small view of a big storage",
       legacy=True)(views)


def params():
    w = nn.Parameter(torch.randn(2, 3))
    frozen = nn.Parameter(torch.randn(3), requires_grad=False)
    leaf = torch.ones(2, requires_grad=True)
    return collections.OrderedDict([
        ("w", w), ("w_again", w), ("w_data", w.data), ("frozen", frozen),
        ("requires_grad", leaf), ("plain", torch.zeros(2)),
        ("list", [w, frozen]),
    ])


sample("zip-params", "Parameters, requires_grad, one Parameter at three places",
       since=(1, 6), legacy=False)(params)
sample("legacy-params", "Parameters, requires_grad, one Parameter at three places",
       legacy=True)(params)


@sample("state-dict", "an nn.Module's state_dict(), with _metadata and a tied weight")
def state_dict():
    return cs.Net().state_dict()


def trained(optimizer):
    net = nn.Linear(3, 2)
    opt = optimizer(net.parameters())
    for _ in range(2):
        opt.zero_grad()
        net(torch.ones(1, 3)).sum().backward()
        opt.step()
    return net, opt


@sample("training", "the usual checkpoint: epoch, model, Adam and SGD state, history")
def training():
    net, adam = trained(lambda p: torch.optim.Adam(p, lr=1e-3, amsgrad=True))
    _, sgd = trained(lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9))
    return {
        "epoch": 3, "best": 0.75, "model": net.state_dict(),
        "adam": adam.state_dict(), "sgd": sgd.state_dict(),
        "history": [(1, 0.5), (2, 0.25)], "note": "é中",
    }


@sample("zip-module", "a whole pickled nn.Module: nested, tied, hooks, buffers", since=(1, 6), legacy=False)
def module():
    net = cs.Net()
    net.register_forward_hook(cs.print_hook)
    return net


@sample("legacy-module", "a whole pickled nn.Module, its source in a persistent id", legacy=True)
def small_module():
    return {"net": cs.Scale(cs.Scale()), "class": cs.Scale, "epoch": 1}


@sample("containers", "ordered and default dicts, tuples, int keys, shared and empty ones")
def containers():
    shared = {"a": torch.ones(2)}
    shared_list = [1, 2]
    return collections.OrderedDict([
        ("ordered", collections.OrderedDict([("z", 1), ("a", 2)])),
        ("ordered_nested", collections.OrderedDict([("x", collections.OrderedDict())])),
        ("defaultdict", collections.defaultdict(list, {"k": [1]})),
        ("int_keys", {3: "c", 1: "a", -2: "m"}),
        ("tuple", (1, "two", 3.0, None, True)),
        ("tuples", [(), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)]),
        ("namedtuple", cs.Point(1, torch.zeros(1))),
        ("empty", [{}, [], (), set(), collections.OrderedDict()]),
        ("shared", [shared, shared, shared_list, shared_list]),
        ("set", {3, 1, 2}),
        ("frozenset", frozenset(["b", "a"])),
        ("size", torch.Size([2, 3])),
    ])


ARRAY_DTYPES = (
    "bool i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16 >i2 >f4 >f8 >c16 S5 U3 M8[ns] m8[s]"
).split()


def arrays():
    grid = np.arange(6, dtype="f4").reshape(2, 3)
    out = collections.OrderedDict()
    for name in ARRAY_DTYPES:
        out[name] = np.arange(3).astype(str(name))
    out["c_order"] = grid
    out["fortran"] = np.asfortranarray(grid)
    out["transposed"] = grid.T
    out["sliced"] = grid[:, 1]
    out["zero_d"] = np.array(2.5)
    out["empty"] = np.zeros((0, 3), "i4")
    out["high_bytes"] = np.arange(256, dtype="u1")
    out["structured"] = np.array([(1, 2.5), (3, 4.5)], dtype=[(str("a"), "<f4"), (str("b"), "<i8")])
    out["structured_be"] = np.array([(1, 2)], dtype=[(str("a"), ">f4"), (str("b"), ">i2")])
    out["object"] = np.array([1, "two", None, (3, 4)], dtype=object)
    out["object_2d"] = np.array([[1, 2], [3, "x"]], dtype=object)
    out["bytes_nul"] = np.array([b"a\0b", b""])
    out["text"] = np.array(["é", "中文"])
    out["same"] = grid
    out["list"] = [np.ones((2, 2), "f4"), np.zeros(3, "f8")]
    return out


def scalars():
    return collections.OrderedDict([
        (name, np.array(1).astype(str(name))[()]) for name in
        "bool i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16 >f8 S3 U2 M8[D] m8[s]".split()
    ] + [("nan", np.float32("nan")), ("inf", np.float64("inf")), ("dtype", np.dtype("f4")),
         ("dtype_be", np.dtype(">f8")), ("type", np.float32)])


for p in (2, 3, 4, 5):
    if TORCH >= NEWEST or p == 2 or (p == 4 and TORCH == (1, 13)):
        sample("numpy-arrays-p%d" % p, "NumPy arrays of every dtype, order and byte order, protocol %d" % p,
               protocol=p)(arrays)
        sample("numpy-scalars-p%d" % p, "NumPy scalars and dtypes, protocol %d" % p,
               protocol=p)(scalars)
