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

// Policy says what becomes of a record for which the queue has no room.
type Policy int

// The policies.
const (
	// Block waits until there is room, or the context ends: then Write fails, and what was to be recorded must not happen.
	Block Policy = iota
	// Refuse fails at once.
	Refuse
	// Drop goes on without the record. How many were dropped is recorded as soon as there is room. With Options.Wait, where
	// nil means kept, Drop is Refuse.
	Drop
)

// Options are the options of a Log.
type Options struct {
	// Sinks each keep every record.
	Sinks []Sink
	// Queue is how many records may wait to be kept; default 1024.
	Queue int
	// WhenFull says what happens when more come; default Block.
	WhenFull Policy
	// Wait makes Write return only when every sink has kept the record. Records that come meanwhile are kept together.
	Wait bool
	// Logger hears of sinks that fail, once per outage, and of their recovery; nil: slog.Default().
	Logger *slog.Logger
	// Timeout bounds one attempt of a sink; default 10 s.
	Timeout time.Duration
	// Now is the clock of records that come without a time; nil: time.Now.
	Now func() time.Time
}

// The failures of Log.Write beside ErrClosed. What they wrap is for logs: it may name files and servers.
var (
	ErrFull    = errors.New("the queue of the audit log is full")
	ErrNotKept = errors.New("the audit record is not kept")
)

const (
	defaultQueue   = 1024
	defaultTimeout = 10 * time.Second
	mostTogether   = 256 // records in one write of a sink
	firstPause     = 50 * time.Millisecond
	longestPause   = 5 * time.Second
)

// Log passes records on to sinks. It is safe for concurrent use. A nil Log keeps nothing, and is content with that.
//
// When a sink fails, the records stay in the queue until it has kept them, while the other sinks go on; the pauses between
// attempts grow from 50 ms to 5 s. With Options.Wait, Write fails then, but its record stays as well: the record may say
// that something was allowed which the failure kept from happening, never the other way round.
type Log struct {
	outlets  []*outlet
	limit    int
	whenFull Policy
	wait     bool
	logger   *slog.Logger
	timeout  time.Duration
	now      func() time.Time

	ctx    context.Context // of the sinks
	cancel context.CancelFunc
	wake   chan struct{} // has room for one: something is to be done
	done   chan struct{} // closed when everything has ended

	mu      sync.Mutex
	queue   []Record // what some sink has not kept yet, oldest first
	round   *round   // the next attempt, for those who wait for it
	room    chan struct{}
	dropped Record // Dropped is how many have been since the last such record was queued
	closing bool
	outage  error // of the last round
	closed  error // of closing the sinks
}

// round is one attempt to make the sinks keep what is in the queue.
type round struct {
	done chan struct{}
	err  error
}

// outlet is a sink with how far it has come. It belongs to the goroutine.
type outlet struct {
	sink  Sink
	kept  int // records at the beginning of the queue that it has kept
	err   error
	pause time.Duration // after the last failure
	retry time.Time
}

// New starts a Log; Close ends it. Without sinks there is nothing to do, and it returns nil.
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

// Write gives the log records, which stay together. It returns nil when they are in the queue, or with Options.Wait when all
// sinks have kept them. It fails with ErrFull, ErrClosed or ErrNotKept, or when ctx ends while it waits; then what was to be
// recorded must not happen. A ctx that has ended already does not keep records out that have room.
func (l *Log) Write(ctx context.Context, records ...Record) error {
	if l == nil || len(records) == 0 {
		return nil
	}
	for i := range records {
		r := &records[i]
		if r.Time.IsZero() {
			r.Time = l.now()
		}
		if r.ID == 0 {
			r.ID = newID()
		}
		r.condense()
	}
	l.mu.Lock()
	// More records than the queue ever holds go in when it is empty.
	for !l.closing && len(l.queue) > 0 && len(l.queue)+len(records) > l.limit {
		if wait, err := l.full(records); !wait {
			l.mu.Unlock()
			return err
		}
		if l.room == nil {
			l.room = make(chan struct{})
		}
		room := l.room
		l.mu.Unlock()
		select {
		case <-room:
		case <-ctx.Done():
			return fmt.Errorf("%w: %w", ErrFull, ctx.Err())
		}
		l.mu.Lock()
	}
	if l.closing {
		l.mu.Unlock()
		return ErrClosed
	}
	l.queue = append(l.queue, records...)
	var mine *round
	if l.wait {
		if l.round == nil {
			l.round = &round{done: make(chan struct{})}
		}
		mine = l.round
	}
	l.mu.Unlock()
	l.poke()
	if mine == nil {
		return nil
	}
	select {
	case <-mine.done:
		return mine.err
	case <-ctx.Done():
		return fmt.Errorf("%w yet: %w", ErrNotKept, ctx.Err())
	}
}

