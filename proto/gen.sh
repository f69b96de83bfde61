#!/bin/sh
# Writes the Go code for the protos beside it. Run from anywhere; needs protoc
# (any release since 3.21) and Go. The plugin's version is pinned here and is
# that of google.golang.org/protobuf in go.mod.
set -eu
cd "$(dirname "$0")"
bin=$(mktemp -d)
trap 'rm -rf "$bin"' EXIT
GOBIN="$bin" GOFLAGS= go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.36.12
for f in *.proto; do
	protoc --plugin="$bin/protoc-gen-go" --go_out=. --go_opt=paths=source_relative "$f"
	# protoc's own version differs from machine to machine and says nothing.
	sed -i.bak '/^\/\/ \tprotoc  *v/d' "${f%.proto}.pb.go"
	rm "${f%.proto}.pb.go.bak"
done
