package pt_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"ckpt/formats"
	"ckpt/formats/all"
	"ckpt/pytree"
)

// badFiles says what comes of each file in testdata/pt/bad.
var badFiles = map[string]struct {
	err, hint string // of opening it
	entries   int    // that are listed, if it opens
	note      string // one of the notes
	read      string // the error of reading its tensors
}{
	// Not a checkpoint at all.
	"empty.pt":              {err: "the file is empty (0 bytes)"},
	"git-lfs-pointer.pt":    {err: "this is a Git LFS pointer, not the checkpoint, which has 437985387 bytes", hint: "git lfs pull"},
	"html-page.pt":          {err: "this is an HTML or XML page, not a checkpoint", hint: "needs a login"},
	"json-error.pt":         {err: `no format recognises this file; it begins with "{\"error\":\"Reposi"`, hint: "ckpt formats"},
	"wrong-magic.pt":        {err: `it begins with "\x00\x01\x02\x03 nothing tha"`, hint: "--as FORMAT"},
	"zeros.pt":              {err: "the first 1024 bytes are all zero: not a checkpoint", hint: "preallocated"},
	"npz.pt":                {err: `not a PyTorch checkpoint: no member is named ROOT/data.pkl; there are "a.npy"`, hint: "unpacked first"},
	"gzip.pt":               {err: "this is a gzip file, which ckpt does not read"},
	"legacy-wrong-magic.pt": {err: "the file begins with the number 119547037146038801333357, as legacy PyTorch files do, but theirs is 119547037146038801333356"},

	// Cut off or damaged.
	"truncated-zip.pt":           {err: "zip: no end of central directory: the file ends at byte 1679, and 2 of 2 storages are whole", hint: "download it again"},
	"truncated-zip-data.pt":      {err: "the file ends at byte 878, and 1 of 2 storages are whole", hint: "download it again"},
	"truncated-legacy.pt":        {err: "the file ends at byte 505; 1 of 2 storages are whole", hint: "download it again"},
	"truncated-legacy-pickle.pt": {err: "object: pickle: byte 179: GLOBAL: the pickle ends early", hint: "truncated"},
	"truncated-tar.pt":           {err: `tar: member "storages": the file ends at byte 2600, 106 bytes before its end`, hint: "truncated"},
	"trailing-garbage.pt":        {entries: 3, note: "28 bytes after the last storage are not read"},
	"bad-crc.pt":                 {entries: 3, read: `member "archive/data/0": crc-32 is 8dc13367 but 91e79017 is recorded: the bytes are corrupt`, hint: "damaged after it was written"},
	"bad-crc-pickle.pt":          {err: `member "archive/data.pkl": crc-32 is 3469240d but a5a938c5 is recorded`, hint: "damaged after it was written"},

	// Archives that lie.
	"missing-storage.pt":          {err: `1 of 2 storages are missing: "1"`, hint: "incomplete"},
	"missing-pickle.pt":           {err: "no member is named ROOT/data.pkl; there are ", hint: "unpacked first"},
	"short-storage.pt":            {err: `w: torch._utils._rebuild_tensor_v2 at byte 165 of the pickle: storage "0" takes 24 bytes, its member has 20`},
	"long-storage.pt":             {entries: 3, note: `storage "0" takes 24 of 32`},
	"unknown-byteorder.pt":        {err: `member "archive/byteorder": byte order "middle" is neither "little" nor "big"`},
	"duplicate-members.pt":        {err: `zip: two members are named "archive/data/0"`},
	"duplicate-pickle.pt":         {err: `zip: two members are named "archive/data.pkl"`},
	"member-traversal.pt":         {entries: 1, note: `named for places outside the archive's folder, where other programs may unpack them: "archive/data/../../../../tmp/x"`},
	"two-roots.pt":                {err: `which of its pickles is the checkpoint is not clear: "a/data.pkl", "b/data.pkl"`},
	"header-disagrees.pt":         {entries: 3, read: `member "archive/data/0": the local header at byte 662 is that of "archive/data/9"`},
	"member-beyond-end.pt":        {err: `zip: member "archive/data/1" with its 2147483647 bytes from byte 808 overlaps member "archive/version" at byte 928`},
	"member-offset-beyond-end.pt": {err: `zip: member "archive/data/1" begins at byte 2147483647, beyond the central directory at byte 1208`},
	"overlapping-members.pt":      {err: `zip: member "archive/data/0" with its 24 bytes from byte 662 overlaps member "archive/data/1" at byte 662`},
	"encrypted.pt":                {err: `member "archive/data.pkl": it is encrypted`},
	"unknown-method.pt":           {err: `member "archive/data/0": compression method 99 is not supported`},
	"deflate-lies.pt":             {err: `member "archive/data.pkl": 198 compressed bytes cannot hold the 1099511627776 that are announced`},
	"directory-lies.pt":           {err: "zip: the end records disagree on the number of members: 65000 and 8"},

	// Tensors that do not fit.
	"negative-size.pt":          {err: `w: torch._utils._rebuild_tensor_v2 at byte 155 of the pickle: storage "0": shape [-2,3] has a negative dimension`},
	"negative-stride.pt":        {err: "torch has no negative ones"},
	"negative-offset.pt":        {err: `storage "0": offset -1 is negative`},
	"size-overflow.pt":          {err: "shape [1099511627776,1099511627776] overflows"},
	"stride-overflow.pt":        {err: "offset and strides overflow"},
	"beyond-storage.pt":         {err: "view of elements 0 to 7 reaches outside its storage, which holds 6 (24 bytes)"},
	"huge-expanded.pt":          {entries: 1, read: "4611686018427387904 logical bytes: expands to far more bytes than are stored"},
	"rank-mismatch.pt":          {err: "shape [2,3] has 2 dimensions but 1 strides are given"},
	"numel-lies.pt":             {err: "2305843009213693952 elements overflow"},
	"numel-negative.pt":         {err: "key, location and number of elements expected, not '0', 'cpu', -6"},
	"numel-text.pt":             {err: "key, location and number of elements expected, not '0', 'cpu', '6'"},
	"storage-class.pt":          {err: "numpy.ndarray is not a storage class"},
	"storage-tag.pt":            {err: "storage expected, not 'stirage'"},
	"persistent-id-text.pt":     {err: "a tuple of 5 or 6 items expected"},
	"persistent-id-short.pt":    {err: "a tuple of 5 or 6 items expected"},
	"offset-huge.pt":            {err: "the offset must be an integer, not 1180591620717411303424"},
	"legacy-numel-lies.pt":      {err: "holds 1152921504606846976 elements, the object says 4"},
	"legacy-numel-disagrees.pt": {err: "holds 3 elements, the object says 4"},
	"numpy-short.pt":            {err: "a: numpy._core.multiarray._reconstruct at byte 82 of the pickle: float32 [6]: 24 bytes expected, there are 20"},
	"numpy-negative-shape.pt":   {err: "shape [-6] is negative or overflows"},
	"rebuild-arguments.pt":      {err: "6 or 7 arguments expected, not 1"},

	// Pickles that swell, or are none.
	"length-bomb.pt":        {err: "pickle: byte 2: BINBYTES8: 68719476736 bytes are announced but 1 remain"},
	"length-bomb-zip.pt":    {err: "data.pkl: pickle: byte 2: BINBYTES8: 68719476736 bytes are announced but 1 remain"},
	"shared-graph.pt":       {entries: 101},
	"shared-graph-lists.pt": {entries: 101},
	"shared-graph-bare.pt":  {entries: 101},
	"billion-tuple.pt":      {entries: 82},
	"deep-nesting.pt":       {err: "nested deeper than 1000 levels"},
	"deep-key.pt":           {err: "nested deeper than 1000 levels"},
	"memo-missing.pt":       {err: "data.pkl: pickle: byte 2: BINGET: memo entry 9 does not exist"},
	"memo-huge.pt":          {entries: 1},
	"unknown-opcode.pt":     {err: "byte 0xff is not an opcode"},
	"no-stop.pt":            {err: "the pickle ends early"},
	"stack-underflow.pt":    {err: "POP: takes more values than the stack has"},
	"mark-missing.pt":       {err: "TUPLE: there is no MARK"},
	"protocol-6.pt":         {err: "protocol 6 is not known (the newest is 5)"},
	"unhashable-key.pt":     {err: "SETITEM: a list cannot be a key"},
	"odd-items.pt":          {err: "SETITEMS: a key has no value"},
	"bad-utf8.pt":           {err: `BINUNICODE: the text "\xff\xfe" is not UTF-8`},

	// Calls, which nobody makes.
	"os-system.pt":      {entries: 1},
	"nested-eval.pt":    {entries: 1},
	"metadata-cycle.pt": {entries: 1},
}

