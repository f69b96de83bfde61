#!/bin/sh
# Writes every generated file: the code of the protos.
set -eu
cd "$(dirname "$0")/.."
sh proto/gen.sh
