"""The loop of run.sh: every sample through ckpt, judged by torch, in one process."""
import argparse
import collections
import fnmatch
import glob
import json
import os
import subprocess
import sys
import traceback

import loading
from compare import Comparison
from judge import judge
from oracle import describe

HERE = os.path.dirname(os.path.abspath(__file__))
SAMPLES = [os.path.join(HERE, "..", "testdata", d, "*.pt") for d in ("pt", "fl")]
SHOWN = 8
TIMEOUT = 60


class Expected(object):
    """The failures that are known, and which of them were met."""

    def __init__(self, path):
        self.lines = []
        self.met = set()
        with open(path) as f:
            for n, line in enumerate(f, 1):
                if line.strip() and not line.startswith("#"):
                    what, version, name, reason = line.split(None, 3)
                    if fnmatch.fnmatch("%d.%d" % loading.TORCH, version):
                        self.lines.append((n, what, name, reason.strip()))

    def reason(self, what, path):
        for n, w, pattern, reason in self.lines:
            if w == what and fnmatch.fnmatch(os.path.basename(path), pattern):
                self.met.add((n, path))
                return reason
        return None

    def unmet(self, paths):
        """The lines that apply to one of paths and did not come true there."""
        for n, what, pattern, _ in self.lines:
            for path in paths:
                if fnmatch.fnmatch(os.path.basename(path), pattern) and (n, path) not in self.met:
                    yield "expected.txt:%d: %s of %s was expected to fail and did not" % (n, what, os.path.basename(path))


class Run(object):
    def __init__(self, ckpt, work, expected):
        self.ckpt, self.work, self.expected = ckpt, work, expected
        self.counts = collections.Counter()
        self.checked = collections.Counter()

    def call(self, *args):
        done = subprocess.run([self.ckpt] + list(args), capture_output=True, timeout=TIMEOUT)
        return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")

    def fail(self, what, path, lines):
        self.counts[what + " FAILED"] += 1
        print("FAIL %s %s" % (what, os.path.basename(path)))
        for line in lines[:SHOWN]:
            print("     " + line.strip().encode("utf-8", "backslashreplace").decode())
        if len(lines) > SHOWN:
            print("     and %d more" % (len(lines) - SHOWN))

    def file(self, path):
        reason = self.expected.reason("misread", path)
        if reason is not None:
            self.counts["misread by this torch, as expected"] += 1
            print("pass over %s: %s" % (os.path.basename(path), reason))
            return False
        try:
            want = describe(path)
        except Exception as e:
            loads = False
            if not loading_failed(e):
                raise
            reason = self.expected.reason("load", path)
            text = "%s: %s" % (type(e).__name__, str(e).split("\n")[0][:100])
            if reason is None:
                self.fail("load", path, [text])
            else:
                self.counts["not loadable, as expected"] += 1
                print("pass over %s: %s (%s)" % (os.path.basename(path), reason, text))
            return loads
        self.inspect(path, want)
        self.migrate(path)
        return True

    def inspect(self, path, want):
        rc, out, err = self.call("inspect", "--format", "json", "--digest", path)
        if rc != 0:
            return self.fail("inspect", path, ["exit %d: %s" % (rc, err)])
        c = Comparison(want, json.loads(out))
        self.checked.update(c.checked)
        if c.differences:
            return self.fail("inspect", path, c.differences)
        self.counts["inspect as torch reads"] += 1

    def migrate(self, path):
        outs = [os.path.join(self.work, "out%d.pt" % i) for i in range(3)]
        for source, out in ((path, outs[0]), (path, outs[1]), (outs[0], outs[2])):
            if os.path.exists(out):
                os.remove(out)
            rc, _, err = self.call("migrate", source, "--no-template", "-o", out)
            if rc != 0:
                reason = self.expected.reason("migrate", path)
                if reason is None:
                    return self.fail("migrate", path, ["exit %d: %s" % (rc, err)])
                self.counts["not rewritten, as expected"] += 1
                return None
        first, again, twice = (open(out, "rb").read() for out in outs)
        lines = []
        if first != again:
            lines.append("the same migration gives other bytes: %s" % where(first, again))
        if first != twice:
            lines.append("migrating the result gives other bytes: %s" % where(first, twice))
        try:
            lines += judge(path, outs[0])
        except Exception as e:
            lines += ["torch does not load the result: %s: %s" % (type(e).__name__, str(e).split("\n")[0][:200])]
        if lines:
            return self.fail("migrate", path, lines)
        self.counts["migrate equal to torch"] += 1


def where(a, b):
    n = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return "%d and %d bytes, equal up to byte %d" % (len(a), len(b), n)


def loading_failed(e):
    """Whether an exception came from torch.load, and not from the oracle."""
    return any(f.name == "load" and f.filename == loading.__file__ for f in traceback.extract_tb(e.__traceback__))


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--ckpt", required=True, help="the binary")
    ap.add_argument("--work", required=True, help="a folder for what it writes")
    ap.add_argument("--corpus", action="append", default=[], help="a folder of *.pt, instead of the samples")
    ap.add_argument("--expected", default=os.path.join(HERE, "expected.txt"))
    ap.add_argument("files", nargs="*")
    args = ap.parse_args()
    patterns = [os.path.join(d, "*.pt") for d in args.corpus] or ([] if args.files else SAMPLES)
    paths = sorted(p for pattern in patterns for p in glob.glob(pattern)) + args.files
    run = Run(args.ckpt, args.work, Expected(args.expected))
    for path in paths:
        run.file(os.path.abspath(path))
    for line in run.expected.unmet([os.path.abspath(p) for p in paths]):
        run.counts["expectations not met: FAILED"] += 1
        print("FAIL " + line)
    print("\ntorch %s, numpy %s, %d files" % (loading.torch.__version__, loading.np.__version__, len(paths)))
    for name, n in sorted(run.counts.items()):
        print("%6d  %s" % (n, name))
    print("compared: " + ", ".join("%d %ss" % (n, k) for k, n in sorted(run.checked.items())))
    if not run.counts["inspect as torch reads"] or not run.checked["tensor"]:
        sys.exit("interop: nothing was compared")
    sys.exit(1 if any("FAILED" in name for name in run.counts) else 0)


if __name__ == "__main__":
    main()
