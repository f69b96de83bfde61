package pickle

// The stack is one slice for speed. What a hostile pickle piles up beyond
// stackTop is moved away in chunks, so that a deep stack costs its own size in
// memory and not, through growing and copying, several times that.
const (
	stackTop   = 32 << 10
	stackChunk = stackTop / 2
)

type stack struct {
	top    []Value   // the upper part
	fence  int       // where in top the values above the latest mark begin
	marks  []int     // depths at which MARK was executed
	spilt  [][]Value // what lies below top, in chunks of stackChunk
	hidden int       // how many values that is
}

func (s *stack) depth() int { return s.hidden + len(s.top) }

func (s *stack) push(v Value) {
	n := len(s.top)
	if n == cap(s.top) {
		s.grow()
		n = len(s.top)
	}
	s.top = s.top[:n+1]
	s.top[n] = v
}

// grow makes room for one more value at least.
func (s *stack) grow() {
	if cap(s.top) < stackTop {
		t := make([]Value, len(s.top), max(64, 2*cap(s.top)))
		copy(t, s.top)
		s.top = t
		return
	}
	chunk := make([]Value, stackChunk)
	n := copy(chunk, s.top)
	s.top = s.top[:copy(s.top, s.top[n:])]
	s.spilt = append(s.spilt, chunk)
	s.hidden += n
	s.setFence()
}

// unspill brings one chunk back under top.
func (s *stack) unspill() {
	last := len(s.spilt) - 1
	chunk := s.spilt[last]
	s.spilt[last] = nil
	s.spilt = s.spilt[:last]
	t := make([]Value, stackChunk+len(s.top), max(stackTop, stackChunk+len(s.top)))
	copy(t[copy(t, chunk):], s.top)
	s.top = t
	s.hidden -= stackChunk
	s.setFence()
}

// setFence brings fence up to date after a change of marks or hidden.
func (s *stack) setFence() {
	s.fence = 0
	if n := len(s.marks); n > 0 {
		s.fence = max(0, s.marks[n-1]-s.hidden)
	}
}

// has says whether at least n values lie above the latest mark. They then are
// the end of top.
func (s *stack) has(n int) bool {
	return len(s.top)-s.fence >= n || s.hasBelow(n)
}

func (s *stack) hasBelow(n int) bool {
	floor := 0
	if m := len(s.marks); m > 0 {
		floor = s.marks[m-1]
	}
	for len(s.top)-s.fence < n {
		if s.hidden <= floor {
			return false
		}
		s.unspill()
	}
	return true
}

// pop takes the topmost of the values that has() found.
func (s *stack) pop() Value {
	n := len(s.top) - 1
	v := s.top[n]
	s.top = s.top[:n]
	return v
}

// nth is the n-th value from the top, of those that has() found; nth(1) is the
// topmost.
func (s *stack) nth(n int) *Value { return &s.top[len(s.top)-n] }

// drop forgets the topmost n of the values that has() found.
func (s *stack) drop(n int) { s.top = s.top[:len(s.top)-n] }

func (s *stack) mark() {
	s.marks = append(s.marks, s.depth())
	s.fence = len(s.top)
}

// aboveMark takes the latest mark and the values above it off the stack. The
// values are valid until the next push, unless own is true: then they belong to
// the caller. ok is false if there is no mark.
func (s *stack) aboveMark() (vals []Value, own, ok bool) {
	m := len(s.marks) - 1
	if m < 0 {
		return nil, false, false
	}
	at := s.marks[m]
	s.marks = s.marks[:m]
	if at >= s.hidden {
		vals = s.top[at-s.hidden:]
		s.top = s.top[:at-s.hidden]
	} else {
		vals = make([]Value, s.depth()-at)
		own = true
		rest := vals[:len(vals)-len(s.top)]
		copy(vals[len(rest):], s.top)
		s.top = s.top[:0]
		for len(rest) > 0 {
			last := len(s.spilt) - 1
			chunk := s.spilt[last]
			n := min(len(rest), stackChunk)
			copy(rest[len(rest)-n:], chunk[stackChunk-n:])
			rest = rest[:len(rest)-n]
			s.spilt = s.spilt[:last]
			s.hidden -= stackChunk
			if n < stackChunk { // the mark lies inside this chunk
				s.top = append(s.top, chunk[:stackChunk-n]...)
			}
		}
	}
	s.setFence()
	return vals, own, true
}
