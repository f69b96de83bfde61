"""Samples in containers that are unusual: other zips, the old tar, other settings."""
import collections
import zipfile

import torch

from archives import legacy, members, old_tar, saved, with_ids, write_zip, write_zip64
from registry import NEWEST, sample, writes


def small():
    return collections.OrderedDict([("w", torch.arange(6, dtype=torch.float32).view(2, 3)), ("step", 7)])


def crafted(name, reason):
    return sample(name, reason, since=NEWEST)


def rewritten(edit=None, **kw):
    """What torch saves, put into another zip after edit has changed the members."""

    @writes
    def write(path):
        items = members(saved(kw.pop("obj", small())))
        if edit:
            items = edit(items)
        write_zip(path, kw.pop("root", "archive"), items, **kw)

    return write


@crafted("zip-deflated", "members compressed, as by an archive tool")
def zip_deflated():
    return rewritten(method=zipfile.ZIP_DEFLATED, obj={"w": torch.zeros(100), "v": torch.arange(3)})


@crafted("zip-64-local", "zip64 sizes in the local headers only, as a streaming writer leaves them")
def zip_64_local():
    return rewritten(zip64=True)


@crafted("zip-64", "zip64 for every size and offset and for the end record, needed or not")
def zip_64():
    @writes
    def write(path):
        write_zip64(path, "archive", members(saved(small())))
    return write


@crafted("zip-root-name", "a root folder named in Unicode with a dot and a space")
def zip_root_name():
    return rewritten(root="mein modéll.v2", align=64)


@crafted("zip-comment", "an archive comment after the central directory")
def zip_comment():
    return rewritten(comment=b"epoch 3, the one that worked")


@crafted("zip-prefix", "bytes before the first member, offsets counted from the file's start")
def zip_prefix():
    return rewritten(prefix=b"#!/bin/sh\n# a self-extracting checkpoint\nexit 1\n")


@crafted("zip-unaligned", "members at odd offsets, no padding")
def zip_unaligned():
    return rewritten()


@crafted("zip-reordered", "data before the pickle, members in reverse order")
def zip_reordered():
    return rewritten(lambda items: items[::-1], align=64)


@crafted("zip-extra-members", "members that belong to nobody, and a storage no tensor uses")
def zip_extra_members():
    return rewritten(lambda items: items + [("data/99", b"orphan!!"), ("notes/readme.txt", b"hello")], align=64)


@crafted("zip-bare", "only what torch 1.6 wrote: pickle, storages, version")
def zip_bare():
    def known(name):
        return name in ("data.pkl", "version") or name.startswith("data/")

    return rewritten(lambda items: [i for i in items if known(i[0])], align=64)


@crafted("zip-big-endian", "written on a big-endian machine: byteorder says big")
def zip_big_endian():
    widths = []
    tensors = collections.OrderedDict()
    for name, width in (("float32", 4), ("int64", 8), ("int16", 2), ("bfloat16", 2), ("uint8", 1), ("bool", 1),
                        ("complex64", 4), ("complex128", 8), ("float64", 8), ("float16", 2)):
        tensors[name] = torch.tensor([1, 2, 3]).to(getattr(torch, name))
        widths.append(width)
    tensors["view"] = tensors["int64"][1:]

    def swap(items):
        out = []
        for name, data in items:
            if name == "byteorder":
                data = b"big"
            elif name.startswith("data/"):
                n = widths[int(name[5:])]
                data = b"".join(data[i:i + n][::-1] for i in range(0, len(data), n))
            out.append((name, data))
        return out

    return rewritten(swap, obj=tensors, align=64)


@crafted("zip-alignment-512", "torch's own option for another storage alignment")
def zip_alignment():
    @writes
    def write(path):
        from torch.utils.serialization import config
        with config.patch({"save.storage_alignment": 512}):
            torch.save(small(), path)
    return write


@crafted("zip-no-crc", "torch's own option to write no CRC: the recorded ones are not those of the data")
def zip_no_crc():
    @writes
    def write(path):
        torch.serialization.set_crc32_options(False)
        try:
            torch.save(small(), path)
        finally:
            torch.serialization.set_crc32_options(True)
    return write


class Inner(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = torch.nn.Parameter(torch.arange(4, dtype=torch.float32))
        self.register_buffer("mean", torch.zeros(2))

    def forward(self, x):
        return x * self.weight


class Outer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner()
        self.scale = 2.5

    def forward(self, x):
        return self.inner(x) * self.scale


@sample("torchscript", "a TorchScript archive: code and constants beside the data", since=(1, 8))
def torchscript():
    @writes
    def write(path):
        torch.jit.save(torch.jit.script(Outer()), path)
    return write


class Ref(object):
    """Stands for a storage or tensor, and pickles as a persistent id."""


class Rebuild(object):
    def __init__(self, *args):
        self.args = args

    def __reduce__(self):
        return torch._utils._rebuild_tensor, self.args


@crafted("legacy-storage-views", "storages that are views of one another, as torch 0.2 wrote them")
def legacy_storage_views():
    @writes
    def write(path):
        root, view, again = Ref(), Ref(), Ref()
        head = ("storage", torch.FloatStorage, "100", "cpu", 10)
        ids = {
            id(root): head + (None,),
            id(view): head + (("101", 2, 5),),
            id(again): head + (("101", 2, 5),),
        }
        obj = collections.OrderedDict([
            ("all", Rebuild(root, 0, (10,), (1,))),
            ("view", Rebuild(view, 0, (5,), (1,))),
            ("in_view", Rebuild(again, 1, (2, 2), (2, 1))),
        ])
        data = torch.arange(10, dtype=torch.float32).numpy().tobytes()
        with open(path, "wb") as f:
            f.write(legacy(with_ids(obj, ids), [("100", 4, data)]))
    return write


@crafted("tar", "the tar of torch < 0.1.10, as torch's own reader expects it")
def tar():
    @writes
    def write(path):
        w, t, v, b = Ref(), Ref(), Ref(), Ref()
        obj = collections.OrderedDict([
            ("weight", w), ("transposed", t), ("in_view", v), ("bytes", b), ("same", w),
            ("zero_d_like", [w, {"epoch": 3, "lr": 0.5}]),
        ])
        floats = torch.arange(6, dtype=torch.float32).numpy().tobytes()
        blob = old_tar(
            with_ids(obj, {id(w): "11", id(t): "12", id(v): "13", id(b): "14"}),
            [(1, "cpu", torch.FloatStorage, 4, floats), (2, "cpu", torch.ByteStorage, 1, b"\x01\x02\xff")],
            [(3, 1, 2, 3)],
            [(11, 1, torch.FloatTensor, (2, 3), (3, 1), 0), (12, 1, torch.FloatTensor, (3, 2), (1, 3), 0),
             (13, 3, torch.FloatTensor, (2,), (1,), 1), (14, 2, torch.ByteTensor, (3,), (1,), 0)],
        )
        with open(path, "wb") as f:
            f.write(blob)
    return write
