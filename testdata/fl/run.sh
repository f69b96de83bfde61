#!/bin/sh
# The worked example: a federated-learning run was interrupted in round 3, and the
# program has been refactored since. What is in its checkpoint, what of it does the
# new program miss, and the migration that makes it load.
set -eu
cd "$(dirname "$0")/../.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
go build -o "$out/ckpt" .
fl=testdata/fl
show() { printf '\n$ ckpt %s\n' "$*"; }

show inspect $fl/old.pt
"$out/ckpt" inspect $fl/old.pt

show migrate $fl/old.pt --template $fl/new.pt --rules $fl/rules-incomplete.textproto
status=0
"$out/ckpt" migrate $fl/old.pt --template $fl/new.pt --rules $fl/rules-incomplete.textproto || status=$?
[ "$status" -eq 1 ] || { echo "run.sh: the incomplete rules should have given exit status 1, not $status" >&2; exit 1; }

show migrate $fl/old.pt --template $fl/new.pt --rules $fl/rules.textproto -o migrated.pt
"$out/ckpt" migrate $fl/old.pt --template $fl/new.pt --rules $fl/rules.textproto -o "$out/migrated.pt"

show inspect --at model migrated.pt
"$out/ckpt" inspect --depth 2 "$out/migrated.pt"
