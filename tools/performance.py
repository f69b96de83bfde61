"""Measures ckpt beside what people use otherwise, in one run, and prints a table.

    python3 tools/performance.py [--data DIR] [--gib 1] [--runs 7]

Needs torch for the files and the comparisons, Go to build, GNU cp and sync. Both
sides of a row take turns, so that a machine whose speed drifts treats them alike;
times are medians, and ratios are medians of the ratios turn by turn. Resident
memory is the kernel's own figure for the finished process.
"""
import argparse
import os
import pickle
import shutil
import statistics
import struct
import subprocess
import sys
import time
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)

LOAD = "import torch, sys; torch.load(sys.argv[1], map_location='cpu')"
LOAD_MMAP = "import torch, sys; torch.load(sys.argv[1], map_location='cpu', mmap=True)"
UNPICKLE = """
import collections, operator, pickle, statistics, sys, time
class Unpickler(pickle.Unpickler):
    def find_class(self, module, name):
        # itemgetter is a constructor in C that takes any arguments
        return collections.OrderedDict if name == 'OrderedDict' else operator.itemgetter
data = open(sys.argv[1], 'rb').read()
import io, gc
times = []
for i in range(int(sys.argv[2]) + 1):
    u = Unpickler(io.BytesIO(data))
    u.persistent_load = operator.itemgetter(0)
    t = time.perf_counter()
    x = u.load()
    times.append(time.perf_counter() - t)
    del x, u
    gc.collect()
print(statistics.median(times[1:]), min(times[1:]))
"""


def run(args, ok=(0,)):
    """Runs a command; its wall seconds and peak resident MiB."""
    begin = time.perf_counter()
    p = subprocess.Popen(args, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(p.pid, 0)
    wall = time.perf_counter() - begin
    p.returncode = os.waitstatus_to_exitcode(status) if hasattr(os, "waitstatus_to_exitcode") else status >> 8
    if p.returncode not in ok:
        sys.exit("%s: exit %d" % (" ".join(args), p.returncode))
    return wall, usage.ru_maxrss / 1024


def turns(n, ours, theirs):
    """Runs two functions in turn; medians, and the median ratio theirs / ours."""
    a, b = [], []
    for i in range(n + 1):
        x, y = ours(), theirs()
        if i:
            a.append(x)
            b.append(y)
    ratio = statistics.median(y[0] / x[0] for x, y in zip(a, b))
    return [statistics.median(v) for v in zip(*a)], [statistics.median(v) for v in zip(*b)], ratio


def model(path, gib):
    """A checkpoint of that size: 24 layers and embeddings, as torch writes it."""
    import torch
    d, layers, vocab = 1024, 24, 32000
    per_layer = 12 * d * d + 13 * d
    scale = max(1, round((gib * 2**30 / 4 - vocab * d) / per_layer))
    torch.manual_seed(0)
    sd = {"embed.weight": torch.randn(vocab, d)}
    for i in range(scale):
        p = "layers.%d." % i
        for name, shape in (("attn.qkv.weight", (3 * d, d)), ("attn.out.weight", (d, d)), ("mlp.up.weight", (4 * d, d)),
                            ("mlp.down.weight", (d, 4 * d)), ("attn.qkv.bias", (3 * d,)), ("attn.out.bias", (d,)),
                            ("mlp.up.bias", (4 * d,)), ("mlp.down.bias", (d,)), ("ln1.weight", (d,)), ("ln1.bias", (d,)),
                            ("ln2.weight", (d,)), ("ln2.bias", (d,))):
            sd[p + name] = torch.randn(*shape)
    torch.save({"model": sd, "epoch": 3, "step": 41000}, path)
    return len(sd)


def sparse(path, source_tensors, member):
    """A zip as torch writes it whose storages are holes: of any size on any disk."""
    import io
    import torch
    buf = io.BytesIO()
    numel = member // 4
    name = "sparse"
    # The pickle of real tensors of that size, whose memory is never touched.
    class Pickler(pickle.Pickler):
        def persistent_id(self, obj):
            if isinstance(obj, torch.storage.TypedStorage) if hasattr(torch.storage, "TypedStorage") else torch.is_storage(obj):
                key = keys.setdefault(obj.data_ptr(), str(len(keys)))
                return ("storage", torch.FloatStorage, key, "cpu", numel)
    keys = {}
    sd = {"layers.%d.weight" % i: torch.empty(numel) for i in range(source_tensors)}
    Pickler(buf, 2).dump(sd)
    del sd
    zeros = bytes(1 << 20)
    crc = 0
    for _ in range(member >> 20):
        crc = zlib.crc32(zeros, crc)
    entries = []
    with open(path, "wb") as f:
        def add(member_name, size, content=None, crc=0):
            n = ("%s/%s" % (name, member_name)).encode()
            offset = f.tell()
            pad = -(offset + 30 + len(n) + 4) % 64
            extra = b"FB" + struct.pack("<H", pad) + b"Z" * pad
            f.write(struct.pack("<4sHHHIIIIHH", b"PK\3\4", 0, 0x808, 0, 0, 0, 0, 0, len(n), len(extra)) + n + extra)
            if content is None:
                f.seek(size, 1)
            else:
                f.write(content)
                crc = zlib.crc32(content)
            f.write(struct.pack("<4sIII", b"PK\7\x08", crc, size, size))
            entries.append((n, offset, size, crc))
        add("data.pkl", len(buf.getvalue()), buf.getvalue())
        add("byteorder", 6, b"little")
        for key in keys.values():
            add("data/" + key, member, crc=crc)
        add("version", 2, b"3\n")
        begin = f.tell()
        for n, offset, size, c in entries:
            extra = struct.pack("<HHQ", 1, 8, offset)
            f.write(struct.pack("<4sHHHHIIIIHHHHHII", b"PK\1\2", 45, 45, 0x808, 0, 0, c, size, size, len(n), len(extra), 0, 0, 0, 0, 0xFFFFFFFF) + n + extra)
        end = f.tell()
        f.write(struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, len(entries), len(entries), end - begin, begin))
        f.write(struct.pack("<4sIQI", b"PK\6\7", 0, end, 1))
        f.write(struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0))


