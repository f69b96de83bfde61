"""Bad files: what is no checkpoint, what is damaged, and archives that lie."""
import io
import os
import pickle
import struct
import zipfile

import torch

from archives import members, write_zip
from bad_pickles import PROTO, storage, tensor, text
from bad_registry import OUT, bad, legacy, put, with_member, zipped


# Not a checkpoint at all.

@bad("empty.pt", "an empty file")
def _(path):
    put(path, b"")


@bad("git-lfs-pointer.pt", "a Git LFS pointer where the file should be")
def _(path):
    put(path, b"version https://git-lfs.github.com/spec/v1\n"
        b"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 437985387\n")


@bad("html-page.pt", "a login page, as a failed download leaves it")
def _(path):
    put(path, b"<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body>403 Forbidden</body></html>\n")


@bad("json-error.pt", "an error message of a download service")
def _(path):
    put(path, b'{"error":"Repository not found"}\n')


@bad("wrong-magic.pt", "bytes that begin no known format")
def _(path):
    put(path, b"\x00\x01\x02\x03 nothing that anybody reads " * 4)


@bad("zeros.pt", "the length of a checkpoint, all zeros: a file that was never flushed")
def _(path):
    put(path, b"\0" * 4096)


@bad("npz.pt", "a zip, but NumPy's: no data.pkl")
def _(path):
    import numpy as np
    buf = io.BytesIO()
    np.savez(buf, a=np.ones(2))
    put(path, buf.getvalue())


@bad("gzip.pt", "a checkpoint compressed with gzip")
def _(path):
    import gzip
    put(path, gzip.compress(zipped(), mtime=0))


@bad("legacy-wrong-magic.pt", "a pickle of a long that is not torch's")
def _(path):
    put(path, pickle.dumps(0x1950A86A20F9469CFC6D, 2) + legacy()[15:])


# Cut off or damaged.

@bad("truncated-zip.pt", "a download cut off in the central directory")
def _(path):
    put(path, zipped()[:-150])


@bad("truncated-zip-data.pt", "a download cut off in the second storage")
def _(path):
    blob = zipped()
    at = zipfile.ZipFile(io.BytesIO(blob)).getinfo("archive/data/1").header_offset
    put(path, blob[:at + 70])


@bad("truncated-legacy.pt", "a legacy stream cut off in the last storage")
def _(path):
    put(path, legacy()[:-6])


@bad("truncated-legacy-pickle.pt", "a legacy stream cut off in the object's pickle")
def _(path):
    put(path, legacy()[:200])


@bad("truncated-tar.pt", "an old tar cut off in its member of storages")
def _(path):
    tar = os.path.join(os.path.dirname(OUT), "tar.torch%s.%s.pt" % tuple(torch.__version__.split(".")[:2]))
    with open(tar, "rb") as f:
        blob = f.read()
    at = blob.index(b"storages\0")
    put(path, blob[:at + 512 + 40])


@bad("trailing-garbage.pt", "a legacy stream with bytes after its end")
def _(path):
    put(path, legacy() + b"left over from a longer file")


@bad("bad-crc.pt", "one bit of a storage flipped: the CRC of the member says so")
def _(path):
    blob = bytearray(zipped())
    at = blob.index(struct.pack("<f", 5.0))
    blob[at + 1] ^= 0x10
    put(path, bytes(blob))


@bad("bad-crc-pickle.pt", "one letter of a key in data.pkl changed: still a pickle, wrong CRC")
def _(path):
    blob = zipped()
    assert blob.count(b"step") == 1
    put(path, blob.replace(b"step", b"stop"))


# The archive.

@bad("missing-storage.pt", "a tensor's storage is not in the archive")
def _(path):
    with_member(path, "data/1", None)


@bad("missing-pickle.pt", "storages and version, but no data.pkl")
def _(path):
    with_member(path, "data.pkl", None)


@bad("short-storage.pt", "a storage of 6 floats whose member holds 20 bytes")
def _(path):
    with_member(path, "data/0", b"\0" * 20)


@bad("long-storage.pt", "a storage of 6 floats whose member holds 32 bytes")
def _(path):
    with_member(path, "data/0", b"\0" * 32)


@bad("unknown-byteorder.pt", "a byteorder that is neither little nor big")
def _(path):
    with_member(path, "byteorder", b"middle")


