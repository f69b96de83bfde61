"""Writes the PyTorch samples of testdata/pt with the torch that runs it.

    PYTHONPATH=testdata/pt/gen python testdata/pt/gen/gen.py [--out DIR] [--only REGEXP]

Each file is NAME.torchX.Y.pt, X.Y being the version that wrote it ("-py2" where
Python 2 did). The committed ones come from:

    Python 2.7.18   torch 1.4.0    numpy 1.16.6
    Python 3.6.15   torch 1.0.1    numpy 1.19.5
    Python 3.7.16   torch 1.5.1    numpy 1.19.5
    Python 3.8.18   torch 1.6.0    numpy 1.21.6
    Python 3.8.18   torch 1.8.1    numpy 1.21.6
    Python 3.11.2   torch 1.13.0   numpy 1.24.2
    Python 3.11.7   torch 2.15.0   numpy 2.4.6

Seeds are fixed, but torch puts addresses or a serialization id into some
files, so a second run gives equal content, not equal bytes. Afterwards bad.py
makes ../bad from the samples, and index.py writes ../README.md.
"""
from __future__ import print_function

import argparse
import os
import sys
import warnings

import registry
import core  # noqa: F401  registers its samples

if sys.version_info[0] > 2:
    import plain  # noqa: F401
    import tensors  # noqa: F401
    import crafted  # noqa: F401

warnings.filterwarnings("ignore")


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    ap = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    ap.add_argument("--out", default=os.path.dirname(here))
    ap.add_argument("--only", help="only the samples whose name this matches")
    args = ap.parse_args()
    for name, reason in registry.run(args.out, args.only):
        print("%8d  %-44s %s" % (os.path.getsize(os.path.join(args.out, name)), name, reason))


if __name__ == "__main__":
    main()
