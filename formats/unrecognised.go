package formats

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
)

// signatures are files that turn up where a checkpoint was expected.
var signatures = []struct{ magic, name string }{
	{"\x1f\x8b", "a gzip file"},
	{"\x28\xb5\x2f\xfd", "a Zstandard file"},
	{"BZh", "a bzip2 file"},
	{"\xfd7zXZ\x00", "an xz file"},
	{"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"},
	{"Rar!\x1a\x07", "a RAR archive"},
	{"\x89HDF\r\n\x1a\n", "an HDF5 file (Keras)"},
	{"GGUF", "a GGUF file"},
	{"\x93NUMPY", "a NumPy .npy file"},
	{"ARROW1", "an Arrow file"},
	{"PAR1", "a Parquet file"},
	{"\x7fELF", "a program (ELF)"},
	{"%PDF", "a PDF document"},
	{"\x89PNG", "a PNG picture"},
	{"SQLite format 3", "an SQLite database"},
}

var lfsSize = regexp.MustCompile(`(?m)^size (\d+)$`)

// Unrecognised is the error for bytes that no format claims: it names what they
// are where that can be told.
func Unrecognised(r io.ReaderAt, size int64) error {
	if size == 0 {
		return errors.New("the file is empty (0 bytes)")
	}
	head := make([]byte, min(size, 1024))
	if n, err := r.ReadAt(head, 0); int64(n) < int64(len(head)) {
		return fmt.Errorf("read the first %d bytes: %w", len(head), err)
	}
	if bytes.HasPrefix(head, []byte("version https://git-lfs.github.com/spec/")) {
		err := errors.New("this is a Git LFS pointer, not the checkpoint")
		if m := lfsSize.FindSubmatch(head); m != nil {
			err = fmt.Errorf("%w, which has %s bytes", err, m[1])
		}
		return WithHint(err, "fetch the file itself with `git lfs pull`")
	}
	text := bytes.ToLower(bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xef\xbb\xbf")), " \t\r\n"))
	for _, tag := range []string{"<!doctype html", "<html", "<head", "<?xml"} {
		if bytes.HasPrefix(text, []byte(tag)) {
			return WithHint(errors.New("this is an HTML or XML page, not a checkpoint"),
				"a download that needs a login or a redirect often saves the web page instead of the file")
		}
	}
	for _, s := range signatures {
		if bytes.HasPrefix(head, []byte(s.magic)) {
			return fmt.Errorf("this is %s, which ckpt does not read", s.name)
		}
	}
	if len(bytes.Trim(head, "\x00")) == 0 {
		return WithHint(fmt.Errorf("the first %d bytes are all zero: not a checkpoint", len(head)),
			"the file was probably preallocated and never written, or its blocks were lost")
	}
	return WithHint(fmt.Errorf("no format recognises this file; it begins with %s", strconv.QuoteToASCII(string(head[:min(len(head), 16)]))),
		"`ckpt formats` lists what can be read, `--as FORMAT` overrides the detection")
}
