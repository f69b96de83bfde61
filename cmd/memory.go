package cmd

import (
	"os"
	"runtime/debug"
)

// gcPercent trades a little time for memory: structure is small beside tensors,
// and garbage that stays is what would make the program big.
const gcPercent = 50

// limitMemory sets how eagerly memory is given back, unless the user did.
func limitMemory() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
}
