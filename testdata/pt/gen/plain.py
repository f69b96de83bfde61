"""Samples about what is in a checkpoint besides tensors: scalars, keys, objects."""
import argparse
import collections
import datetime
import decimal
import fractions
import functools
import pathlib
import types
import uuid

import torch

import ckpt_samples as cs
from registry import NEWEST, TORCH, sample

OLD_TOO = (1, 6)


def each_protocol(name, reason, protocols=(2, 4), since=NEWEST):
    """Registers NAME-pN for protocols where the pickles differ."""

    def register(f):
        for p in protocols:
            sample("%s-p%d" % (name, p), "%s, protocol %d" % (reason, p), since=since, protocol=p)(f)
        return f

    return register


@each_protocol("scalars", "ints, floats, strings and bytes at their limits", (1, 2, 3, 4, 5))
def scalars():
    return {
        "none": None, "true": True, "false": False,
        "ints": [0, 1, -1, 255, 256, 65535, 65536, 2**31 - 1, -2**31, 2**31, 2**53, 2**53 + 1,
                 -2**53 - 1, 2**63 - 1, -2**63, 2**63, 2**64 + 1, -2**200, 10**700],
        "floats": [0.0, -0.0, 1.5, 0.1, 1e308, 5e-324, float("nan"), float("inf"), float("-inf"), 1e16, 123456789.0],
        "strings": ["", "a", "é", "中文", "😀", "a\nb", "tab\t", "nul\0", "quote'\"", "back\\slash",
                    "\u202eRTL", "\x1b[31mred", "\u2028", "\x7f\x85", "e\u0301", "x" * 300],
        "bytes": [b"", b"a", bytes(range(256)), b"x" * 300],
        "bytearray": [bytearray(), bytearray(b"\x00\xff")],
        "complex": [1 + 2j, complex("nan"), -0.0j],
    }


@each_protocol("lone-surrogate", "a string that is not valid Unicode", (2, 4))
def lone_surrogate():
    return {"bad": "\ud800", "ok": 1}


@each_protocol("keys", "mapping keys of every type", (2, 4))
def keys():
    return {
        "text": {"": 0, "a.b": 1, "x\ny": 2, "é中": 3, "\u202egnp.exe": 4, "\x1b[2J": 5, "[\"a\"]": 6,
                 " ": 7, "a..b": 8, ".": 9},
        "int": {0: "z", -1: "m", 2**40: "big", 2**70: "huge"},
        "same_dotted": {0: "int", "0": "str"},
        "float": {0.5: 1, float("inf"): 2, -0.0: 3},
        "none": {None: 1},
        "bool": {True: 1, False: 0},
        "tuple": {(1, "a"): 1, (): 2, ((1,), None): torch.zeros(1)},
        "bytes": {b"raw": 1, b"\xff": 2},
        "frozenset": {frozenset([1]): 1},
        "complex": {1j: 1},
        "enum": {cs.Level.LOW: 1, cs.Colour.RED: 2},
        "dtype": {torch.float32: 4},
        "class": {dict: 1},
    }


@sample("dotted", "a dotted key beside the nesting it looks like", since=NEWEST)
def dotted():
    return {"a.b": torch.zeros(2), "a": {"b": torch.ones(3)}, "l": [1, 2], "l.0": 5}


@each_protocol("stdlib", "values of the standard library's classes", (2, 4, 5))
def stdlib():
    utc = datetime.timezone.utc
    tz = datetime.timezone(datetime.timedelta(hours=5, minutes=30), "IST")
    queue = collections.deque([1, torch.ones(1)], maxlen=4)
    return {
        "datetime": datetime.datetime(2024, 1, 15, 10, 30),
        "datetime_us": datetime.datetime(2024, 1, 15, 10, 30, 0, 123456),
        "datetime_utc": datetime.datetime(2024, 1, 15, tzinfo=utc),
        "datetime_tz": datetime.datetime(2024, 1, 15, tzinfo=tz),
        "date": datetime.date(2024, 1, 15),
        "time": datetime.time(10, 30, 1),
        "timedelta": datetime.timedelta(days=1, seconds=2, microseconds=3),
        "timezone": tz,
        "utc": utc,
        "decimal": decimal.Decimal("1.50"),
        "fraction": fractions.Fraction(1, 3),
        "uuid": uuid.UUID("12345678-1234-5678-1234-567812345678"),
        "path": pathlib.PurePosixPath("/data/run 1/x.pt"),
        "windows_path": pathlib.PureWindowsPath("C:/data/x.pt"),
        "real_path": pathlib.Path("runs/1"),
        "range": range(1, 10, 3),
        "slice": slice(None, 5, None),
        "complex": 1 - 2j,
        "ellipsis": Ellipsis,
        "not_implemented": NotImplemented,
        "none_type": type(None),
        "counter": collections.Counter("abca"),
        "deque": queue,
        "deque_unbounded": collections.deque([1]),
        "chain_map": collections.ChainMap({"a": 1}, {"b": 2}),
        "user_dict": collections.UserDict({"a": 1}),
        "partial": functools.partial(int, "7", base=8),
        "namespace": types.SimpleNamespace(lr=0.1, layers=[1, 2]),
        "args": argparse.Namespace(lr=0.001, seed=7, nested=argparse.Namespace(w=torch.ones(1))),
        "mapping_proxy_like": dict(types.MappingProxyType({"a": 1})),
        "error": ValueError("bad", 3),
        "sets": [set(), {1, "a", None, (1, 2)}, frozenset(), frozenset([2.5])],
    }


