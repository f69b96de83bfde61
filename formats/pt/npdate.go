package pt

import (
	"fmt"
	"io"
	"math"
	"math/big"
	"strings"
	"time"

	"ckpt/pytree"
)

// perSecond is how many of NumPy's time units make a second, for those that are
// a second or shorter and that a date can be printed in.
var perSecond = map[string]int64{"s": 1, "ms": 1e3, "us": 1e6, "ns": 1e9}

// secondsPer is how many seconds one of the longer units takes.
var secondsPer = map[string]int64{"m": 60, "h": 3600, "D": 86400, "W": 7 * 86400}

// dateValue prints a datetime64 or timedelta64 of n units.
func dateValue(t *npType, n int64) string {
	_, unit, _ := strings.Cut(strings.TrimSuffix(string(t.name), "]"), "[")
	if n == math.MinInt64 {
		return "NaT"
	}
	if t.kind == 'm' {
		return strings.TrimSpace(fmt.Sprintf("%d %s", n, unit))
	}
	const far = 1 << 40 // seconds: beyond any date that people write
	if per, ok := perSecond[unit]; ok {
		sec := new(big.Int).Div(big.NewInt(n), big.NewInt(per)).Int64()
		if sec < far && sec > -far {
			return time.Unix(sec, (n-sec*per)*(1e9/per)).UTC().Format("2006-01-02T15:04:05.999999999")
		}
	}
	if sec, ok := secondsPer[unit]; ok && n < far/sec && n > -far/sec {
		return time.Unix(n*sec, 0).UTC().Format("2006-01-02T15:04:05")
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s", n, unit))
}

// unsigned is n as a scalar's value.
func unsigned(n uint64) any {
	if n > math.MaxInt64 {
		return new(big.Int).SetUint64(n)
	}
	return int64(n)
}

// readAll is the logical bytes of a small tensor.
func readAll(t *pytree.Tensor) ([]byte, error) {
	rc, err := t.Open()
	if err != nil {
		return nil, err
	}
	defer rc.Close()
	return io.ReadAll(rc)
}
