# Recipes for people; CI runs .ci/run.

default: test

# all tests
test:
    go test ./...

# the race detector, without the longest tests
race:
    go test -race -short ./...

# vet and staticcheck
lint:
    gofmt -l $(git ls-files '*.go')
    go vet ./...
    go tool -modfile=tools/tools.mod staticcheck ./...

fmt:
    gofmt -w $(git ls-files '*.go')

# every fuzz target, for a count or a time
fuzz budget="3000x":
    sh tools/fuzz.sh {{budget}}

# rewrite goldens
update:
    go test ./... -update

# Go benchmarks
bench:
    go test -run '^$' -bench . ./...

# the table in docs/performance.md, beside torch, cp and CPython
performance python="python3":
    {{python}} tools/performance.py

# generated code and docs
gen:
    sh tools/gen.sh

# compare with a real torch
interop python="/usr/bin/python3":
    PYTHON={{python}} sh interop/run.sh

# the worked example
example:
    sh testdata/fl/run.sh

# what CI runs
ci:
    bash .ci/run
