package aql

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/aqltag/aqltag/runtime/words"
)

// Progress is how much of a request is done (MCP integration §5.3).
type Progress struct {
	Done    float64 // greater each time
	Total   float64 // zero: unknown
	Message string  // for people; empty: none
}

type progressKey struct{}

// WithProgress returns a context with which one Session.Call reports progress. The reports come one after the other, at
// most ten a second, while the call runs; report must not block it (MCP integration §5.1).
func WithProgress(ctx context.Context, report func(Progress)) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

// ReportProgress tells the client how much is done of the request that ctx, the handler's context, belongs to, if the
// client asked for it: done of total, and what is being done. total is zero where it is unknown. It may be called as
// often as there is news, and from several goroutines: a report is dropped that comes within a tenth of a second of the
// one before, or is not greater, and all are once the handler has returned. The message is dropped where it fails the
// protocol's leak check.
//
// The client sees a scale of 100, of which the handler has the part from 10 to 90 (MCP integration §5.4); in a batch,
// the number of operations. An unknown total is seen as it is, and not in a batch.
func ReportProgress(ctx context.Context, done, total int, message string) {
	h, ok := ctx.Value(handlingKey{}).(*handling)
	if !ok {
		return
	}
	h.warnings.mutex.Lock()
	defer h.warnings.mutex.Unlock()
	if h.warnings.closed {
		return
	}
	if h.progress == nil {
		h.progress = progressOf(h.Context)
	}
	if h.progress != nil {
		h.progress.ofHandler(done, total, message)
	}
}

// The parts of a call that the handler does not report (MCP integration §5.4).
const (
	handlerBegins = 10
	handlerEnds   = 90
	completed     = 100
)

const (
	// progressInterval is the least time between two reports.
	progressInterval = time.Second / 10
	// longestProgress is the length of a message in characters, for words.Clip.
	longestProgress = 200
)

// progress reports the progress of one call.
type progress struct {
	report func(Progress)
	mutex  sync.Mutex
	last   float64 // negative: nothing was reported
	when   time.Time
	// Of a batch: its items, and how many of them are done. Zero: the call is no batch.
	items, done int
	endless     bool // a total was unknown
}

// progressOf returns what reports the progress of the call that ctx belongs to; nil: nobody asked for it.
func progressOf(ctx context.Context) *progress {
	switch asked := ctx.Value(progressKey{}).(type) {
	case *progress:
		return asked
	case func(Progress):
		if asked != nil {
			return &progress{report: asked, last: -1}
		}
	}
	return nil
}

// ofHandler reports the progress of a handler.
func (p *progress) ofHandler(done, total int, message string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if total <= 0 {
		p.endless = true
		if p.items == 0 {
			p.send(Progress{Done: float64(done), Message: message}, false)
		}
		return
	}
	scale := handlerBegins + (handlerEnds-handlerBegins)*float64(min(max(done, 0), total))/float64(total)
	if p.items > 0 {
		p.send(Progress{Done: float64(p.done) + scale/completed, Total: float64(p.items), Message: message}, false)
		return
	}
	p.send(Progress{Done: scale, Total: completed, Message: message}, false)
}

// complete reports that an operation is done after all that its handler has reported.
func (p *progress) complete() {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	if p.items == 0 && p.last >= 0 && !p.endless {
		p.send(Progress{Done: completed, Total: completed}, true)
	}
}

// itemDone reports that an item of a batch is done.
func (p *progress) itemDone(operation, what string) {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.done++
	message := "'" + operation + "' " + what + ", " + strconv.Itoa(p.done) + " of " + strconv.Itoa(p.items)
	p.send(Progress{Done: float64(p.done), Total: float64(p.items), Message: message}, p.done == p.items)
}

// send passes a report on, unless it is too early for it. The last one never is.
func (p *progress) send(report Progress, last bool) {
	now := time.Now()
	if report.Done <= p.last || !last && p.last >= 0 && now.Sub(p.when) < progressInterval {
		return
	}
	p.last, p.when = report.Done, now
	report.Message = words.Clip(report.Message, longestProgress)
	if _, part := words.Leak(report.Message); part != "" {
		report.Message = ""
	}
	p.tell(report)
}

// tell passes a report to whoever asked for it. One that panics is lost.
func (p *progress) tell(report Progress) {
	defer func() { _ = recover() }()
	p.report(report)
}
