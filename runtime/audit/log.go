package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Overflow is what Log.Write does when the queue is full.
type Overflow int

// The ways to handle a full queue.
const (
	// Block waits until there is space. If the context ends before, Write fails, and what was to be recorded must not
	// happen.
	Block Overflow = iota
	// Refuse fails at once.
	Refuse
	// Drop drops the record, and records the number of dropped records as soon as there is space. With Options.Wait, Drop
	// is Refuse.
	Drop
)

// Options are the options of a Log.
type Options struct {
	// Sinks each receive every record.
	Sinks []Sink
	// Queue is how many records may wait for the sinks; default 1024. Their parameters may have 64 MiB.
	Queue int
	// WhenFull is what Write does when the queue is full; default Block.
	WhenFull Overflow
	// Wait makes Write wait until every sink has stored the record. Records that arrive meanwhile are stored together.
	Wait bool
	// Refusals is how many refusals of a caller for one operation WriteRefusal records in a minute; default 10, negative:
	// all.
	Refusals int
	// Logger receives the failure of a sink, once per outage, and its recovery; nil: slog.Default().
	Logger *slog.Logger
	// Timeout bounds one attempt to write to a sink; default 10 s.
	Timeout time.Duration
	// Now is the clock for records without a time; nil: time.Now.
	Now func() time.Time
}

// The errors of Log.Write, besides ErrClosed. The errors that they wrap are for logs: they may name files and servers.
var (
	ErrFull    = errors.New("the queue of the audit log is full")
	ErrNotKept = errors.New("the audit record is not kept")
)

const (
	defaultQueue   = 1024
	defaultTimeout = 10 * time.Second
	largestBatch   = 256      // records in one write to a sink
	mostQueued     = 64 << 20 // bytes of parameters in the queue
	firstPause     = 50 * time.Millisecond
	longestPause   = 5 * time.Second
)

// Log passes records on to sinks. It is safe for concurrent use. A nil *Log discards records.
//
// When a sink fails, records stay in the queue until it has stored them, while the other sinks go on; the pauses
// between attempts grow from 50 ms to 5 s. With Options.Wait, Write fails then, and its record stays in the queue, too.
// A record may therefore report something as allowed that did not happen because Write failed; nothing happens without
// its record.
type Log struct {
	outlets  []*outlet
	limit    int
	whenFull Overflow
	wait     bool
	logger   *slog.Logger
	timeout  time.Duration
	now      func() time.Time

	ctx    context.Context // of the sinks
	cancel context.CancelFunc
	wake   chan struct{} // of capacity 1: there is something to do
	done   chan struct{} // closed when everything has ended

	mu       sync.Mutex
	queue    []Record // that some sink has not stored yet, oldest first
	queued   int      // bytes of parameters in the queue
	refusals refusals
	round    *round        // the next attempt, if a Write waits for it
	space    chan struct{} // closed when the queue has space, if a Write waits for it
	dropped  Record        // what was dropped since the last RecordsDropped in the queue
	closing  bool
	outage   error // of the last round
	closed   error // of closing the sinks
}

// round is one attempt to write the queue to the sinks.
type round struct {
	done chan struct{}
	err  error
}

// New starts a Log; Close ends it. Without sinks it returns nil.
func New(opts Options) *Log {
	if len(opts.Sinks) == 0 {
		return nil
	}
	l := &Log{
		limit:    max(cmp.Or(opts.Queue, defaultQueue), 1),
		whenFull: opts.WhenFull,
		wait:     opts.Wait,
		logger:   cmp.Or(opts.Logger, slog.Default()),
		timeout:  cmp.Or(opts.Timeout, defaultTimeout),
		now:      opts.Now,
		refusals: refusals{each: cmp.Or(opts.Refusals, defaultRefusals)},
		wake:     make(chan struct{}, 1),
		done:     make(chan struct{}),
	}
	if l.now == nil {
		l.now = time.Now
	}
	if l.wait && l.whenFull == Drop {
		l.whenFull = Refuse
	}
	for _, sink := range opts.Sinks {
		l.outlets = append(l.outlets, &outlet{sink: sink})
	}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	go l.run()
	return l
}

// Write adds records to the queue, next to each other. It returns nil when they are in the queue, and with Options.Wait
// when all sinks have stored them. It fails with ErrFull, ErrClosed or ErrNotKept, or when ctx ends while it waits;
// then what was to be recorded must not happen. If the queue has space, Write adds the records even if ctx has ended
// already.
func (l *Log) Write(ctx context.Context, records ...Record) error {
	if l == nil || len(records) == 0 {
		return nil
	}
	return l.add(ctx, records, true)
}

// add is Write. If flush is set, the refusals that were counted of the callers are recorded before.
func (l *Log) add(ctx context.Context, records []Record, flush bool) error {
	bytes := 0
	for i := range records {
		r := &records[i]
		if r.Time.IsZero() {
			r.Time = l.now()
		}
		if r.ID == 0 {
			r.ID = newID()
		}
		r.condense()
		bytes += len(r.Parameters)
	}
	l.mu.Lock()
	// An empty queue takes any number of records.
	for !l.closing && len(l.queue) > 0 && (len(l.queue)+len(records) > l.limit || l.queued+bytes > mostQueued) {
		if wait, err := l.full(records); !wait {
			l.mu.Unlock()
			return err
		}
		if l.space == nil {
			l.space = make(chan struct{})
		}
		space := l.space
		l.mu.Unlock()
		select {
		case <-space:
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ErrFull, ctx.Err())
		}
		l.mu.Lock()
	}
	if l.closing {
		l.mu.Unlock()
		return ErrClosed
	}
	if flush {
		l.queue = append(l.queue, l.counted(records)...)
	}
	l.queue = append(l.queue, records...)
	l.queued += bytes
	var awaited *round
	if l.wait {
		if l.round == nil {
			l.round = &round{done: make(chan struct{})}
		}
		awaited = l.round
	}
	l.mu.Unlock()
	l.signal()
	if awaited == nil {
		return nil
	}
	select {
	case <-awaited.done:
		return awaited.err
	case <-ctx.Done():
		return fmt.Errorf("%w yet: %w", ErrNotKept, ctx.Err())
	}
}

