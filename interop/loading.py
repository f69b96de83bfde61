"""Loads a checkpoint with the torch at hand, and answers questions about memory."""
import os
import sys
import warnings

import numpy as np
import torch

warnings.filterwarnings("ignore")
HERE = os.path.dirname(os.path.abspath(__file__))
# The classes of the samples, as a user's code would be importable.
sys.path.insert(0, os.path.join(HERE, "..", "testdata", "pt", "gen"))

TORCH = tuple(int(n) for n in torch.__version__.split(".")[:2])


def load(path, **kw):
    """torch.load on the CPU, everything trusted unless kw says otherwise."""
    args = {"map_location": "cpu"}
    if TORCH >= (1, 13):
        args["weights_only"] = False
    args.update(kw)
    try:
        return torch.load(path, **args)
    except UnicodeDecodeError:
        # Written on Python 2 with bytes in a str: torch's documented way out.
        return torch.load(path, encoding="latin1", **args)


def storage_of(t):
    """A tensor's untyped storage."""
    if hasattr(t, "untyped_storage"):
        return t.untyped_storage()
    s = t.storage()
    return s.untyped() if hasattr(s, "untyped") else s._untyped()


def span(t):
    """(identity, first address, one past the last) of a tensor's storage."""
    s = storage_of(t)
    return s._cdata, s.data_ptr(), s.data_ptr() + s.nbytes()


def storage_bytes(t):
    """A tensor's storage as a uint8 array."""
    return torch.empty(0, dtype=torch.uint8).set_(storage_of(t)).numpy()


def elements(t):
    """A dense tensor's elements as an array of raw cells, strides applied.

    For every dtype, those without arithmetic too; flags for conjugation and
    negation are not applied.
    """
    n = t.element_size()
    raw = storage_bytes(t)
    if t.numel() == 0:
        return np.zeros(tuple(t.shape), "V%d" % n)
    cells = np.frombuffer(raw.tobytes()[: len(raw) // n * n], "V%d" % n)[t.storage_offset():]
    return np.lib.stride_tricks.as_strided(cells, tuple(t.shape), tuple(s * n for s in t.stride()))


def is_plain_tensor(t):
    """Whether t is one dense strided array of numbers, and nothing besides."""
    if is_uninitialized(t) or type(t) not in (torch.Tensor, torch.nn.Parameter) or vars(t):
        return False
    return t.layout == torch.strided and not t.is_quantized and not t.is_meta and not getattr(t, "is_nested", False)


def is_uninitialized(t):
    """Whether t is a lazy module's parameter that has no shape yet."""
    return type(t).__name__.startswith("Uninitialized")


def is_flagged(t):
    """Whether t is a lazily conjugated or negated view."""
    if is_uninitialized(t):
        return False
    return (hasattr(t, "is_conj") and t.is_conj()) or (hasattr(t, "is_neg") and t.is_neg())


def is_storage(x):
    return torch.is_storage(x) or type(x).__name__ in ("UntypedStorage", "_UntypedStorage")


def storage_tensor(s):
    """A storage as the one-dimensional tensor that covers it."""
    dtype = getattr(s, "dtype", torch.uint8) if type(s).__name__ not in ("UntypedStorage", "_UntypedStorage") else torch.uint8
    return torch.empty(0, dtype=dtype).set_(s)


def share_groups(tensors):
    """For each tensor the number of its group: those that share memory.

    Two share memory when they have one storage, or storages that overlap (the
    legacy format has storages that are views of others).
    """
    parent = list(range(len(tensors)))

    def find(i):
        while parent[i] != i:
            i = parent[i]
        return i

    spans = [span(t) for t in tensors]
    by_ident = {}
    for i, (ident, _, _) in enumerate(spans):
        parent[find(i)] = find(by_ident.setdefault(ident, i))
    last, end = None, -1
    for i in sorted((i for i in range(len(spans)) if spans[i][2] > spans[i][1]), key=lambda i: spans[i][1]):
        if last is not None and spans[i][1] < end:
            parent[find(i)] = find(last)
        last, end = i, max(end, spans[i][2])
    first = {}
    return [first.setdefault(find(i), len(first)) for i in range(len(tensors))]
