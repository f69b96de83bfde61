package pytree

import "math"

// Stats describes a tensor's values. Min, Max, Mean and Std are over the finite
// values and NaN where there are none; Std is the population's, and +Inf where
// the squares of float64 values overflow. All four are NaN also for complex
// types, of which only the counts are taken. They are computed in float64, so
// those of 64-bit integers are rounded.
type Stats struct {
	Min, Max, Mean, Std float64
	// Zeros, NaN and Inf count elements. A complex one is NaN if either part is,
	// else infinite if either part is, and zero if both parts are.
	Zeros, NaN, Inf int64
	// Finite counts the elements that the first four describe.
	Finite int64
}

// decodeBlock is how many values are decoded before they are summed up.
const decodeBlock = 4096

// accumulator sums up a stream of elements. Mean and deviation are taken block
// by block around the block's own mean and merged (Chan et al. 1979), which
// loses nothing to cancellation.
type accumulator struct {
	decode  func(dst []float64, src []byte)
	size    int // bytes a decoded value
	complex bool
	vals    [decodeBlock]float64
	s       Stats
	m2      float64
}

// reset makes a ready for a tensor of type d. It reports whether those are
// numbers.
func (a *accumulator) reset(d DType) bool {
	a.complex = d.IsComplex()
	if a.complex {
		d = map[DType]DType{Complex32: Float16, Complex64: Float32, Complex128: Float64}[d]
	}
	a.decode, a.size = decoders[d], d.Size()
	a.s = Stats{Min: math.Inf(1), Max: math.Inf(-1)}
	a.m2 = 0
	return a.decode != nil
}

// add takes whole elements.
func (a *accumulator) add(b []byte) {
	for len(b) >= a.size {
		n := min(len(b)/a.size, decodeBlock)
		vals := a.vals[:n]
		a.decode(vals, b[:n*a.size])
		b = b[n*a.size:]
		if a.complex {
			a.count(vals)
		} else {
			a.block(vals)
		}
	}
}

// count takes the counts of complex values, given as pairs.
func (a *accumulator) count(vals []float64) {
	for i := 0; i+1 < len(vals); i += 2 {
		re, im := vals[i], vals[i+1]
		switch {
		case math.IsNaN(re) || math.IsNaN(im):
			a.s.NaN++
		case math.IsInf(re, 0) || math.IsInf(im, 0):
			a.s.Inf++
		case re == 0 && im == 0:
			a.s.Zeros++
		}
	}
}

// block adds decoded values.
func (a *accumulator) block(vals []float64) {
	lo, hi, sum, zeros := summary(vals)
	if sum-sum != 0 { // not all are finite, or their sum is not
		vals = a.finite(vals)
		if len(vals) == 0 {
			return
		}
		lo, hi, sum, zeros = summary(vals)
	}
	n := float64(len(vals))
	mean := sum / n
	if math.IsInf(sum, 0) || sum != sum {
		mean = 0
		for _, v := range vals {
			mean += v / n
		}
	}
	mean = min(max(mean, lo), hi) // rounding must not give a constant a deviation
	a.s.Min, a.s.Max = min(a.s.Min, lo), max(a.s.Max, hi)
	a.s.Zeros += zeros
	a.merge(n, mean, deviation(vals, mean))
}

// summary is least, greatest, sum and number of zeros. Where there are values
// that are not finite, neither is the sum. Four sums at once keep the processor
// from waiting for each addition.
func summary(vals []float64) (lo, hi, sum float64, zeros int64) {
	var s0, s1, s2, s3 float64
	lo, hi = math.Inf(1), math.Inf(-1)
	for _, v := range vals {
		if v < lo {
			lo = v
		}
		if v > hi {
			hi = v
		}
		if v == 0 {
			zeros++
		}
	}
	for ; len(vals) >= 4; vals = vals[4:] {
		s0, s1, s2, s3 = s0+vals[0], s1+vals[1], s2+vals[2], s3+vals[3]
	}
	for _, v := range vals {
		s0 += v
	}
	return lo, hi, (s0 + s1) + (s2 + s3), zeros
}

// deviation is the sum of the squared distances from mean.
func deviation(vals []float64, mean float64) float64 {
	var s0, s1, s2, s3 float64
	for ; len(vals) >= 4; vals = vals[4:] {
		d0, d1, d2, d3 := vals[0]-mean, vals[1]-mean, vals[2]-mean, vals[3]-mean
		s0, s1, s2, s3 = s0+d0*d0, s1+d1*d1, s2+d2*d2, s3+d3*d3
	}
	for _, v := range vals {
		s0 += (v - mean) * (v - mean)
	}
	return (s0 + s1) + (s2 + s3)
}

// finite counts the values that are not finite and moves the others together.
func (a *accumulator) finite(vals []float64) []float64 {
	kept := vals[:0]
	for _, v := range vals {
		switch {
		case v-v == 0:
			kept = append(kept, v)
		case v != v:
			a.s.NaN++
		default:
			a.s.Inf++
		}
	}
	return kept
}

// merge adds n values of the given mean and sum of squared deviations.
func (a *accumulator) merge(n, mean, m2 float64) {
	was := float64(a.s.Finite)
	a.s.Finite += int64(n)
	if was == 0 {
		a.s.Mean, a.m2 = mean, m2
		return
	}
	part := n / (was + n)
	delta := mean - a.s.Mean
	if math.IsInf(delta, 0) {
		a.s.Mean = a.s.Mean*(1-part) + mean*part
	} else {
		a.s.Mean += delta * part
	}
	a.m2 += m2 + delta*delta*(was*part)
}

func (a *accumulator) stats() *Stats {
	s := a.s
	if s.Finite == 0 {
		s.Min, s.Max, s.Mean, s.Std = math.NaN(), math.NaN(), math.NaN(), math.NaN()
		return &s
	}
	s.Mean = min(max(s.Mean, s.Min), s.Max)
	s.Std = math.Sqrt(a.m2 / float64(s.Finite))
	return &s
}
