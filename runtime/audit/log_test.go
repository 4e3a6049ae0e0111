package audit_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/google/go-cmp/cmp"
)

func closeLog(t *testing.T, l *audit.Log) {
	t.Helper()
	if err := l.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

// A log without sinks is nil, and a nil log is content.
func TestNilLog(t *testing.T) {
	l := audit.New(audit.Options{})
	if l != nil {
		t.Error("not nil")
	}
	if err := l.Write(t.Context(), full()); err != nil {
		t.Error(err)
	}
	closeLog(t, l)
}

// Every sink gets every record once, in order, and Close waits for all of it.
func TestLogReachesAllSinks(t *testing.T) {
	for _, wait := range []bool{false, true} {
		a, b := new(sink), new(sink)
		l := audit.New(audit.Options{Sinks: []audit.Sink{a, b}, Wait: wait})
		records := numbered(20)
		for _, r := range records {
			if err := l.Write(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		closeLog(t, l)
		for _, s := range []*sink{a, b} {
			if diff := cmp.Diff(records, s.records()); diff != "" || !s.isClosed() {
				t.Errorf("closed %v, -want +got:\n%s", s.isClosed(), diff)
			}
		}
		if err := l.Write(t.Context(), full()); !errors.Is(err, audit.ErrClosed) {
			t.Errorf("after closing: %v", err)
		}
		closeLog(t, l)
	}
}

// A record without a time or an id gets both; ids differ.
func TestLogNamesRecords(t *testing.T) {
	at := time.Date(2026, 11, 21, 8, 0, 0, 0, time.UTC)
	s := new(sink)
	l := audit.New(audit.Options{Sinks: []audit.Sink{s}, Now: func() time.Time { return at }})
	for range 2 {
		if err := l.Write(t.Context(), audit.Record{Event: audit.OperationDenied}); err != nil {
			t.Fatal(err)
		}
	}
	closeLog(t, l)
	got := s.records()
	if !got[0].Time.Equal(at) || got[0].ID == 0 || got[0].ID == got[1].ID {
		t.Errorf("%+v", got)
	}
}

// held starts a log with a queue for one record, whose sink is busy with another, and fills the queue.
func held(t *testing.T, opts audit.Options) (*audit.Log, *sink) {
	t.Helper()
	s := &sink{entered: make(chan struct{}), gate: make(chan struct{})}
	opts.Sinks, opts.Queue = []audit.Sink{s}, 2
	l := audit.New(opts)
	for _, r := range numbered(2) {
		if err := l.Write(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	return l, s
}

// open lets everything pass from now on.
func (s *sink) open() {
	go func() {
		for range s.entered {
		}
	}()
	close(s.gate)
}

// If the queue is full, a record waits for space or for the end of its context.
func TestLogBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := held(t, audit.Options{Timeout: time.Hour})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := l.Write(ctx, full()); !errors.Is(err, audit.ErrFull) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("when its context ends: %v", err)
		}
		wrote := make(chan error, 3)
		for range 3 {
			go func() { wrote <- l.Write(t.Context(), full()) }()
		}
		synctest.Wait()
		if len(wrote) > 0 {
			t.Error("did not wait")
		}
		s.open()
		for range 3 {
			if err := <-wrote; err != nil {
				t.Error(err)
			}
		}
		closeLog(t, l)
		if n := len(s.records()); n != 5 {
			t.Errorf("%d records, want 5", n)
		}
		close(s.entered)
	})
}

// A Write that waits for space when the log is closed fails.
func TestLogClosesOnThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := held(t, audit.Options{Timeout: time.Hour})
		wrote := make(chan error, 1)
		go func() { wrote <- l.Write(t.Context(), full()) }()
		synctest.Wait()
		go closeLog(t, l)
		if err := <-wrote; !errors.Is(err, audit.ErrClosed) {
			t.Errorf("%v", err)
		}
		s.open()
		closeLog(t, l)
		close(s.entered)
	})
}

// Refuse fails at once; so does Drop with Wait.
func TestLogRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := held(t, audit.Options{WhenFull: audit.Refuse, Timeout: time.Hour})
		if err := l.Write(t.Context(), full()); !errors.Is(err, audit.ErrFull) {
			t.Errorf("%v", err)
		}
		s.open()
		closeLog(t, l)
		if n := len(s.records()); n != 2 {
			t.Errorf("%d records, want 2", n)
		}
		close(s.entered)
	})
	synctest.Test(t, func(t *testing.T) {
		s := &sink{gate: make(chan struct{})}
		l := audit.New(audit.Options{Sinks: []audit.Sink{s}, Queue: 1, WhenFull: audit.Drop, Wait: true, Timeout: time.Hour})
		first := make(chan error)
		go func() { first <- l.Write(t.Context(), full()) }()
		synctest.Wait()
		if err := l.Write(t.Context(), full()); !errors.Is(err, audit.ErrFull) {
			t.Errorf("dropped in spite of Wait: %v", err)
		}
		close(s.gate)
		if err := <-first; err != nil {
			t.Error(err)
		}
		closeLog(t, l)
	})
}

