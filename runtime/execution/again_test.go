package execution_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// stalling is a store as a process sees it that is frozen at some of its calls: they are counted from 1 on after it is
// armed, until it removes the entry of a worker. Such a call waits until the store thaws, and all later ones do where
// the whole process is frozen. A process that is killed makes none of them.
type stalling struct {
	store.Store
	at            []int
	whole, killed bool
	late          bool        // it is killed behind the call
	failing       bool        // it is armed when it has written that an execution has failed
	pauses        atomic.Bool // and then when it has written that one is paused

	armed atomic.Bool
	calls atomic.Int32
	thaw  []chan struct{} // one for each of at
}

func newStalling(in store.Store, whole bool, at ...int) *stalling {
	s := &stalling{Store: in, whole: whole, at: at}
	for range at {
		s.thaw = append(s.thaw, make(chan struct{}))
	}
	return s
}

func (s *stalling) stall() error {
	if !s.armed.Load() {
		return nil
	}
	call := int(s.calls.Add(1))
	for i, at := range s.at {
		if s.killed && (call > at || call == at && !s.late) {
			return errDead
		}
		if call == at || s.whole && call > at {
			<-s.thaw[i]
		}
	}
	return nil
}

// reached reports whether it was frozen at all of its calls.
func (s *stalling) reached() bool { return int(s.calls.Load()) >= s.at[len(s.at)-1] }

func (s *stalling) Get(ctx context.Context, key string) (store.Entry, error) {
	if err := s.stall(); err != nil {
		return store.Entry{}, err
	}
	return s.Store.Get(context.WithoutCancel(ctx), key)
}

func (s *stalling) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	if err := s.stall(); err != nil {
		return nil, err
	}
	return s.Store.List(context.WithoutCancel(ctx), prefix, after, limit)
}

func (s *stalling) Delete(ctx context.Context, key string, old store.Version) error {
	if err := s.stall(); err != nil {
		return err
	}
	if strings.Contains(key, "/w/") && !s.reached() { // all is done
		s.armed.Store(false)
	}
	return s.Store.Delete(context.WithoutCancel(ctx), key, old)
}

func (s *stalling) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	if err := s.stall(); err != nil {
		return 0, err
	}
	version, err := s.Store.Put(context.WithoutCancel(ctx), key, value, old, ttl)
	state, _ := stateIn(key, value)
	if err == nil && (s.failing && state == execution.Failed || s.pauses.Load() && state == execution.Paused) {
		s.armed.Store(true)
	}
	return version, err
}

// startedAgain is an execution whose first attempt fails, that is started again, and then waits for its caller. The
// process that ends the first attempt is frozen behind that, and the one that starts it again is frozen or killed.
type startedAgain struct {
	in           store.Store
	ended, begun *stalling
	thaws        []chan struct{} // in turn
	done         atomic.Int32
	attempts     atomic.Int32
	workers      sync.WaitGroup
	options      execution.Options
}

func (s *startedAgain) do(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
	_, err := run.Step(ctx, "only", func(context.Context) ([]byte, error) {
		s.done.Add(1)
		return []byte("1"), nil
	})
	if err != nil || s.attempts.Add(1) == 1 {
		return nil, &execution.Failure{Code: "INTERNAL_ERROR", Final: true}
	}
	answer, err := run.Await(ctx, execution.FromCaller, "what",
		func(context.Context, *execution.Waiting) ([]byte, execution.Waiting, error) {
			return nil, execution.Waiting{Until: time.Now().Add(1000 * time.Hour)}, nil
		})
	if err != nil {
		return nil, &execution.Failure{Code: "INTERNAL_ERROR"}
	}
	return answer, nil
}

func (s *startedAgain) process(ctx context.Context, t *testing.T, in store.Store) *execution.Engine {
	t.Helper()
	s.options.Store = in
	e, err := execution.New(s.options)
	if err != nil {
		t.Fatal(err)
	}
	s.workers.Go(func() { _ = e.Work(ctx) })
	return e
}

const startedAgainKeep = time.Minute