def tensors_pickle(path, n):
    """The pickle of a state dict of n small tensors, as torch.save writes it."""
    import io
    import zipfile
    import torch
    sd = {"encoder.layers.%d.block.%d.weight" % (i // 8, i % 8): torch.empty(8, 4) for i in range(n)}
    buf = io.BytesIO()
    torch.save(sd, buf)
    with zipfile.ZipFile(buf) as z:
        with open(path, "wb") as f:
            f.write(z.read("archive/data.pkl"))


def numbers(args):
    return [float(x) for x in subprocess.check_output(args, text=True).split()]


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--data", default=os.path.join(ROOT, "bench-data"))
    ap.add_argument("--gib", type=float, default=1)
    ap.add_argument("--runs", type=int, default=7)
    ap.add_argument("--make", action="store_true", help="only make the files")
    args = ap.parse_args()
    os.makedirs(args.data, exist_ok=True)
    at = lambda name: os.path.join(args.data, name)
    n = 100_000
    big, huge, pkl = at("model.pt"), at("sparse.pt"), at("tensors.pkl")
    if args.make:
        import torch
        if not os.path.exists(big):
            model(big, args.gib)
        if not os.path.exists(huge):
            sparse(huge, 50, 1 << 30)
        if not os.path.exists(pkl):
            tensors_pickle(pkl, n)
        print(torch.__version__)
        return
    # In a process of its own: a child's peak memory, as the kernel tells it, is at
    # least what its parent had when it was forked.
    version = subprocess.check_output([sys.executable, "-W", "ignore", __file__, "--make", "--data", args.data, "--gib", str(args.gib)], text=True).split()[-1]
    ckpt, bench = at("ckpt"), at("picklebench")
    subprocess.check_call(["go", "build", "-o", ckpt, "."], cwd=ROOT)
    subprocess.check_call(["go", "build", "-o", bench, "./tools/picklebench"], cwd=ROOT)
    py = sys.executable
    print("torch %s, Python %s, %d cores\n" % (version, sys.version.split()[0], os.cpu_count()))
    rows = []

    def row(job, rival, ours, theirs, ratio, goal, note=""):
        rows.append((job, "%.4f s" % ours, rival, "%.4f s" % theirs, ratio, goal, note))
        print("| %s | %.4f s | %s | %.4f s | %s | %s | %s |" % (job, ours, rival, theirs, ratio, goal, note), flush=True)

    print("| job | ckpt | beside | its time | ratio | goal | memory |\n|---|---|---|---|---|---|---|")
    a, b, r = turns(args.runs, lambda: run([ckpt, "inspect", big]), lambda: run([py, "-c", LOAD, big]))
    row("inspect %.1f GiB" % (os.path.getsize(big) / 2**30), "torch.load", a[0], b[0], "%.0f times faster" % r, "100 times", "%.0f MiB, torch %.0f MiB" % (a[1], b[1]))
    if tuple(int(x) for x in version.split("+")[0].split(".")[:2] if x.isdigit()) >= (2, 1):
        a, b, r = turns(args.runs, lambda: run([ckpt, "inspect", big]), lambda: run([py, "-c", LOAD_MMAP, big]))
        row("the same", "torch.load(mmap=True)", a[0], b[0], "%.0f times faster" % r, "", "%.0f MiB, torch %.0f MiB" % (a[1], b[1]))
    a, b, r = turns(args.runs, lambda: run([ckpt, "inspect", huge]), lambda: run([ckpt, "inspect", big]))
    row("inspect %.0f GB, sparse" % (os.path.getsize(huge) / 1e9), "ckpt inspect of the above", a[0], b[0], "%.2f of its time" % (1 / r), "no longer", "%.0f MiB" % a[1])
    a, b = [], []
    for _ in range(3):
        a.append(numbers([bench, pkl, str(args.runs)]))
        b.append(numbers([py, "-c", UNPICKLE, pkl, str(args.runs)]))
    ours, theirs = statistics.median(x[0] for x in a), statistics.median(x[0] for x in b)
    row("pickle of %d tensors" % n, "CPython's C unpickler", ours, theirs, "%.1f times faster" % (theirs / ours), "3 times", "%.0f ns a tensor" % (ours / n * 1e9))
    out, copy = at("out.pt"), at("copy.pt")

    def fresh(path):
        if os.path.exists(path):
            os.remove(path)
        os.sync()

    def migrate():
        fresh(out)
        return run([ckpt, "migrate", big, "--no-template", "-o", out])

    def cp():
        fresh(copy)
        return run(["sh", "-c", "cp %s %s && sync %s" % (big, copy, copy)])

    a, b, r = turns(args.runs, migrate, cp)
    row("migrate %.1f GiB, verified" % (os.path.getsize(big) / 2**30), "cp, then sync", a[0], b[0], "%.2f of its time" % (1 / r), "1.05", "%.0f MiB" % a[1])
    fresh(out)
    fresh(copy)
    print()
    sys.stdout.flush()
    subprocess.check_call(["go", "test", "-run", "^$", "-bench", "Plan", "-benchtime", "3x", "./migrate"], cwd=ROOT)


if __name__ == "__main__":
    main()
