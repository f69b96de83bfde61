# Writes the sample pickles in this folder. It runs under Python 3 and Python 2:
#
#   python3 gen.py py3      (the files here: CPython 3.11.7)
#   python2 gen.py py2      (the files here: CPython 2.7.18)
#
# Each file is GROUP of samples as one tuple: NAME-pPROTOCOL-GROUP.pkl.
from __future__ import print_function
import collections, copy, datetime, decimal, functools, io, os, pickle, sys, uuid

PY3 = sys.version_info[0] == 3
if os.environ.get("PYTHONHASHSEED") != "0":  # the order of sets
    os.environ["PYTHONHASHSEED"] = "0"
    os.execv(sys.executable, [sys.executable] + sys.argv)


class Plain(object):
    def __init__(self, **kw):
        self.__dict__.update(kw)


class Slots(object):
    __slots__ = ("a", "b")

    def __init__(self):
        self.a, self.b = 1, "two"


class NewArgs(object):
    def __new__(cls, *args):
        return object.__new__(cls)

    def __getnewargs__(self):
        return (1, "x")


class NewArgsEx(object):
    def __new__(cls, *args, **kw):
        return object.__new__(cls)

    def __getnewargs_ex__(self):
        return ((1,), {"k": 2})


class ListSub(list):
    pass


class DictSub(dict):
    pass


class SetSub(set):
    pass


class Node(object):
    """Refers to what holds it."""

    def __hash__(self):  # not the address, by which a set would order them
        return 1


class Outer(object):
    class Inner(object):
        pass


class Reduced(object):
    def __reduce__(self):
        return (ListSub, (), {"state": 1}, iter([1, 2]), None)


def set_state(obj, state):
    obj.state = state


class StateSet(object):  # only Python 3.8 and later can write it
    def __reduce__(self):
        return (StateSet, (), {"a": [self]}, None, None, set_state)


Point = collections.namedtuple("Point", "x y")


class Pid(object):
    def __init__(self, pid):
        self.pid = pid


def scalars():
    big = [1 << n for n in (7, 8, 15, 16, 31, 32, 55, 62, 63, 64, 255, 2040)]
    ints = [0, 1, -1] + [f(b + d) for b in big for d in (-1, 0, 1) for f in (int, int.__neg__ if PY3 else lambda v: -v)]
    floats = [0.0, -0.0, 1.5, -2.25, 1e300, 5e-324, 0.1, float("inf"), float("-inf"), float("nan")]
    return (None, True, False) + tuple(ints) + tuple(floats)


def texts():
    u = (u"", u"ascii", u"\xe9t\xe9", u"\u20ac", u"\U0001f600", u"a\nb\\c\\u0041\r\x00\x1a'\"", u"\\", u"\\\\",
         u"x" * 255, u"y" * 256, u"\xff" * 600, u"z" * 1023, u"w" * 1024, u"\xe9" * 2000)
    return u + ((u"\ud800", u"\udfff\ud800") if PY3 else ())


def byteses():
    every = bytes(bytearray(range(256)))
    return (b"", b"a", every, b"'", b'"', b"'\"\\\n", every * 4 + b"end", bytearray(), bytearray(every),
            bytearray(every * 5))


def containers():
    shared = [1]
    return ((), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4), [], [0], [[], [[]]], {}, {1: 2}, {"a": {"b": {}}},
            shared, (shared, shared), list(range(1001)), dict((i, str(i)) for i in range(20)),
            {(1, 2): "tuple", None: 0, True: 1, 2.5: 3}, set(), set([1, 2, 3]), frozenset(), frozenset([4, (5, 6)]),
            set([frozenset([7])]))


def cycles():
    l = []
    l.append(l)
    d = {}
    d[0] = d
    t = ([],)
    t[0].append(t)
    five = (1, 2, [], 4, 5)
    five[2].append(five)
    n = Node()
    n.self = n
    n.held = {n: n}
    return (l, d, t, five, n) + (setcycles() if pickle_protocol >= 4 else ())


def setcycles():
    n = Node()
    n.all = set([n])
    m = Node()
    m.all = frozenset([m])
    a, b = Node(), Node()
    a.peers = b.peers = set([a, b])
    return (n.all, m.all, m, a.peers, a)


