"""The list of samples, and which torch writes which. Runs on Python 2.7 too."""
from __future__ import print_function

import os
import re
import sys

import torch

SAMPLES = []  # (name, reason, since, until, save arguments, function)


def version(text):
    """'2.1.0+cpu' and '1.13.0a0' as (2, 1) and (1, 13)."""
    return tuple(int(n) for n in re.match(r"(\d+)\.(\d+)", text).groups())


TORCH = version(torch.__version__)
NEWEST = (2, 3)  # what holds a sample that one recent writer is enough for


def sample(name, reason, since=(1, 0), until=(99, 0), **save):
    """Registers a function whose result is saved as NAME.torchX.Y.pt."""

    def register(f):
        SAMPLES.append((name, reason, since, until, save, f))
        return f

    return register


def writer_tag():
    tag = "torch%d.%d" % TORCH
    return tag + "-py2" if sys.version_info[0] == 2 else tag


def save(obj, path, **kw):
    """torch.save, where `legacy` and `protocol` say the same on every version."""
    legacy = kw.pop("legacy", None)
    args = {"pickle_protocol": kw.pop("protocol", 2)}
    if legacy is not None and TORCH >= (1, 5):
        args["_use_new_zipfile_serialization"] = not legacy
    args.update(kw)
    torch.save(obj, path, **args)


def run(out, only=None):
    """Writes every sample that this torch can write; returns (file, reason)s."""
    written = []
    for name, reason, since, until, kw, f in SAMPLES:
        if not since <= TORCH < until or (only and not re.search(only, name)):
            continue
        print("... " + name, file=sys.stderr)  # so that a failure says where
        torch.manual_seed(7)
        path = os.path.join(out, "%s.%s.pt" % (name, writer_tag()))
        obj = f()
        if obj is not None:  # else the function wrote nothing by design
            if callable(obj) and getattr(obj, "writes_itself", False):
                obj(path)
            else:
                save(obj, path, **dict(kw))
        written.append((os.path.basename(path), reason))
    return written


def writes(f):
    """Marks f(path) as writing the file by itself."""
    f.writes_itself = True
    return f