// Drop drops records, and records later how many.
func TestLogDropsLoudly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, s := held(t, audit.Options{WhenFull: audit.Drop, Timeout: time.Hour})
		for range 7 {
			if err := l.Write(t.Context(), full()); err != nil {
				t.Error(err)
			}
		}
		s.open()
		synctest.Wait()
		got := s.records()
		if len(got) != 3 || got[2].Event != audit.RecordsDropped || got[2].Dropped != 7 || got[2].Adapter != "notes" ||
			got[2].ID == 0 {
			t.Errorf("got %+v", got)
		}
		closeLog(t, l)
		close(s.entered)
	})
	synctest.Test(t, func(t *testing.T) { // also when the log is closed meanwhile
		l, s := held(t, audit.Options{WhenFull: audit.Drop, Timeout: time.Hour})
		if err := l.Write(t.Context(), full()); err != nil {
			t.Error(err)
		}
		s.open()
		closeLog(t, l)
		if got := s.records(); len(got) != 3 || got[2].Dropped != 1 {
			t.Errorf("got %+v", got)
		}
		close(s.entered)
	})
}

// One record has the number of all that were dropped, and is written without another Write.
func TestLogCountsWhatItDrops(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{fail: errGone}
		l := audit.New(audit.Options{
			Sinks: []audit.Sink{s}, Queue: 1, WhenFull: audit.Drop, Logger: logger(new(lockedBuffer)),
		})
		for range 100 {
			if err := l.Write(t.Context(), full()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
		}
		s.failWith(nil)
		time.Sleep(time.Minute)
		got := s.records()
		if len(got) != 2 || got[0].Dropped != 0 || got[1].Dropped != 99 {
			t.Errorf("got %+v", got)
		}
		closeLog(t, l)
	})
}

// The records of calls that wait at the same time are written together.
func TestLogKeepsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{gate: make(chan struct{})}
		l := audit.New(audit.Options{Sinks: []audit.Sink{s}, Wait: true, Timeout: time.Hour})
		var wg sync.WaitGroup
		wg.Go(func() { l.Write(t.Context(), full()) })
		synctest.Wait()
		for range 100 {
			wg.Go(func() {
				if err := l.Write(t.Context(), full()); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		if n := len(s.records()); n > 0 {
			t.Errorf("%d were kept too early", n)
		}
		close(s.gate)
		wg.Wait()
		if n := s.attempts(); n != 2 || len(s.records()) != 101 {
			t.Errorf("%d records in %d writes, want 101 in 2", len(s.records()), n)
		}
		closeLog(t, l)
	})
}

// A Write waits until its context ends; its record is stored nevertheless.
func TestLogWaitEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{gate: make(chan struct{})}
		l := audit.New(audit.Options{Sinks: []audit.Sink{s}, Wait: true, Timeout: time.Hour})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := l.Write(ctx, full()); !errors.Is(err, audit.ErrNotKept) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		close(s.gate)
		closeLog(t, l)
		if n := len(s.records()); n != 1 {
			t.Errorf("%d records", n)
		}
	})
}

var errGone = errors.New("the server is gone")

// A sink that fails delays no call without Wait: its records stay in the queue, the other sinks go on, the failure is
// logged once, and every record arrives once when the sink recovers.
func TestLogOutlivesAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said lockedBuffer
		well, ill := new(sink), &sink{fail: errGone}
		l := audit.New(audit.Options{Sinks: []audit.Sink{well, ill}, Logger: logger(&said)})
		records := numbered(10)
		for _, r := range records[:5] {
			if err := l.Write(t.Context(), r); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond)
		}
		if diff := cmp.Diff(records[:5], well.records()); diff != "" {
			t.Errorf("the sink that is well, -want +got:\n%s", diff)
		}
		time.Sleep(time.Minute)
		// 50, 100, 200 … ms, then every 5 s
		if n := ill.attempts(); n < 10 || n > 25 {
			t.Errorf("%d attempts in a minute", n)
		}
		if n := strings.Count(said.String(), "an audit sink fails"); n != 1 {
			t.Errorf("logged %d times:\n%s", n, said.String())
		}
		ill.failWith(nil)
		for _, r := range records[5:] {
			if err := l.Write(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(5 * time.Second)
		for _, s := range []*sink{well, ill} {
			if diff := cmp.Diff(records, s.records()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		}
		if n := strings.Count(said.String(), "an audit sink has recovered"); n != 1 {
			t.Errorf("logged %d times:\n%s", n, said.String())
		}
		ill.failWith(errGone)
		if err := l.Write(t.Context(), full()); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if n := strings.Count(said.String(), "an audit sink fails"); n != 2 {
			t.Errorf("the second outage: logged %d times:\n%s", n, said.String())
		}
		ill.failWith(nil)
		closeLog(t, l)
	})
}

