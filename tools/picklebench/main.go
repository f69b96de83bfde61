// Command picklebench times the pickle machine on one file:
//
//	picklebench FILE RUNS
//
// It prints the median and least seconds of a read. tools/performance.py sets it
// beside CPython's C unpickler on the same bytes.
package main

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"time"

	"ckpt/pickle"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "picklebench:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 2 {
		return fmt.Errorf("usage: picklebench FILE RUNS")
	}
	n, err := strconv.Atoi(args[1])
	if err != nil || n < 1 {
		return fmt.Errorf("%q is not a number of runs", args[1])
	}
	f, err := os.Open(args[0])
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	var times []float64
	for range n + 1 { // the first run warms up
		begin := time.Now()
		if _, err := pickle.Read(f, 0, info.Size()); err != nil {
			return err
		}
		times = append(times, time.Since(begin).Seconds())
	}
	times = times[1:]
	slices.Sort(times)
	fmt.Println(times[len(times)/2], times[0])
	return nil
}