@bad("duplicate-members.pt", "two members named data/0: which one torch reads is an accident")
def _(path):
    write_zip(path, "archive", members(zipped()) + [("data/0", b"\xff" * 24)], align=64)


@bad("duplicate-pickle.pt", "two members named data.pkl: a scanner may see the other one")
def _(path):
    write_zip(path, "archive", members(zipped()) + [("data.pkl", PROTO + b"cos\nsystem\n" + text(b"id") + b"\x85R.")], align=64)


@bad("member-traversal.pt", "a storage key that leads out of the archive")
def _(path):
    items = members(zipped()) + [("data/../../../../tmp/x", b"\0" * 24)]
    items = [("data.pkl", tensor(pid=storage(b"../../../../tmp/x"))) if n == "data.pkl" else (n, d) for n, d in items]
    write_zip(path, "archive", items, align=64)


@bad("two-roots.pt", "members under two roots, each with a data.pkl")
def _(path):
    write_zip(path, "a", members(zipped()), align=64)
    with zipfile.ZipFile(path, "a") as z:
        z.writestr(zipfile.ZipInfo("b/data.pkl"), pickle.dumps({"other": 1}, 2))


def patched(path, name, local=None, central=None):
    """The sound zip with bytes changed in a member's local or central header."""
    blob = bytearray(zipped())
    full = ("archive/" + name).encode()
    if local:
        at = blob.index(b"PK\x03\x04", 0)
        while blob[at + 30:at + 30 + len(full)] != full:
            at = blob.index(b"PK\x03\x04", at + 4)
        blob[at + local[0]:at + local[0] + len(local[1])] = local[1]
    if central:
        at = blob.index(b"PK\x01\x02", 0)
        while blob[at + 46:at + 46 + len(full)] != full:
            at = blob.index(b"PK\x01\x02", at + 4)
        blob[at + central[0]:at + central[0] + len(central[1])] = central[1]
    put(path, bytes(blob))


@bad("header-disagrees.pt", "a local header with another name than the central directory's")
def _(path):
    patched(path, "data/0", local=(30, b"archive/data/9"))


@bad("member-beyond-end.pt", "a member whose size reaches past the end of the file")
def _(path):
    patched(path, "data/1", central=(20, struct.pack("<II", 2**31 - 1, 2**31 - 1)))


@bad("member-offset-beyond-end.pt", "a member that begins past the end of the file")
def _(path):
    patched(path, "data/1", central=(42, struct.pack("<I", 2**31 - 1)))


@bad("overlapping-members.pt", "two members over the same bytes")
def _(path):
    blob = zipped()
    at = zipfile.ZipFile(io.BytesIO(blob)).getinfo("archive/data/0").header_offset
    patched(path, "data/1", central=(42, struct.pack("<I", at)))


@bad("encrypted.pt", "a member flagged as encrypted")
def _(path):
    patched(path, "data.pkl", local=(6, b"\x09\x08"), central=(8, b"\x09\x08"))


@bad("unknown-method.pt", "a member compressed by a method that nobody has (99)")
def _(path):
    patched(path, "data/0", local=(8, b"\x63\x00"), central=(10, b"\x63\x00"))


@bad("deflate-lies.pt", "a deflated data.pkl that declares 1 TiB")
def _(path):
    buf = io.BytesIO()
    with zipfile.ZipFile(buf, "w", zipfile.ZIP_DEFLATED) as z:
        for name, data in members(zipped()):
            z.writestr("archive/" + name, data)
    blob = bytearray(buf.getvalue())
    at = blob.index(b"archive/data.pkl", blob.index(b"PK\x01\x02")) - 46
    blob[at + 24:at + 28] = struct.pack("<I", 0xFFFFFFFF)
    extra = struct.pack("<HHQ", 1, 8, 2**40)
    blob[at + 30:at + 32] = struct.pack("<H", len(extra))
    name_end = at + 46 + len(b"archive/data.pkl")
    blob[name_end:name_end] = extra
    end = blob.rindex(b"PK\x05\x06")
    size, = struct.unpack("<I", blob[end + 12:end + 16])
    blob[end + 12:end + 16] = struct.pack("<I", size + len(extra))
    put(path, bytes(blob))


@bad("directory-lies.pt", "an end record that counts 65,000 members")
def _(path):
    blob = bytearray(zipped())
    end = blob.rindex(b"PK\x05\x06")
    blob[end + 8:end + 12] = struct.pack("<HH", 65000, 65000)
    put(path, bytes(blob))
