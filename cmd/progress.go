package cmd

import (
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
)

// progressDelay is how long work may take before a bar is worth it.
const progressDelay = 500 * time.Millisecond

// bar shows progress on stderr if somebody watches.
type bar struct {
	a    *app
	what string
	bar  *progressbar.ProgressBar
}

func (a *app) newBar(what string) *bar { return &bar{a: a, what: what} }

// start begins a bar of total bytes. The function that it returns may be called
// from several goroutines; it is nil if nobody watches.
func (b *bar) start(total int64) func(n int64) {
	if !isTerminal(b.a.err) || total <= 0 {
		return nil
	}
	b.bar = progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(b.a.err),
		progressbar.OptionSetDescription(b.what),
		progressbar.OptionShowBytes(true), progressbar.OptionUseIECUnits(true), progressbar.OptionShowTotalBytes(true),
		progressbar.OptionSetPredictTime(true), progressbar.OptionSetWidth(24),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionClearOnFinish(),
	)
	b.bar.StartWithoutRender()
	begin := time.Now()
	var done atomic.Int64
	return func(n int64) {
		// More than the total is possible where that is an estimate.
		if now := done.Add(n); now < total && time.Since(begin) > progressDelay {
			_ = b.bar.Set64(now) // a bar that cannot be drawn is no reason to stop
		}
	}
}

// stop removes the bar from the terminal.
func (b *bar) stop() {
	if b.bar != nil && b.bar.IsStarted() {
		_ = b.bar.Clear()
	}
}
