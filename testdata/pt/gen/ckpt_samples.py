"""Classes that the samples hold instances of.

They stand for the user code that a real checkpoint was written with: whoever
loads a sample with torch puts this folder on PYTHONPATH. Imports on Python 2.7
to 3.13 and torch 1.0 and later; what a version lacks is left out.
"""
import collections
import sys

import torch
from torch import nn

Point = collections.namedtuple("Point", ["x", "y"])


class Plain(object):
    """The commonest case: NEWOBJ (or _reconstructor) and a state dict."""

    def __init__(self, **attrs):
        self.__dict__.update(attrs)


class Slots(object):
    """Its state is the pair (None, {slot: value})."""

    __slots__ = ("weight", "name")

    def __init__(self, weight, name):
        self.weight = weight
        self.name = name


class SlotsAndDict(Slots):
    """Its state is the pair ({attribute: value}, {slot: value})."""

    def __init__(self, weight, name, extra):
        Slots.__init__(self, weight, name)
        self.extra = extra


class TupleState(object):
    """Its state is a tuple that only its own __setstate__ understands."""

    def __init__(self, *parts):
        self.parts = parts

    def __getstate__(self):
        return (len(self.parts), self.parts)

    def __setstate__(self, state):
        self.parts = state[1]


class NewArgs(object):
    """NEWOBJ with arguments."""

    def __new__(cls, a, b):
        self = object.__new__(cls)
        self.a, self.b = a, b
        return self

    def __getnewargs__(self):
        return (self.a, self.b)

    def __getstate__(self):
        return {"note": "from state"}

    def __setstate__(self, state):
        self.__dict__.update(state)


def make_pair(a, b):
    pair = MadeByCall()
    pair.a, pair.b = a, b
    return pair


class MadeByCall(object):
    """REDUCE of a function, with a state besides."""

    def __reduce__(self):
        return (make_pair, (self.a, self.b), {"note": "after the call"})


class AttrDict(dict):
    """A dict subclass that has attributes too."""

    note = None


class TrackedList(list):
    """A list subclass that has attributes too."""

    note = None


class Registry(collections.OrderedDict):
    """An OrderedDict subclass."""


class Net(nn.Module):
    """Nested, with a tied weight and buffers of both kinds."""

    def __init__(self):
        super(Net, self).__init__()
        self.embed = nn.Embedding(5, 3)
        self.body = nn.Sequential(
            nn.Linear(3, 4),
            nn.Sequential(nn.BatchNorm1d(4), nn.ReLU()),
            nn.Linear(4, 3, bias=False),
        )
        self.head = nn.Linear(3, 5, bias=False)
        self.head.weight = self.embed.weight
        self.register_buffer("scale", torch.tensor([1.0, 2.0]))
        try:
            self.register_buffer("cache", torch.zeros(2), persistent=False)
        except TypeError:  # torch < 1.6
            pass
        self.note = "an attribute"
        self.register_parameter("absent", None)

    def forward(self, x):
        return self.head(self.body(self.embed(x)))


class Scale(nn.Module):
    """Small, because the legacy stream holds its source."""

    def __init__(self, inner=None):
        super(Scale, self).__init__()
        self.factor = nn.Parameter(torch.ones(2))
        self.register_buffer("count", torch.zeros(1))
        self.inner = inner


def print_hook(module, inputs, output):
    """A forward hook, held in the pickle by its name."""


class TaggedTensor(torch.Tensor):
    """A tensor subclass: pickled by _rebuild_from_type_v2 (torch >= 1.7)."""


if sys.version_info >= (3, 7):
    import dataclasses
    import enum

    class Colour(enum.Enum):
        RED = 1
        BLUE = "blue"

    class Flags(enum.IntFlag):
        READ = 1
        WRITE = 2

    class Level(enum.IntEnum):
        LOW = 1
        HIGH = 2

    Config = dataclasses.make_dataclass(
        "Config", [("lr", float, 0.1), ("layers", tuple, (4, 8)), ("scale", object, None)])
    FrozenConfig = dataclasses.make_dataclass(
        "FrozenConfig", [("lr", float, 0.1)], frozen=True)
    Config.__module__ = FrozenConfig.__module__ = __name__

    class KeywordNew(object):
        """NEWOBJ_EX: arguments by name."""

        def __new__(cls, a, b=None):
            self = object.__new__(cls)
            self.a, self.b = a, b
            return self

        def __getnewargs_ex__(self):
            return (self.a,), {"b": self.b}

    class Outer(object):
        class Inner(object):
            """Its qualified name has a dot."""

            def __init__(self, v):
                self.v = v
