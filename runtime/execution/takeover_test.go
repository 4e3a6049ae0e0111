package execution_test

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/execution/executiontest"
	"github.com/aqltag/aqltag/runtime/store"
)

// What a worker leaves behind that is lost, at whatever moment, another one takes over within the lease, a third of it
// and a second. What a worker that ends hands back, another one takes at once where the store tells, and otherwise
// within a second.
func TestTakeover(t *testing.T) {
	const lease = 15 * time.Second
	const lost = lease + lease/3 + time.Second
	queue := func() execution.Dispatcher { return new(executiontest.Queue) }
	tells := func(s *store.Memory) store.Store { return s }
	tellsNobody := func(s *store.Memory) store.Store { return quiet{s} }
	for name, tt := range map[string]struct {
		open       func(*store.Memory) store.Store
		dispatcher func() execution.Dispatcher
		ends       bool // the worker is not lost
		most       time.Duration
	}{
		"a worker is lost": {open: tells, most: lost},
		"a worker is lost, and the store tells nobody": {open: tellsNobody, most: lost},
		"a worker is lost, and a dispatcher hands out": {open: tells, dispatcher: queue, most: lost},
		"a worker ends": {open: tells, ends: true, most: time.Millisecond},
		"a worker ends, and the store tells nobody": {open: tellsNobody, ends: true, most: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			var least, longest time.Duration
			for seed := range 300 {
				synctest.Test(t, func(t *testing.T) {
					random := rand.New(rand.NewPCG(uint64(seed), 1))
					state := new(store.Memory)
					attempts := make(chan time.Time, 10)
					var dispatcher execution.Dispatcher
					if tt.dispatcher != nil {
						dispatcher = tt.dispatcher()
					}
					engine := func(in store.Store) *execution.Engine {
						e, err := execution.New(execution.Options{
							Store: in, Dispatcher: dispatcher, Lease: lease, Drain: time.Nanosecond, Logger: slog.New(slog.DiscardHandler),
							Operations: map[string]*execution.Operation{"work": {
								Durable: true, Do: func(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
									if taken := run.TakenOver(); taken && tt.ends || !taken && run.Attempt() > 1 && !tt.ends {
										t.Errorf("attempt %d is told that it was taken over: %t", run.Attempt(), taken)
									}
									attempts <- time.Now()
									<-ctx.Done()
									return nil, &execution.Failure{Code: "INTERNAL_ERROR"}
								},
							}},
						})
						if err != nil {
							t.Fatal(err)
						}
						return e
					}
					in := &deadly{Store: state}
					first := engine(in)
					if tt.ends {
						first = engine(tt.open(state))
					}
					stopFirst := working(t, first)
					synctest.Wait()
					if _, err := first.Start(t.Context(), execution.Start{Operation: "work", CallerKey: ann}); err != nil {
						t.Fatal(err)
					}
					<-attempts
					time.Sleep(time.Duration(random.Int64N(int64(lease)))) // their beats are at other times
					stopSecond := working(t, engine(tt.open(state)))
					defer stopSecond()
					time.Sleep(time.Duration(random.Int64N(int64(2 * lease))))
					began := time.Now()
					if tt.ends {
						stopFirst()
					} else {
						in.die()
						defer stopFirst()
					}
					took := (<-attempts).Sub(began)
					if took > tt.most {
						t.Errorf("seed %d: taken over after %v, want %v at most", seed, took, tt.most)
					}
					if longest = max(longest, took); least == 0 || took < least {
						least = took
					}
				})
			}
			t.Logf("taken over after %v to %v", least, longest)
		})
	}
}

// working has an engine work until stop is called.
func working(t *testing.T, e *execution.Engine) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- e.Work(ctx) }()
	return func() {
		t.Helper()
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
}
