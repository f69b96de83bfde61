"""The list of bad files, and the sound checkpoint that they are made from."""
import collections
import os

import torch

from archives import members, saved, write_zip

OUT = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bad")
BAD = []  # (file name, reason, function of the path)


def bad(name, reason):
    def register(f):
        BAD.append((name, reason, f))
        return f
    return register


def put(path, data):
    with open(path, "wb") as f:
        f.write(data)


def sound():
    torch.manual_seed(7)
    return collections.OrderedDict([
        ("w", torch.arange(6, dtype=torch.float32).view(2, 3)), ("v", torch.ones(4)), ("step", 7)])


def zipped():
    return saved(sound())


def legacy():
    return saved(sound(), _use_new_zipfile_serialization=False)


def with_member(path, name, data):
    """The sound zip with one member replaced, added, or taken out (None)."""
    items = collections.OrderedDict(members(zipped()))
    if data is None:
        del items[name]
    else:
        items[name] = data
    write_zip(path, "archive", list(items.items()), align=64)


def with_pickle(path, data):
    with_member(path, "data.pkl", data)
