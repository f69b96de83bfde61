"""Writes testdata/pt/README.md from the reasons given in the generators.

    PYTHONPATH=testdata/pt/gen python testdata/pt/gen/index.py

Fails when a file has no reason or, of those that the newest torch should write, a
reason has no file.
"""
import os
import re
import sys

import bad  # noqa: F401  registers the bad files
import bad_registry
import gen  # noqa: F401  registers the samples
import registry

HERE = os.path.dirname(os.path.abspath(__file__))
PT = os.path.dirname(HERE)

HEAD = """# PyTorch samples

Small checkpoints, each here for one reason. `NAME.torchX.Y.pt` was written by that
version of torch (`-py2`: on Python 2.7) through `gen/gen.py`, which says how to run
it and on which versions it ran; `gen/ckpt_samples.py` holds the classes whose
instances the samples contain. This list is written by `gen/index.py`.

| sample | reason | written by torch |
|---|---|---|
"""

BAD_HEAD = """
## bad/

One file for each thing that can be wrong, named for it, written by `gen/bad.py`.
Those called well formed are no error: a reader lists what is in them.

| file | what is wrong |
|---|---|
"""


def cell(text):
    return text.replace("|", "\\|")


def numbers(version):
    return [int(n) for n in version.split(" ")[0].split(".")]


def main():
    writers = {}
    for name in os.listdir(PT):
        m = re.match(r"(.+)\.torch(\d+\.\d+)(-py2)?\.pt$", name)
        if m:
            version = (m[2] + (" (Python 2)" if m[3] else ""))
            writers.setdefault(m[1], []).append(version)
    reasons = {name: reason for name, reason, _, _, _, _ in registry.SAMPLES}
    here = set(os.listdir(bad_registry.OUT))
    missing = set(reasons) ^ set(writers) | here ^ {name for name, _, _ in bad_registry.BAD}
    if missing:
        sys.exit("index.py: a file without a reason or a reason without a file: %s" % sorted(missing))
    with open(os.path.join(PT, "README.md"), "w") as f:
        f.write(HEAD)
        for name in sorted(writers):
            by = ", ".join(sorted(writers[name], key=numbers))
            f.write("| `%s` | %s | %s |\n" % (name, cell(reasons[name]), by))
        f.write(BAD_HEAD)
        for name, reason, _ in bad_registry.BAD:
            f.write("| `%s` | %s |\n" % (name, cell(reason)))


if __name__ == "__main__":
    main()