// full decides what happens to records for which the queue has no space. The lock is held.
func (l *Log) full(records []Record) (wait bool, err error) {
	switch {
	case l.whenFull == Drop:
		if l.dropped.Dropped == 0 {
			l.dropped = Record{Time: records[0].Time, Event: RecordsDropped, Adapter: records[0].Adapter, Outcome: Failure}
		}
		l.dropped.Dropped += uint64(len(records))
		return false, nil
	case l.wait && l.outage != nil:
		// The caller waits for the outcome, and the attempt before has failed.
		l.signal()
		return false, fmt.Errorf("%w: %w", ErrFull, l.outage)
	case l.whenFull == Refuse:
		return false, ErrFull
	}
	return true, nil
}

// signal wakes the goroutine of run.
func (l *Log) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Close waits until the sinks have stored all records, and closes them. When ctx ends before, it gives up and its error
// has the number of records that are not stored. Write fails from the moment that Close is called.
func (l *Log) Close(ctx context.Context) error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	l.closing = true
	l.signalSpace()
	l.mu.Unlock()
	l.signal()
	select {
	case <-l.done:
		return l.closed
	case <-ctx.Done():
	}
	l.cancel()
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.done:
		return l.closed
	default:
	}
	return fmt.Errorf("closing the audit log: not all of its %d last records are kept: %w", len(l.queue), ctx.Err())
}

// signalSpace wakes the calls of Write that wait for space. The lock is held.
func (l *Log) signalSpace() {
	if l.space != nil {
		close(l.space)
		l.space = nil
	}
}

// run writes to the sinks, in a goroutine of its own.
func (l *Log) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		records, awaited, next, last := l.next()
		now := time.Now()
		for _, o := range l.outlets {
			// A Write that waits, and Close, cut a pause short.
			if o.stored < len(records) && (awaited != nil || last || !now.Before(o.retry)) {
				l.attempt(o, records)
			}
			if o.err != nil && (next.IsZero() || o.retry.Before(next)) {
				next = o.retry
			}
		}
		empty := l.finish(awaited)
		if last && empty || l.ctx.Err() != nil {
			l.closeSinks()
			return
		}
		if next.IsZero() {
			<-l.wake
			continue
		}
		timer.Reset(time.Until(next))
		select {
		case <-l.wake:
		case <-timer.C:
		case <-l.ctx.Done():
		}
	}
}

// next returns the records to write, the round that a Write waits for, and when the window of refusals ends. last
// reports that the log is closing.
func (l *Log) next() (records []Record, awaited *round, ends time.Time, last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ends = l.refusals.ends; !ends.IsZero() && (l.closing || !time.Now().Before(ends)) {
		l.endWindow()
		ends = time.Time{}
	}
	if l.dropped.Dropped > 0 && (len(l.queue) < l.limit || l.closing) {
		l.dropped.ID = newID()
		l.dropped.Reason = "the queue of the audit log was full"
		l.queue = append(l.queue, l.dropped)
		l.dropped = Record{}
	}
	awaited, l.round = l.round, nil
	return l.queue, awaited, ends, l.closing
}

// finish removes from the queue what all sinks have stored, and ends the round. It reports whether the queue is empty.
func (l *Log) finish(awaited *round) (empty bool) {
	stored := l.outlets[0].stored
	var outage error
	for _, o := range l.outlets {
		stored = min(stored, o.stored)
		if o.err != nil && outage == nil {
			outage = fmt.Errorf("%w: %w", ErrNotKept, o.err)
		}
	}
	for _, o := range l.outlets {
		o.stored -= stored
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if stored > 0 {
		for i := range stored {
			l.queued -= len(l.queue[i].Parameters)
		}
		left := copy(l.queue, l.queue[stored:])
		clear(l.queue[left:])
		l.queue = l.queue[:left]
		l.signalSpace()
		if l.dropped.Dropped > 0 {
			l.signal() // to record it
		}
	}
	l.outage = outage
	if awaited != nil {
		awaited.err = outage
		close(awaited.done)
	}
	return len(l.queue) == 0
}

// closeSinks closes the sinks and ends the log.
func (l *Log) closeSinks() {
	var errs []error
	for _, o := range l.outlets {
		if err := o.sink.Close(); err != nil {
			errs = append(errs, fmt.Errorf("closing the audit sink %s: %w", sinkName(o.sink), err))
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if left := len(l.queue); left > 0 {
		errs = append(errs, fmt.Errorf("closing the audit log: %d records are not kept by every sink", left))
	}
	if l.round != nil { // of a Write after the last round
		l.round.err = ErrClosed
		close(l.round.done)
		l.round = nil
	}
	l.closed = errors.Join(errs...)
	l.cancel()
	close(l.done)
}
