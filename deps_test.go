package main

import (
	"encoding/json"
	"errors"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// module is the path that all our packages begin with.
const module = "ckpt"

// layer is what a package may import, and why no more.
type layer struct {
	pkg    string
	allows []string
	why    string
}

// mayImport is the direction of dependence: what a package may import besides the standard
// library. A name that ends in /... stands for all below it. Packages that no
// line is about fail the test, so that a new one is given its place.
var mayImport = []layer{
	{"ckpt", []string{"ckpt/cmd"}, "main is a few lines"},
	{"ckpt/pytree", nil, "the model depends on nothing"},
	{"ckpt/pickle", nil, "the machine that reads hostile bytes depends on nothing"},
	{"ckpt/durable", []string{"golang.org/x/sys/..."}, "writing files needs the system only"},
	{"ckpt/formats", []string{"ckpt/pytree", "ckpt/durable", "golang.org/x/sys/..."}, "what a format is depends on no format"},
	{"ckpt/formats/all", []string{"ckpt/formats", "ckpt/formats/..."}, "the list is the one place that knows them all"},
	{"ckpt/formats/pt", []string{"ckpt/formats", "ckpt/pytree", "ckpt/pickle"}, "formats never import each other, migrate or cmd"},
	{"ckpt/formats/formattest", []string{"ckpt/formats", "ckpt/formats/all", "ckpt/pytree", "github.com/google/go-cmp/..."}, "the suite is the same for every format, and asks the list whether others claim its files"},
	{"ckpt/report", []string{"ckpt/pytree", "github.com/rivo/uniseg"}, "findings are about trees, whatever file they came from"},
	{"ckpt/proto", []string{"google.golang.org/protobuf/..."}, "generated"},
	{"ckpt/migrate", []string{"ckpt/pytree", "ckpt/report", "ckpt/proto", "google.golang.org/protobuf/...", "github.com/protocolbuffers/txtpbfmt/..."}, "a plan is made of trees, never of a format"},
	{"ckpt/inspect", []string{"ckpt/formats", "ckpt/pytree", "ckpt/report", "github.com/gobwas/glob"}, "what is shown is the same for every format"},
	{"ckpt/cmd", []string{"ckpt/...", "github.com/spf13/cobra", "golang.org/x/term", "github.com/schollz/progressbar/v3"}, "only the command line knows commands, terminals and progress bars"},
}

type goPackage struct {
	ImportPath string
	Name       string
	Imports    []string
	Standard   bool
}

// list runs go list -json.
func list(t *testing.T, args ...string) []goPackage {
	t.Helper()
	out, err := exec.Command("go", append([]string{"list", "-json=ImportPath,Name,Imports,Standard"}, args...)...).Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("go list: %s", exit.Stderr)
		}
		t.Fatal(err)
	}
	var all []goPackage
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p goPackage
		if err := dec.Decode(&p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func TestDirectionOfDependence(t *testing.T) {
	standard := make(map[string]bool)
	for _, p := range list(t, "std") {
		standard[p.ImportPath] = true
	}
	ours := list(t, "./...")
	if len(ours) < 10 {
		t.Fatalf("only %d packages are listed", len(ours))
	}
	for _, p := range ours {
		if p.Name == "main" && p.ImportPath != module {
			continue // tools and generators
		}
		i := slices.IndexFunc(mayImport, func(l layer) bool { return l.pkg == p.ImportPath })
		if i < 0 {
			t.Errorf("%s has no place in the direction of dependence", p.ImportPath)
			continue
		}
		for _, dep := range p.Imports {
			if !standard[dep] && dep != "C" && !allowed(dep, mayImport[i].allows) {
				t.Errorf("%s imports %s: %s", p.ImportPath, dep, mayImport[i].why)
			}
		}
	}
}

func allowed(dep string, patterns []string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		below, all := strings.CutSuffix(p, "...")
		return dep == p || all && strings.HasPrefix(dep, below)
	})
}
