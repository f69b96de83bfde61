#!/bin/sh
# Migrates the worked example and lets the refactored program resume from it, with
# the torch of the Python that is given: check.sh /usr/bin/python3
set -eu
cd "$(dirname "$0")/../.."
python="${1:-python3}"
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
go run . migrate testdata/fl/old.pt --template testdata/fl/new.pt --rules testdata/fl/rules.textproto -o "$out/migrated.pt"
"$python" testdata/fl/gen.py --check "$out/migrated.pt"
