package formattest

import (
	"hash/fnv"
	"math/rand/v2"
)

// random is numbers that are the same in every run.
type random struct{ *rand.Rand }

func newRandom(seed string) random {
	h := fnv.New64a()
	h.Write([]byte(seed))
	return random{rand.New(rand.NewPCG(h.Sum64(), 0))}
}

func (r random) fill(p []byte) {
	for i := range p {
		p[i] = byte(r.Uint32())
	}
}