// full decides what becomes of records that have no room: they wait for some, or are done with. The lock is held.
func (l *Log) full(records []Record) (wait bool, err error) {
	switch {
	case l.whenFull == Drop:
		if l.dropped.Dropped == 0 {
			l.dropped = Record{Time: records[0].Time, Event: RecordsDropped, Adapter: records[0].Adapter, Outcome: Failure}
		}
		l.dropped.Dropped += uint64(len(records))
		return false, nil
	case l.wait && l.outage != nil:
		// Those who wait want to know now, and those before them have tried.
		l.poke()
		return false, fmt.Errorf("%w: %w", ErrFull, l.outage)
	case l.whenFull == Refuse:
		return false, ErrFull
	}
	return true, nil
}

// poke wakes the goroutine.
func (l *Log) poke() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Close waits until the sinks have kept everything, and closes them. When ctx ends before, it gives up and says how many
// records are not kept. Write fails from the moment that Close is called.
func (l *Log) Close(ctx context.Context) error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	l.closing = true
	l.freeRoom()
	l.mu.Unlock()
	l.poke()
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

// freeRoom lets those go on who wait for room. The lock is held.
func (l *Log) freeRoom() {
	if l.room != nil {
		close(l.room)
		l.room = nil
	}
}

// run is the goroutine that writes to the sinks.
func (l *Log) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		records, mine, last := l.take()
		now := time.Now()
		next := time.Time{}
		for _, o := range l.outlets {
			// Those who wait for a round, and Close, cut a pause short.
			if o.kept < len(records) && (mine != nil || last || !now.Before(o.retry)) {
				l.attempt(o, records)
			}
			if o.err != nil && (next.IsZero() || o.retry.Before(next)) {
				next = o.retry
			}
		}
		empty := l.settle(mine)
		if last && empty || l.ctx.Err() != nil {
			l.end()
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

// take is what there is to write, and the round of those who wait for it. last says that nothing comes behind it.
func (l *Log) take() (records []Record, mine *round, last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dropped.Dropped > 0 && (len(l.queue) < l.limit || l.closing) {
		l.dropped.ID = newID()
		l.dropped.Reason = "the queue of the audit log was full"
		l.queue = append(l.queue, l.dropped)
		l.dropped = Record{}
	}
	mine, l.round = l.round, nil
	return l.queue, mine, l.closing
}

// attempt writes to a sink what it has not kept.
func (l *Log) attempt(o *outlet, records []Record) {
	ctx, cancel := context.WithTimeout(l.ctx, l.timeout)
	defer cancel()
	for o.kept < len(records) {
		batch := records[o.kept:min(len(records), o.kept+mostTogether)]
		if err := o.sink.Write(ctx, batch); err != nil {
			if o.err == nil {
				l.logger.ErrorContext(l.ctx, "an audit sink fails; records are kept in the queue until it recovers", "sink", sinkName(o.sink), "error", err)
			}
			o.err = err
			o.pause = min(max(2*o.pause, firstPause), longestPause)
			o.retry = time.Now().Add(o.pause)
			return
		}
		o.kept += len(batch)
	}
	if o.err != nil {
		l.logger.InfoContext(l.ctx, "an audit sink has recovered", "sink", sinkName(o.sink))
		o.err, o.pause, o.retry = nil, 0, time.Time{}
	}
}

// settle takes out of the queue what all sinks have kept, and tells those who wait. It reports whether nothing is left.
func (l *Log) settle(mine *round) (empty bool) {
	kept := l.outlets[0].kept
	var outage error
	for _, o := range l.outlets {
		kept = min(kept, o.kept)
		if o.err != nil && outage == nil {
			outage = fmt.Errorf("%w: %w", ErrNotKept, o.err)
		}
	}
	for _, o := range l.outlets {
		o.kept -= kept
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if kept > 0 {
		left := copy(l.queue, l.queue[kept:])
		clear(l.queue[left:])
		l.queue = l.queue[:left]
		l.freeRoom()
		if l.dropped.Dropped > 0 {
			l.poke() // to record it
		}
	}
	l.outage = outage
	if mine != nil {
		mine.err = outage
		close(mine.done)
	}
	return len(l.queue) == 0
}

// end closes the sinks, and tells everyone that it is over.
func (l *Log) end() {
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
	if l.round != nil { // who came after the last round
		l.round.err = ErrClosed
		close(l.round.done)
		l.round = nil
	}
	l.closed = errors.Join(errs...)
	l.cancel()
	close(l.done)
}

// sinkName names a sink in logs.
func sinkName(s Sink) string {
	if named, ok := s.(fmt.Stringer); ok {
		return named.String()
	}
	return fmt.Sprintf("%T", s)
}
