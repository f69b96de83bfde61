package pytree

import "io"

// Signs says which components of a tensor's elements are read with the opposite
// sign. torch keeps a conjugated or negated tensor as a view of the bytes as
// they were; its logical bytes are those of the values that it stands for.
type Signs uint8

const (
	// NegReal negates real numbers, and the real parts of complex ones.
	NegReal Signs = 1 << iota
	// NegImag negates imaginary parts.
	NegImag
)

// signReader flips sign bits in a stream of whole little-endian floats.
type signReader struct {
	io.ReadCloser
	signs Signs
	width int64 // bytes a component
	parts int64 // components an element
	pos   int64
}

func newSigns(rc io.ReadCloser, t *Tensor) io.ReadCloser {
	s := &signReader{ReadCloser: rc, signs: t.Signs, width: int64(t.Size()), parts: 1}
	if t.DType.IsComplex() || t.ItemSize > 0 && len(t.Swap) == 2 {
		s.width, s.parts = s.width/2, 2
	}
	return s
}

func (s *signReader) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	// The sign is the highest bit of a component's last byte.
	for i := (s.width - 1 - s.pos%s.width); i < int64(n); i += s.width {
		part := Signs(1) << ((s.pos + i) / s.width % s.parts)
		if s.signs&part != 0 {
			p[i] ^= 0x80
		}
	}
	s.pos += int64(n)
	return n, err
}