func TestBadFiles(t *testing.T) {
	dir := filepath.Join(samples, "bad")
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != len(badFiles) {
		t.Errorf("%d files in %s, %d in the table", len(files), dir, len(badFiles))
	}
	for _, f := range files {
		want, ok := badFiles[f.Name()]
		if !ok {
			t.Errorf("%s is not in the table", f.Name())
			continue
		}
		data, err := os.ReadFile(filepath.Join(dir, f.Name()))
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		c, err := all.Formats.Open(bytes.NewReader(data), int64(len(data)), "")
		var got result
		if err == nil {
			got = summary(c)
		}
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 100<<20 {
			t.Errorf("%s: allocates %d MiB", f.Name(), n>>20)
		}
		if took > 5*time.Second {
			t.Errorf("%s: takes %v", f.Name(), took)
		}
		if want.err != "" {
			if err == nil || !strings.Contains(err.Error(), want.err) {
				t.Errorf("%s: error %v\n\twant %s", f.Name(), err, want.err)
			}
			checkHint(t, f.Name(), err, want.hint)
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", f.Name(), err)
			continue
		}
		if got.entries != want.entries {
			t.Errorf("%s: %d entries, want %d", f.Name(), got.entries, want.entries)
		}
		if notes := strings.Join(c.Notes, "\n"); !strings.Contains(notes, want.note) || want.note == "" && notes != "" {
			t.Errorf("%s: notes %q, want %q", f.Name(), notes, want.note)
		}
		if (got.err == nil) != (want.read == "") || got.err != nil && !strings.Contains(got.err.Error(), want.read) {
			t.Errorf("%s: reading the tensors: error %v, want %q", f.Name(), got.err, want.read)
		}
		checkHint(t, f.Name(), got.err, want.hint)
	}
}

func checkHint(t *testing.T, name string, err error, want string) {
	t.Helper()
	if hint := formats.Hint(err); !strings.Contains(hint, want) || want == "" && hint != "" {
		t.Errorf("%s: hint %q, want %q", name, hint, want)
	}
}

// result is what listing a checkpoint and reading its tensors gave.
type result struct {
	entries int
	err     error
}

func summary(c *formats.Checkpoint) result {
	var r result
	var tensors []*pytree.Tensor
	for _, n := range c.Tree.Entries() {
		r.entries++
		if x, ok := n.(*pytree.Tensor); ok {
			tensors = append(tensors, x)
		}
	}
	for _, e := range pytree.Examine(context.Background(), tensors, pytree.ExamOptions{Digest: true}) {
		if e.Err != nil && r.err == nil {
			r.err = e.Err
		}
	}
	return r
}