func (s *startedAgain) play(t *testing.T) {
	s.options = execution.Options{
		Lease: 5 * time.Second, Poll: 5 * time.Second, Logger: slog.New(slog.DiscardHandler),
		Operations: map[string]*execution.Operation{
			"work": {Durable: true, Retry: 1, Keep: startedAgainKeep, Do: s.do},
		},
	}
	if !s.ended.whole && !s.begun.killed {
		s.options.Lease = time.Minute
	}
	ctx, stop := context.WithCancel(t.Context())
	defer s.workers.Wait()
	defer stop()
	first, last := s.process(ctx, t, s.ended), s.process(ctx, t, s.in)
	synctest.Wait() // until they have looked for what others have left
	start := execution.Start{Operation: "work", CallerKey: ann, Once: "key", Params: fmt.Appendf(nil, "%01100d", 1)}
	r, err := first.Start(ctx, start)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	s.options.Store = s.begun
	other, err := execution.New(s.options)
	if err != nil {
		t.Fatal(err)
	}
	retried := make(chan error)
	s.begun.armed.Store(true)
	go func() {
		_, err := other.Retry(ctx, ann, r.ID)
		retried <- err
	}()
	time.Sleep(time.Second / 5) // before others look
	if s.ended.whole {
		time.Sleep(20 * time.Second) // until the lease is over
	}
	for _, thaw := range s.thaws {
		close(thaw)
		time.Sleep(time.Second / 5) // before others look
	}
	if err := <-retried; err != nil && !s.begun.killed {
		t.Errorf("starting it again: %v", err)
	}
	if s.begun.killed {
		time.Sleep(2 * s.options.Lease) // until others have done the rest
		if now, err := last.Get(ctx, ann, r.ID); err == nil && now.State == execution.Failed {
			if _, err := last.Retry(ctx, ann, r.ID); err != nil {
				t.Errorf("starting it again: %v", err)
			}
		}
	}
	time.Sleep(startedAgainKeep + 10*time.Second)
	s.check(t, last, r.ID, start)
}

// check looks whether the execution is where it was, and all that belongs to it.
func (s *startedAgain) check(t *testing.T, e *execution.Engine, id string, start execution.Start) {
	t.Helper()
	page, err := e.List(t.Context(), execution.Query{CallerKey: ann, First: 10})
	if err != nil || len(page.Records) != 1 || page.Records[0].State != execution.Paused {
		t.Errorf("it is not listed as one that waits: %+v, %v", page, err)
	}
	if again, err := e.Start(t.Context(), start); err != nil || again.ID != id {
		t.Errorf("its key starts another one: %v", err)
	}
	if _, err := e.Answer(t.Context(), ann, id, "what", []byte("1")); err != nil {
		t.Error(err)
		return
	}
	if r := ended(t, e, id); r.State != execution.Completed || s.done.Load() != 1 {
		t.Errorf("it is %s, and its step was done %d times", r.State, s.done.Load())
	}
}

// What belongs to an execution that was started again lasts, at whatever call of the store the process is held up that
// has ended it before, and the one that starts it again: for a moment, or until others have taken over.
func TestWhatIsStartedAgainLasts(t *testing.T) {
	for name, test := range map[string]struct {
		whole, killed bool
		late          bool  // it is killed when it has gone on with one call
		firstToo      bool  // the one that has ended it is held up at its first call, too
		thaws         []int // whose turn it is to go on: 0 is the one that has ended it
	}{
		"it is begun first":                    {thaws: []int{1, 0}},
		"it is ended first":                    {thaws: []int{0, 1}},
		"it is ended while it is begun":        {firstToo: true, thaws: []int{0, 1, 0}},
		"others begin it":                      {whole: true, thaws: []int{1, 0}},
		"others end it":                        {whole: true, thaws: []int{0, 1}},
		"others end and begin it":              {whole: true, firstToo: true, thaws: []int{0, 1, 0}},
		"who begins it is killed":              {killed: true, thaws: []int{0}},
		"who begins it is killed in the midst": {killed: true, firstToo: true, thaws: []int{0, 0}},
		"who begins it goes on and is killed":  {killed: true, late: true, firstToo: true, thaws: []int{0, 1, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			ends := true
			step := 1
			if testing.Short() {
				step = 3
			}
			for n := 2; ends && !t.Failed(); n += step {
				begins := true
				for m := 1; begins && !t.Failed(); m += step {
					synctest.Test(t, func(t *testing.T) {
						in, at := new(store.Memory), []int{n - 1}
						if test.firstToo {
							at = []int{1, n}
						}
						s := &startedAgain{in: in, ended: newStalling(in, test.whole, at...), begun: newStalling(in, test.whole, m)}
						s.ended.failing, s.begun.killed, s.begun.late = true, test.killed, test.late
						queues := [][]chan struct{}{s.ended.thaw, s.begun.thaw}
						for _, i := range test.thaws {
							s.thaws, queues[i] = append(s.thaws, queues[i][0]), queues[i][1:]
						}
						s.play(t)
						ends, begins = s.ended.reached(), s.begun.reached()
						if t.Failed() {
							t.Logf("held up at the calls %v of the end, and at %d of the start", at, m)
						}
					})
				}
			}
		})
	}
}