def objects():
    plain = Plain(x=1, y=[2])
    s = ListSub([1, 2])
    s.attr = 3
    d = DictSub(a=1)
    d.attr = 4
    o = [plain, plain, Plain(), NewArgs(), s, d, SetSub([1]), Point(1, 2), Reduced(),
         complex(1, -2), datetime.datetime(2024, 1, 15, 10, 30), datetime.date(2000, 2, 29),
         datetime.timedelta(1, 2, 3), decimal.Decimal("1.50"), uuid.UUID(int=5), collections.deque([1, 2], 3),
         collections.defaultdict(list, {1: [2]}), collections.OrderedDict([("b", 1), ("a", 2)]),
         Plain, len, dict, ValueError("no"), copy.copy]
    if pickle_protocol >= 2:
        o += [Slots(), NewArgsEx()]
    if PY3:
        import enum, pathlib, types
        o += [functools.partial(int, "7", base=8), range(3), types.SimpleNamespace(a=1), pathlib.PurePosixPath("/a/b"),
              StateSet(),
              enum.Enum("Hue", "red", module=__name__), Outer.Inner()]
        globals()["Hue"] = o[-2]
        o[-2] = Hue.red
    return tuple(o)


def persistent():
    return (Pid("one"), Pid("two"), Pid("one")) if pickle_protocol == 0 else (Pid(("storage", 0)), Pid("two"), [Pid(3)])


def extensions():
    return (Plain, Slots, NewArgs)


def buffers():
    return (pickle.PickleBuffer(bytearray(b"out of band")), pickle.PickleBuffer(b"read-only"))


def write(name, group, dump):
    global pickle_protocol
    path = "%s-p%d-%s.pkl" % (name, pickle_protocol, group.__name__)
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), path), "wb") as f:
        dump(f, group())


def dump(f, obj):
    f.write(pickle.dumps(obj, pickle_protocol))


def dump_c(f, obj):
    import cPickle
    f.write(cPickle.dumps(obj, pickle_protocol))


def dump_pid(f, obj):
    p = pickle.Pickler(f, pickle_protocol)
    if PY3:
        class P(pickle.Pickler):
            def persistent_id(self, obj):
                return obj.pid if isinstance(obj, Pid) else None
        p = P(f, pickle_protocol)
    else:
        p.persistent_id = lambda obj: obj.pid if isinstance(obj, Pid) else None
    p.dump(obj)


def dump_ext(f, obj):
    if PY3:
        import copyreg
    else:
        import copy_reg as copyreg
    for cls, code in ((Plain, 1), (Slots, 0x1234), (NewArgs, 0x12345678)):
        copyreg.add_extension(cls.__module__, cls.__name__, code)
    dump(f, obj)
    for cls, code in ((Plain, 1), (Slots, 0x1234), (NewArgs, 0x12345678)):
        copyreg.remove_extension(cls.__module__, cls.__name__, code)


def dump_buffers(f, obj):
    f.write(pickle.dumps(obj, pickle_protocol, buffer_callback=lambda b: False))


if not PY3:
    class Old:  # old-style: INST and OBJ
        def __init__(self, *args):
            self.args = args

    class OldArgs(Old):
        def __getinitargs__(self):
            return (1, "two")

    def oldstyle():
        o = Old()
        o.self = o
        return (o, OldArgs(), u"a", "a", 12345678901234567890, long(7))


pickle_protocol = 0
if PY3:
    assert sys.argv[1] == "py3"
    for pickle_protocol in range(6):
        for group in (scalars, texts, byteses, containers, cycles, objects):
            write("py3", group, dump)
        write("py3", persistent, dump_pid)
    pickle_protocol = 2
    write("py3", extensions, dump_ext)
    pickle_protocol = 5
    write("py3", buffers, dump_buffers)
else:
    assert sys.argv[1] == "py2"
    for pickle_protocol in range(3):
        for group in (scalars, texts, byteses, containers, cycles, objects, oldstyle):
            write("py2", group, dump)
            write("py2c", group, dump_c)
        write("py2", persistent, dump_pid)