// Who waits is told at once that a sink fails, does not wait for a pause to end, and gets through when it has
// recovered.
func TestLogTellsThoseWhoWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said lockedBuffer
		s := &sink{fail: errGone}
		l := audit.New(audit.Options{Sinks: []audit.Sink{s}, Wait: true, Queue: 3, Logger: logger(&said)})
		records := numbered(4)
		began := time.Now()
		for _, r := range records[:3] {
			if err := l.Write(t.Context(), r); !errors.Is(err, audit.ErrNotKept) || !errors.Is(err, errGone) {
				t.Errorf("%v", err)
			}
		}
		if err := l.Write(t.Context(), full()); !errors.Is(err, audit.ErrFull) || !errors.Is(err, errGone) {
			t.Errorf("when the queue is full too: %v", err)
		}
		if waited := time.Since(began); waited > 0 {
			t.Errorf("waited %v", waited)
		}
		s.failWith(nil)
		time.Sleep(5 * time.Second)
		if err := l.Write(t.Context(), records[3]); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff(ids(records), ids(s.records())); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
		closeLog(t, l)
	})
}

// A Write that waits, and Close, do not wait for the end of a pause: both try at once.
func TestLogCutsPausesShort(t *testing.T) {
	for _, wait := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := &sink{fail: errGone}
			l := audit.New(audit.Options{Sinks: []audit.Sink{s}, Wait: wait, Logger: logger(new(lockedBuffer))})
			if err := l.Write(t.Context(), full()); (err != nil) != wait {
				t.Errorf("%v", err)
			}
			time.Sleep(time.Hour + time.Millisecond)
			s.failWith(nil)
			began := time.Now()
			if wait {
				if err := l.Write(t.Context(), full()); err != nil || len(s.records()) != 2 {
					t.Errorf("%d records, %v", len(s.records()), err)
				}
			}
			closeLog(t, l)
			if waited := time.Since(began); waited > 0 || len(s.records()) == 0 {
				t.Errorf("waited %v for %d records", waited, len(s.records()))
			}
		})
	}
}

// A sink that does not answer is given up after the timeout, and tried again.
func TestLogBoundsAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said lockedBuffer
		s := &sink{gate: make(chan struct{})}
		l := audit.New(audit.Options{Sinks: []audit.Sink{s}, Wait: true, Timeout: time.Second, Logger: logger(&said)})
		began := time.Now()
		if err := l.Write(t.Context(), full()); !errors.Is(err, context.DeadlineExceeded) ||
			time.Since(began) != time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		close(s.gate)
		closeLog(t, l)
		if n := len(s.records()); n != 1 {
			t.Errorf("%d records", n)
		}
	})
}

// Close gives up when its context ends, and reports how many records are not stored.
func TestLogCloseGivesUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said lockedBuffer
		s := &sink{fail: errGone}
		l := audit.New(audit.Options{Sinks: []audit.Sink{s}, Logger: logger(&said)})
		for _, r := range numbered(3) {
			if err := l.Write(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := l.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "3") {
			t.Errorf("%v", err)
		}
		synctest.Wait()
		if !s.isClosed() {
			t.Error("the sink is not closed")
		}
		if err := l.Close(t.Context()); err == nil || !strings.Contains(err.Error(), "3 records are not kept") {
			t.Errorf("closing again: %v", err)
		}
	})
}

// Many writers, a sink that fails now and then, a small queue: every acknowledged record is there once, in each file.
func TestLogUnderLoad(t *testing.T) {
	const writers, each = 16, 50
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	file := open(t, b, secret)
	l := audit.New(audit.Options{
		Sinks: []audit.Sink{open(t, a, nil), &flaky{sink: file}}, Queue: 8, Logger: logger(new(lockedBuffer)),
	})
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range each {
				if err := l.Write(t.Context(), full()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	closeLog(t, l)
	if sa, sb := verify(t, a, nil), verify(t, b, secret); sa.Records != writers*each || sb.Records != writers*each {
		t.Errorf("%d and %d records, want %d", sa.Records, sb.Records, writers*each)
	}
}

// flaky is a sink that fails every fifth time.
type flaky struct {
	sink audit.Sink
	n    int
}

func (f *flaky) Write(ctx context.Context, records []audit.Record) error {
	if f.n++; f.n%5 == 0 {
		return errGone
	}
	return f.sink.Write(ctx, records)
}

func (f *flaky) Close() error { return f.sink.Close() }

// Large backlogs are written in batches that a sink can take.
func TestLogBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &sink{entered: make(chan struct{}), gate: make(chan struct{})}
		l := audit.New(audit.Options{Sinks: []audit.Sink{s}, Timeout: time.Hour})
		records := numbered(1000)
		for _, r := range records {
			if err := l.Write(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		s.open()
		closeLog(t, l)
		close(s.entered)
		if !slices.Equal(ids(records), ids(s.records())) || s.attempts() < 4 {
			t.Errorf("%d records in %d writes", len(s.records()), s.attempts())
		}
	})
}
