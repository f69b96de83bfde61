package formattest

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// goldenName is the file beside the samples that tells what they hold. Samples
// that hold the same share a section.
const goldenName = "golden.txt"

// testGolden compares what each sample holds with the golden file, so that no
// wrong shape, dtype, value or order can pass for right.
func (s *suite) testGolden(t *testing.T) {
	path := filepath.Join(s.opt.Samples, goldenName)
	listings := make(map[string]string)
	for _, x := range s.samples {
		lines, err := list(s.mustRead(t, x), withLayout)
		if err != nil {
			t.Errorf("%s: %v", x.name, err)
			continue
		}
		listings[x.name] = strings.Join(lines, "\n")
	}
	if *update {
		if err := os.WriteFile(path, s.golden(listings), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test -update writes it)", err)
	}
	golden := parseGolden(b)
	for name, got := range listings {
		want, ok := golden[name]
		if !ok {
			t.Errorf("%s is not in %s", name, path)
			continue
		}
		if d := difference(strings.Split(want, "\n"), strings.Split(got, "\n")); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		delete(golden, name)
	}
	for name := range golden {
		t.Errorf("%s has %s, which is no sample", path, name)
	}
}

// golden is the golden file: sections of lines, each below the names of the
// samples that it is of.
func (s *suite) golden(listings map[string]string) []byte {
	var b bytes.Buffer
	b.WriteString("# What each sample holds. Written by go test -update, and to be read when it changes.\n")
	written := make(map[string]bool)
	for _, x := range s.samples {
		text, ok := listings[x.name]
		if !ok || written[text] {
			continue
		}
		written[text] = true
		b.WriteByte('\n')
		for _, y := range s.samples {
			if other, ok := listings[y.name]; ok && other == text {
				b.WriteString("= " + y.name + "\n")
			}
		}
		b.WriteString(text + "\n")
	}
	return b.Bytes()
}

func parseGolden(b []byte) map[string]string {
	sections := make(map[string]string)
	for section := range strings.SplitSeq(string(b), "\n\n") {
		var names []string
		for {
			name, rest, _ := strings.Cut(section, "\n")
			name, ok := strings.CutPrefix(name, "= ")
			if !ok {
				break
			}
			names, section = append(names, name), rest
		}
		for _, name := range names {
			sections[name] = strings.TrimSuffix(section, "\n")
		}
	}
	return sections
}
