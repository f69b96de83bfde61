"""Writes testdata/pt/bad: one file for each thing that can be wrong, named for it.

    python testdata/pt/gen/bad.py

Needs no particular torch (the committed ones come from 2.15.0). Most are made from
one small sound checkpoint by changing one thing, so that nothing else can be what
a reader objects to. Those marked "well formed" are no error: they must be listed. torch accepts some of
the others too, and reads what nobody wrote.
"""
import os
import sys
import warnings

import bad_files  # noqa: F401  registers its files
import bad_pickles  # noqa: F401
from bad_registry import BAD, OUT

warnings.filterwarnings("ignore", "Duplicate name")  # wanted here


def main():
    os.makedirs(OUT, exist_ok=True)
    for name in os.listdir(OUT):
        os.remove(os.path.join(OUT, name))
    for name, reason, f in BAD:
        f(os.path.join(OUT, name))
        print("%7d  %-32s %s" % (os.path.getsize(os.path.join(OUT, name)), name, reason))


if __name__ == "__main__":
    sys.exit(main())
