package pt

import (
	"errors"
	"io"

	"ckpt/pickle"
	"ckpt/pytree"
)

// byteSource is a long text or bytes that stands for bytes.
type byteSource struct {
	blob *pickle.Blob
	text bool
	size int64
}

func (s byteSource) Size() int64 { return s.size }

func (s byteSource) Open() (io.ReadCloser, error) {
	open := s.blob.OpenBytes
	if s.text {
		open = s.blob.OpenLatin1
	}
	rc := open()
	return &endingReader{pytree.Exactly(rc, s.size), rc}, nil
}

// endingReader is a reader of a known number of bytes over one that must end
// there.
type endingReader struct {
	io.Reader
	rc io.ReadCloser
}

func (e *endingReader) Close() error { return e.rc.Close() }

func (e *endingReader) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	if err == io.EOF {
		if m, _ := io.ReadFull(e.rc, make([]byte, 1)); m > 0 {
			return n, errors.New("more bytes than the array takes")
		}
	}
	return n, err
}

// newByteSource is the source of a long value that stands for size bytes.
func newByteSource(o *pickle.Object, size int64) (pytree.Source, error) {
	blob := o.Blob()
	text := o.Kind == pickle.LongText
	if !text && blob.Encoding == pickle.Plain {
		return pytree.Section{R: blob.R, Off: blob.Off, N: blob.Len}, nil
	}
	s := byteSource{blob, text, size}
	if size >= 0 {
		return s, nil
	}
	n, err := countBytes(s)
	s.size = n
	return s, err
}

// newBlobSource is the source of a long value as it stands: text as UTF-8.
func newBlobSource(o *pickle.Object) (pytree.Source, error) {
	blob := o.Blob()
	if blob.Encoding == pickle.Plain {
		return pytree.Section{R: blob.R, Off: blob.Off, N: blob.Len}, nil
	}
	if o.Kind != pickle.LongText {
		return newByteSource(o, -1)
	}
	rc := blob.OpenUTF8()
	defer rc.Close()
	n, err := io.Copy(io.Discard, rc)
	return utf8Source{blob, n}, err
}

type utf8Source struct {
	blob *pickle.Blob
	size int64
}

func (s utf8Source) Size() int64                  { return s.size }
func (s utf8Source) Open() (io.ReadCloser, error) { return s.blob.OpenUTF8(), nil }

func countBytes(s byteSource) (int64, error) {
	open := s.blob.OpenBytes
	if s.text {
		open = s.blob.OpenLatin1
	}
	rc := open()
	defer rc.Close()
	return io.Copy(io.Discard, rc)
}
