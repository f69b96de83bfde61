#!/bin/sh
# Compares ckpt with the local torch on every sample: what inspect prints with what
# torch reads, and what migrate writes with what it was given. Fails when torch is
# missing or when nothing was compared.
#
#   interop/run.sh [--corpus DIR]... [FILE]...      PYTHON=python3
set -eu
cd "$(dirname "$0")/.."
python="${PYTHON:-python3}"
"$python" -c 'import torch, numpy' || { echo "interop: $python has no torch or numpy; set PYTHON" >&2; exit 2; }
PYTHONDONTWRITEBYTECODE=1 "$python" -W ignore interop/selftest.py
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
go build -o "$work/ckpt" .
PYTHONDONTWRITEBYTECODE=1 "$python" -W ignore interop/interop.py --ckpt "$work/ckpt" --work "$work" "$@"