@each_protocol("custom-classes", "instances of user classes, by every way to pickle one", (2, 4))
def custom_classes():
    attr_dict = cs.AttrDict(a=1, t=torch.ones(1))
    attr_dict.note = "attribute"
    tracked = cs.TrackedList([1, torch.zeros(1)])
    tracked.note = "attribute"
    pair = cs.make_pair(1, torch.ones(2))
    plain = cs.Plain(w=torch.ones(2), name="n")
    return {
        "plain": plain,
        "plain_again": plain,
        "empty": cs.Plain(),
        "nested": cs.Plain(inner=cs.Plain(x=1)),
        "slots": cs.Slots(torch.zeros(1), "s"),
        "slots_and_dict": cs.SlotsAndDict(torch.zeros(1), "s", 3),
        "tuple_state": cs.TupleState(1, torch.ones(1)),
        "new_args": cs.NewArgs(1, [2]),
        "keyword_new": cs.KeywordNew(1, b=2),
        "by_call": pair,
        "attr_dict": attr_dict,
        "tracked_list": tracked,
        "registry": cs.Registry([("b", 1), ("a", 2)]),
        "inner_class": cs.Outer.Inner(1),
        "point": cs.Point(1, [2]),
        "dataclass": cs.Config(lr=0.5, scale=torch.ones(1)),
        "frozen_dataclass": cs.FrozenConfig(lr=0.5),
        "enums": [cs.Colour.RED, cs.Colour.BLUE, cs.Level.HIGH, cs.Flags.READ | cs.Flags.WRITE],
        "bad_named": cs.Plain(**{"with.dot": 1, "": 2, "0": 3}),
    }


@each_protocol("names", "functions and classes by name", (2, 4))
def names():
    return {
        "function": cs.make_pair, "class": cs.Plain, "builtin": len, "type": int, "torch_function": torch.relu,
        "module_class": torch.nn.Linear, "method": cs.Outer.Inner, "optimizer": torch.optim.Adam,
    }


@sample("torch-values", "torch's own values: sizes, devices, dtypes, layouts, generator state", since=OLD_TOO)
def torch_values():
    out = {
        "size": torch.Size([2, 3]), "size_empty": torch.Size([]), "device": torch.device("cpu"),
        "device_cuda": torch.device("cuda", 1), "dtype": torch.float16, "dtypes": [torch.int64, torch.bool, torch.bfloat16],
        "layout": torch.strided, "sparse_layout": torch.sparse_coo,
        "rng_state": torch.get_rng_state()[:16].clone(),
    }
    if TORCH >= (1, 13):
        out["qscheme"] = torch.per_tensor_affine
    return out


@sample("sharing", "one object at several places, and cycles", since=OLD_TOO)
def sharing():
    shared = {"w": torch.ones(2)}
    items = [1, shared]
    point = cs.Point(1, items)
    loop = []
    loop.append(loop)
    ring = {"name": "ring"}
    ring["self"] = ring
    ring["deep"] = [{"back": ring}]
    node = cs.Plain(name="node")
    node.me = node
    holder = []
    knot = (holder, 1)
    holder.append(knot)
    text = "the same text"
    return {
        "a": shared, "b": shared, "items": items, "items_again": items, "point": [point, point],
        "list_loop": loop, "dict_loop": ring, "object_loop": node, "tuple_loop": knot, "text": [text, text],
        "empty_twice": [loop[:0]] * 2,
    }


@sample("root-tensor", "the root is a tensor", since=OLD_TOO)
def root_tensor():
    return torch.arange(3)


@sample("root-scalar", "the root is a scalar", since=NEWEST)
def root_scalar():
    return 42


@sample("root-list", "the root is a list", since=NEWEST)
def root_list():
    return [torch.ones(1), "x", {"a": None}]


@sample("root-empty", "the root is an empty dict: no storage at all", since=NEWEST)
def root_empty():
    return {}


@sample("legacy-root-tensor", "the root is a tensor, legacy stream", legacy=True)
def legacy_root_tensor():
    return torch.arange(3)
