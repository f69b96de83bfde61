"""Samples of tensors that are more than a dense strided view."""
import collections

import numpy as np
import torch
from torch import nn

import ckpt_samples as cs
from registry import NEWEST, TORCH, sample


@sample("quantized", "per-tensor and per-channel quantized, sub-byte ones too", since=(1, 8))
def quantized():
    x = torch.tensor([[0.1, -0.2, 0.35], [1.0, 0.0, -1.0]])
    scales, zeros = torch.tensor([0.1, 0.05], dtype=torch.float64), torch.tensor([10, 0])
    out = collections.OrderedDict(
        (str(q).replace("torch.", ""), torch.quantize_per_tensor(x, 0.05, 2, q))
        for q in (torch.qint8, torch.quint8, torch.qint32))
    out["per_channel"] = torch.quantize_per_channel(x, scales, zeros, 0, torch.qint8)
    out["per_channel_1"] = torch.quantize_per_channel(x.t(), scales, zeros, 1, torch.quint8)
    out["transposed"] = out["qint8"].t()
    out["float_qparams"] = torch.quantize_per_channel(
        x, torch.tensor([0.1, 0.2]), torch.tensor([0.0, 1.0]), 0, torch.quint4x2)
    return out


@sample("sparse", "sparse COO and every compressed layout", since=(1, 6))
def sparse():
    dense = torch.tensor([[0, 1.0, 0, 2.0], [0, 0, 0, 0], [3.0, 0, 0, 0], [0, 0, 4.0, 5.0]])
    out = collections.OrderedDict([
        ("coo", dense.to_sparse()),
        ("coo_uncoalesced", torch.sparse_coo_tensor(torch.tensor([[0, 0], [1, 1]]), torch.tensor([1.0, 2.0]), (2, 2))),
        ("coo_hybrid", dense.to_sparse(1)),
        ("coo_empty", torch.sparse_coo_tensor(size=(2, 3)) if TORCH >= (2, 0) else torch.zeros(2, 3).to_sparse()),
    ])
    if TORCH >= (1, 13):
        out["csr"] = dense.to_sparse_csr()
    if TORCH >= (2, 0):
        out["csc"] = dense.to_sparse_csc()
        out["bsr"] = dense.to_sparse_bsr((2, 2))
        out["bsc"] = dense.to_sparse_bsc((2, 2))
        out["parameter"] = nn.Parameter(dense.to_sparse())
    return out


@sample("nested", "nested tensors, strided and jagged", since=(2, 1))
def nested():
    parts = [torch.ones(2, 3), torch.zeros(1, 3)]
    return {
        "strided": torch.nested.nested_tensor(parts),
        "jagged": torch.nested.nested_tensor(parts, layout=torch.jagged),
    }


@sample("meta", "meta tensors: shape and dtype without data", since=(1, 13))
def meta():
    m = torch.empty(3, 4, device="meta")
    return {
        "meta": m, "half": torch.empty(2, dtype=torch.float16, device="meta"), "strided": m.t(),
        "parameter": nn.Parameter(torch.empty(2, device="meta")), "real": torch.ones(1),
    }


@sample("subclasses", "tensor subclasses, attributes on tensors and Parameters, Buffers", since=(1, 8))
def subclasses():
    tagged = torch.ones(2, 3).as_subclass(cs.TaggedTensor)
    tagged.tag = "a tag"
    noted = torch.zeros(2)
    noted.note = {"source": torch.ones(1)}
    p = nn.Parameter(torch.ones(2))
    p.sharded = True
    out = collections.OrderedDict([
        ("tagged", tagged), ("tagged_again", tagged), ("tensor_with_attribute", noted), ("parameter_with_attribute", p),
        ("view_of_tagged", tagged[0]),
    ])
    if hasattr(nn, "Buffer"):
        out["buffer"] = nn.Buffer(torch.ones(2))
    if hasattr(nn, "UninitializedParameter"):
        out["uninitialized"] = nn.LazyLinear(2).weight
    return out


@sample("lazy-bits", "conjugate and negative views: flags, not bytes", since=(1, 13))
def lazy_bits():
    c = torch.tensor([1 + 2j, 3 - 4j])
    return {"base": c, "conj": c.conj(), "neg": torch._neg_view(torch.ones(2)), "neg_imag": (c + 1).conj().imag}


@sample("odd-dtypes", "packed, bit and half-complex dtypes without arithmetic", since=NEWEST)
def odd_dtypes():
    raw = torch.arange(4, dtype=torch.uint8)
    names = "float4_e2m1fn_x2 bits8 bits16 bits1x8 bits2x4 bits4x2 bcomplex32".split()
    return {n: raw.view(getattr(torch, n)) for n in names if hasattr(torch, n)}


@sample("storages", "storages as values beside the tensors that view them", since=(1, 13))
def storages():
    t = torch.arange(4, dtype=torch.float32)
    u = torch.tensor([1, 2, 3], dtype=torch.uint8)
    untyped = u.untyped_storage() if hasattr(u, "untyped_storage") else u.storage().untyped()
    return {"tensor": t, "typed": t.storage(), "bytes": u, "untyped": untyped,
            "own": torch.ones(2, dtype=torch.int16).storage()}


@sample("legacy-storages", "storages as values, legacy stream", legacy=True)
def legacy_storages():
    t = torch.arange(4, dtype=torch.float32)
    return {"tensor": t, "typed": t.storage()}


class AsNumpy(object):
    """Pickles as a tensor of a device without storages (XLA, Lazy) does."""

    def __init__(self, t):
        self.t = t

    def __reduce__(self):
        return torch._utils._rebuild_device_tensor_from_numpy, (
            self.t.numpy(), self.t.dtype, "cpu", True)


@sample("device-numpy", "_rebuild_device_tensor_from_numpy: a tensor whose data is an array in the pickle", since=(1, 13))
def device_numpy():
    return {"xla": AsNumpy(torch.arange(6, dtype=torch.float32).view(2, 3)), "array": np.ones(2, "f4")}


class AsCall(object):
    def __init__(self, func, *args):
        self.call = func, args

    def __reduce__(self):
        return self.call


@sample("old-rebuilds", "_rebuild_tensor without flags, and _rebuild_tensor_v3", since=(2, 1))
def old_rebuilds():
    t = torch.arange(6, dtype=torch.float32)
    hooks = collections.OrderedDict()
    untyped = torch.arange(5, dtype=torch.int32).untyped_storage()
    return {
        "v1": AsCall(torch._utils._rebuild_tensor, t._typed_storage(), 1, (2, 2), (2, 1)),
        "v3": AsCall(torch._utils._rebuild_tensor_v3, untyped, 2, (2,), (2,), False, hooks, torch.int32),
        "v2": t,
        "parameter": AsCall(torch._utils._rebuild_parameter, t[:2], True, hooks),
        "type": AsCall(torch._tensor._rebuild_from_type, torch._utils._rebuild_tensor_v2, torch.Tensor,
                       (t._typed_storage(), 0, (2,), (1,), False, hooks), {}),
    }


@sample("many-small", "more storages than fit one page of the central directory", since=NEWEST)
def many_small():
    return collections.OrderedDict(("layer.%d.w" % i, torch.full((2,), float(i))) for i in range(60))
