#!/bin/sh
# Runs gen.py under each PYTHON given, oldest first, then bad.py and index.py under the last.
# usage: testdata/pt/gen/all.sh PYTHON...
set -eu
cd "$(dirname "$0")"
export PYTHONDONTWRITEBYTECODE=1
rm -f ../*.pt
for py in "$@"; do "$py" -W ignore gen.py; done
"$py" bad.py
"$py" index.py
