"""Containers put together by hand, for what torch reads but no torch at hand writes."""
import io
import pickle
import struct
import tarfile
import zipfile

import torch

MAGIC = 0x1950A86A20F9469CFC6C


def members(blob):
    """The (path below the root, bytes) of a torch zip, in order."""
    with zipfile.ZipFile(io.BytesIO(blob)) as z:
        return [(i.filename.split("/", 1)[1], z.read(i)) for i in z.infolist()]


def saved(obj, **kw):
    buf = io.BytesIO()
    torch.save(obj, buf, **kw)
    return buf.getvalue()


def write_zip(out, root, items, method=zipfile.ZIP_STORED, zip64=False, align=0, prefix=b"", comment=b""):
    """A zip of (name, bytes) under root; align pads the local headers as torch does."""
    buf = io.BytesIO()
    buf.write(prefix)
    with zipfile.ZipFile(buf, "a" if prefix else "w", method) as z:
        for name, data in items:
            info = zipfile.ZipInfo("%s/%s" % (root, name))
            info.compress_type = method
            if align:
                start = buf.tell() + 30 + len(info.filename.encode()) + 4
                info.extra = b"FB" + struct.pack("<H", -start % align) + b"Z" * (-start % align)
            with z.open(info, "w", force_zip64=zip64) as f:
                f.write(data)
        z.comment = comment
    with open(out, "wb") as f:
        f.write(buf.getvalue())


def write_zip64(out, root, items):
    """A zip whose every size and offset, and the end record, are in zip64 form."""
    big = 0xFFFFFFFF
    body, central = b"", b""
    for name, data in items:
        name = ("%s/%s" % (root, name)).encode()
        at, crc, n = len(body), zipfile.crc32(data), len(data)
        fixed = struct.pack("<HHHHHIIIH", 45, 0, 0, 0, 33, crc, big, big, len(name))
        local = struct.pack("<HHQQ", 1, 16, n, n)
        body += b"PK\x03\x04" + fixed + struct.pack("<H", len(local)) + name + local + data
        extra = struct.pack("<HHQQQ", 1, 24, n, n, at)
        central += b"PK\x01\x02" + struct.pack("<H", 45) + fixed
        central += struct.pack("<HHHHII", len(extra), 0, 0, 0, 0, big) + name + extra
    n, start, end = len(items), len(body), len(body) + len(central)
    tail = b"PK\x06\x06" + struct.pack("<QHHIIQQQQ", 44, 45, 45, 0, 0, n, n, len(central), start)
    tail += b"PK\x06\x07" + struct.pack("<IQI", 0, end, 1)
    tail += b"PK\x05\x06" + struct.pack("<HHHHIIH", 0xFFFF, 0xFFFF, 0xFFFF, 0xFFFF, big, big, 0)
    with open(out, "wb") as f:
        f.write(body + central + tail)


class PersistentPickler(pickle.Pickler):
    """Pickles the objects that `ids` knows, by id(), as persistent ids."""

    def __init__(self, file, ids, protocol=2):
        super().__init__(file, protocol)
        self.ids = ids

    def persistent_id(self, obj):
        return self.ids.get(id(obj))


def with_ids(obj, ids, protocol=2):
    buf = io.BytesIO()
    PersistentPickler(buf, ids, protocol).dump(obj)
    return buf.getvalue()


def legacy(obj_pickle, storages):
    """A legacy stream: storages is a list of (key, item size, bytes)."""
    info = {"protocol_version": 1001, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
    out = b"".join(pickle.dumps(o, 2) for o in (MAGIC, 1001, info)) + obj_pickle
    out += pickle.dumps([key for key, _, _ in storages], 2)
    return out + b"".join(struct.pack("<q", len(data) // size) + data for _, size, data in storages)


def old_tar(obj_pickle, storages, views, tensors):
    """The tar of torch < 0.1.10.

    storages: (key, location, storage class, item size, bytes); views: (key, key of
    the storage viewed, offset, size); tensors: (key, storage key, tensor class,
    shape, strides, offset). Keys are ints.
    """
    s = pickle.dumps(len(storages), 2)
    for key, location, cls, size, data in storages:
        s += pickle.dumps((key, location, cls), 2) + struct.pack("<q", len(data) // size) + data
    s += pickle.dumps(views, 2)
    t = pickle.dumps(len(tensors), 2)
    for key, storage, cls, shape, strides, offset in tensors:
        t += pickle.dumps((key, storage, cls), 2) + struct.pack("<q", len(shape))
        t += struct.pack("<%dq" % (2 * len(shape) + 1), *(list(shape) + list(strides) + [offset]))
    info = {"protocol_version": 1000, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
    buf = io.BytesIO()
    with tarfile.open(fileobj=buf, mode="w:", format=tarfile.PAX_FORMAT) as tar:
        for name, data in (("sys_info", pickle.dumps(info, 2)), ("pickle", obj_pickle), ("storages", s), ("tensors", t)):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    # tarfile rounds up to 10 KiB of zeros; two blocks end an archive
    return buf.getvalue().rstrip(b"\0").ljust(-(-len(buf.getvalue().rstrip(b"\0")) // 512) * 512, b"\0") + b"\0" * 1024
