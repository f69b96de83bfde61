package formats

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"

	"ckpt/pytree"
)

// Output is a file being written from its begin to its end. Small pieces are
// buffered; the bytes of a [pytree.Ranged] source in a file go from file to
// file within the kernel where the system can do that.
type Output struct {
	ctx      context.Context
	w        io.Writer
	file     *os.File // w, if it is a file
	buf      *bufio.Writer
	off      int64
	progress func(int64)
	chunk    []byte
}

// NewOutput writes to w. Progress, if not nil, is told of each run of bytes.
func NewOutput(ctx context.Context, w io.Writer, progress func(n int64)) *Output {
	o := &Output{ctx: ctx, w: w, buf: bufio.NewWriterSize(w, 256<<10), progress: progress}
	o.file, _ = w.(*os.File)
	if o.progress == nil {
		o.progress = func(int64) {}
	}
	return o
}

// Offset is how many bytes have been written.
func (o *Output) Offset() int64 { return o.off }

// Write appends p.
func (o *Output) Write(p []byte) (int, error) {
	n, err := o.buf.Write(p)
	o.off += int64(n)
	o.progress(int64(n))
	return n, err
}

// Flush hands everything to the file.
func (o *Output) Flush() error { return o.buf.Flush() }

// copyChunk is how much is copied, and checked, between two looks at the
// context and the progress bar.
const copyChunk = 8 << 20

// Copy appends the bytes of src and gives their CRC-32. Where src records one
// the two must agree.
func (o *Output) Copy(src pytree.Source) (crc uint32, err error) {
	if r, ok := src.(pytree.Ranged); ok && o.file != nil && src.Size() >= 64<<10 {
		if at, off := r.Range(); at != nil {
			if f, base, ok := fileOf(at); ok {
				crc, err = o.copyRange(f, base+off, src.Size())
				return crc, checkCRC(src, crc, err)
			}
		}
	}
	crc, err = o.copyStream(src)
	return crc, checkCRC(src, crc, err)
}

// fileOf finds the file below nested section readers.
func fileOf(r io.ReaderAt) (f *os.File, off int64, ok bool) {
	for {
		switch s := r.(type) {
		case *os.File:
			return s, off, true
		case *io.SectionReader:
			outer, base, _ := s.Outer()
			r, off = outer, off+base
		default:
			return nil, 0, false
		}
	}
}

func checkCRC(src pytree.Source, crc uint32, err error) error {
	if err != nil {
		return err
	}
	if c, ok := src.(pytree.Checksummed); ok && c.CRC32() != crc {
		return &ChecksumError{Want: c.CRC32(), Got: crc}
	}
	return nil
}

// ChecksumError says that bytes are not those that their checksum is of.
type ChecksumError struct{ Want, Got uint32 }

func (e *ChecksumError) Error() string {
	return fmt.Sprintf("crc-32 is %08x but %08x is recorded: the bytes are corrupt", e.Got, e.Want)
}

func (o *Output) copyStream(src pytree.Source) (crc uint32, err error) {
	rc, err := src.Open()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, rc.Close()) }()
	if o.chunk == nil {
		o.chunk = make([]byte, 256<<10)
	}
	for left := src.Size(); left > 0; {
		if err := o.ctx.Err(); err != nil {
			return 0, err
		}
		n, err := io.ReadFull(rc, o.chunk[:min(left, int64(len(o.chunk)))])
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			return 0, fmt.Errorf("%d bytes missing: %w", left-int64(n), io.ErrUnexpectedEOF)
		}
		if err != nil {
			return 0, err
		}
		crc = crc32.Update(crc, crc32.IEEETable, o.chunk[:n])
		if _, err := o.Write(o.chunk[:n]); err != nil {
			return 0, err
		}
		left -= int64(n)
	}
	return crc, nil
}

// copyRange copies n bytes of f from off file to file. The bytes are read
// beside the copy, on another core, for their checksum only.
func (o *Output) copyRange(f *os.File, off, n int64) (uint32, error) {
	if err := o.buf.Flush(); err != nil {
		return 0, err
	}
	sum := make(chan rangeSum, 1)
	ctx, cancel := context.WithCancel(o.ctx)
	defer cancel()
	go func() { sum <- sumRange(ctx, f, off, n) }()
	for done := int64(0); done < n; {
		if err := o.ctx.Err(); err != nil {
			return 0, err
		}
		m := min(n-done, copyChunk)
		if err := copyFileRange(o.file, f, off+done, m); err != nil {
			cancel()
			<-sum
			return 0, err
		}
		done += m
		o.off += m
		o.progress(m)
	}
	s := <-sum
	return s.crc, s.err
}

type rangeSum struct {
	crc uint32
	err error
}

// sumBlock is how many bytes are read at a time for a checksum: few enough to stay
// in a core's own cache between the copy out of the kernel and the sum.
const sumBlock = 128 << 10

func sumRange(ctx context.Context, r io.ReaderAt, off, n int64) rangeSum {
	buf := make([]byte, min(n, sumBlock))
	var crc uint32
	for n > 0 && ctx.Err() == nil {
		b := buf[:min(n, int64(len(buf)))]
		m, err := r.ReadAt(b, off)
		if m < len(b) {
			return rangeSum{err: fmt.Errorf("%d bytes missing at byte %d: %w", len(b)-m, off, errors.Join(io.ErrUnexpectedEOF, err))}
		}
		crc = crc32.Update(crc, crc32.IEEETable, b)
		off += int64(m)
		n -= int64(m)
	}
	return rangeSum{crc: crc, err: ctx.Err()}
}

// copyPlain appends n bytes of src from off to dst through memory.
func copyPlain(dst *os.File, src io.ReaderAt, off, n int64) error {
	buf := make([]byte, min(n, sumBlock))
	m, err := io.CopyBuffer(struct{ io.Writer }{dst}, io.NewSectionReader(src, off, n), buf)
	if err == nil && m < n {
		err = fmt.Errorf("%d bytes missing at byte %d: %w", n-m, off+m, io.ErrUnexpectedEOF)
	}
	return err
}
