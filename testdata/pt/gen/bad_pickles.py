"""Bad pickles in sound archives, put together by opcode."""
import pickle
import struct
import zipfile

from archives import members, write_zip
from bad_registry import bad, legacy, put, with_pickle, zipped

PROTO = b"\x80\x02"


def text(s):
    return b"X" + struct.pack("<I", len(s)) + s


def num(n):
    if -2**31 <= n < 2**31:
        return b"J" + struct.pack("<i", n)
    data = n.to_bytes((n.bit_length() + 8) // 8, "little", signed=True)
    return b"\x8a" + bytes([len(data)]) + data


def storage(key=b"0", numel=6, cls=b"ctorch\nFloatStorage\n", tag=b"storage", numel_op=None):
    return b"(" + text(tag) + cls + text(key) + text(b"cpu") + (numel_op or num(numel)) + b"tQ"


def dims(t):
    return b"(" + b"".join(num(n) for n in t) + b"t"


def tensor(sizes=(2, 3), strides=(3, 1), offset=0, pid=None):
    """{"w": a tensor}, whole pickle."""
    return (PROTO + b"}" + text(b"w") + b"ctorch._utils\n_rebuild_tensor_v2\n(" + (pid or storage()) + num(offset)
            + dims(sizes) + dims(strides) + b"\x89ccollections\nOrderedDict\n)RtRs.")


# The tensors.

def tensor_case(name, reason, **kw):
    bad(name, reason)(lambda path: with_pickle(path, tensor(**kw)))


tensor_case("negative-size.pt", "a tensor of shape (-2, 3)", sizes=(-2, 3))
tensor_case("negative-stride.pt", "a tensor with a stride of -1", strides=(3, -1), offset=2)
tensor_case("negative-offset.pt", "a tensor that begins before its storage", offset=-1)
tensor_case("size-overflow.pt", "a shape whose number of elements overflows 64 bits", sizes=(2**40, 2**40), strides=(0, 0))
tensor_case("stride-overflow.pt", "a stride that overflows 64 bits when multiplied", sizes=(3, 3), strides=(2**62, 1))
tensor_case("beyond-storage.pt", "a view that ends past its storage", sizes=(2, 4), strides=(4, 1))
tensor_case("huge-expanded.pt", "2^60 elements over one by zero strides; well formed, its bytes cannot be listed",
            sizes=(2**30, 2**30), strides=(0, 0))
tensor_case("rank-mismatch.pt", "two sizes and one stride", strides=(1,))
tensor_case("numel-lies.pt", "a storage that declares 2^61 floats", pid=storage(numel=2**61))
tensor_case("numel-negative.pt", "a storage that declares -6 floats", pid=storage(numel=-6))
tensor_case("numel-text.pt", "a storage whose length is a string", pid=storage(numel_op=text(b"6")))
tensor_case("storage-class.pt", "a storage class that is not torch's", pid=storage(cls=b"cnumpy\nndarray\n"))
tensor_case("storage-tag.pt", "a persistent id with an unknown tag", pid=storage(tag=b"stirage"))
tensor_case("persistent-id-text.pt", "a persistent id that is a string", pid=text(b"0") + b"Q")
tensor_case("persistent-id-short.pt", "a persistent id of two items", pid=b"(" + text(b"storage") + text(b"0") + b"tQ")
tensor_case("offset-huge.pt", "an offset beyond 64 bits", offset=2**70)


@bad("legacy-numel-lies.pt", "a legacy stream whose storage declares 2^60 elements")
def _(path):
    blob = legacy()
    at = blob.rindex(struct.pack("<q", 4))
    put(path, blob[:at] + struct.pack("<q", 2**60) + blob[at + 8:])


@bad("legacy-numel-disagrees.pt", "a legacy stream whose storage has another length than its persistent id says")
def _(path):
    blob = legacy()
    at = blob.rindex(struct.pack("<q", 4))
    put(path, blob[:at] + struct.pack("<q", 3) + blob[at + 8:-4])


@bad("numpy-short.pt", "an array of 6 float32 with 20 bytes")
def _(path):
    import numpy as np
    p = pickle.dumps({"a": np.arange(6, dtype="f4")}, 3)
    old = b"C" + bytes([24]) + np.arange(6, dtype="f4").tobytes()
    assert p.count(old) == 1
    with_pickle(path, p.replace(old, b"C" + bytes([20]) + b"\0" * 20))


@bad("numpy-negative-shape.pt", "an array of shape (-6,)")
def _(path):
    import numpy as np
    p = pickle.dumps({"a": np.arange(6, dtype="f4")}, 2)
    assert p.count(b"K\x06\x85") == 1
    with_pickle(path, p.replace(b"K\x06\x85", b"J" + struct.pack("<i", -6) + b"\x85"))


# The pickle.

BOMB = b"\x80\x04\x8e" + struct.pack("<Q", 2**36) + b"."


@bad("length-bomb.pt", "12 bytes: a string of bytes that declares 64 GiB; a bare pickle")
def _(path):
    put(path, BOMB)


@bad("length-bomb-zip.pt", "the same as the pickle of an archive")
def _(path):
    with_pickle(path, BOMB)


def shared_lists():
    """Each list holds the one before twice, by the memo."""
    out = PROTO + b"]q\x00"
    for i in range(100):
        out += b"]q" + bytes([i + 1]) + b"(" + (b"h" + bytes([i])) * 2 + b"e"
    return out + b"."


def shared_tuples():
    """Each tuple holds the one before twice, by DUP."""
    return PROTO + b"N" + b"2\x86" * 100 + b"."


@bad("shared-graph.pt", "2^100 leaves: each tuple holds the one before twice; well formed")
def _(path):
    with_pickle(path, shared_tuples())


@bad("shared-graph-lists.pt", "2^100 leaves: each list holds the one before twice; well formed")
def _(path):
    with_pickle(path, shared_lists())


@bad("shared-graph-bare.pt", "the same graph as a bare pickle, without an archive")
def _(path):
    put(path, shared_tuples())


@bad("billion-tuple.pt", "10^9 leaves: nine levels of ten; well formed")
def _(path):
    out = PROTO + b"("
    out += b"K\x01" * 10 + b"tq\x00"
    for i in range(8):
        out += b"(" + (b"h" + bytes([i])) * 10 + b"tq" + bytes([i + 1])
    with_pickle(path, out + b".")


@bad("deep-nesting.pt", "a list in a list, 200,000 deep")
def _(path):
    items = [("data.pkl", PROTO + b"]" * 200000 + b"a" * 199999 + b".") if n == "data.pkl" else (n, d)
             for n, d in members(zipped())]
    write_zip(path, "archive", items, method=zipfile.ZIP_DEFLATED)


@bad("deep-key.pt", "a mapping key that is a tuple in a tuple, 50,000 deep")
def _(path):
    items = [("data.pkl", PROTO + b"})" + b"\x85" * 50000 + b"Ns.") if n == "data.pkl" else (n, d)
             for n, d in members(zipped())]
    write_zip(path, "archive", items, method=zipfile.ZIP_DEFLATED)


def pickle_case(name, reason, data):
    bad(name, reason)(lambda path: with_pickle(path, data))


pickle_case("memo-missing.pt", "reads memo entry 9, which nobody wrote", PROTO + b"h\x09.")
pickle_case("memo-huge.pt", "writes memo entry 2^32-1; well formed", PROTO + b"Nr\xff\xff\xff\xff.")
pickle_case("unknown-opcode.pt", "an opcode that does not exist", PROTO + b"N\xff.")
pickle_case("no-stop.pt", "the pickle ends without STOP", PROTO + b"N")
pickle_case("stack-underflow.pt", "takes from an empty stack", PROTO + b"0N.")
pickle_case("mark-missing.pt", "closes a tuple that nobody opened", PROTO + b"Nt.")
pickle_case("protocol-6.pt", "a protocol that does not exist yet", b"\x80\x06N.")
pickle_case("unhashable-key.pt", "a mapping key that is a list", PROTO + b"}]Ns.")
pickle_case("odd-items.pt", "a mapping given three items", PROTO + b"}(NNNu.")
pickle_case("bad-utf8.pt", "a string that is not UTF-8", PROTO + b"X\x02\x00\x00\x00\xff\xfe.")
pickle_case("os-system.pt", "calls os.system when loaded by pickle; well formed",
            PROTO + b"}" + text(b"w") + b"cposix\nsystem\n" + text(b"echo pwned") + b"\x85Rs.")
pickle_case("nested-eval.pt", "hides a call in an object's state; well formed",
            PROTO + b"}" + text(b"a") + b"ccollections\nOrderedDict\n)R}" + text(b"x")
            + b"c__builtin__\neval\n" + text(b"__import__('os').system('id')") + b"\x85Rsbs.")
pickle_case("rebuild-arguments.pt", "a tensor rebuilt from the wrong arguments",
            PROTO + b"}" + text(b"w") + b"ctorch._utils\n_rebuild_tensor_v2\nN\x85Rs.")
pickle_case("metadata-cycle.pt", "an OrderedDict that contains itself; well formed",
            PROTO + b"ccollections\nOrderedDict\n)Rq\x00" + text(b"me") + b"h\x00s.")
