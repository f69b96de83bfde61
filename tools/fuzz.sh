#!/bin/sh
# Runs every fuzz target in the module for a fixed count (or time): fuzz.sh 3000x.
set -eu
cd "$(dirname "$0")/.."
budget="${1:-3000x}"
targets=0
for pkg in $(go list ./...); do
	for name in $(go test -list '^Fuzz' "$pkg" | grep '^Fuzz' || true); do
		targets=$((targets + 1))
		echo "$pkg $name"
		go test -run '^$' -fuzz "^$name\$" -fuzztime "$budget" -fuzzminimizetime 5x -parallel 2 "$pkg"
	done
done
[ "$targets" -gt 0 ] || { echo "fuzz.sh: no fuzz target was found" >&2; exit 1; }
echo "$targets fuzz targets"
