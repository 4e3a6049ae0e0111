package execution_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// limited are engines that share a store, where a caller may have a few executions under way. The executions run until
// they are cancelled, or fail where they are told to.
func limited(t *testing.T, n, most int, in store.Store, fails func() bool) []*execution.Engine {
	t.Helper()
	return engines(t, n, in, execution.Options{
		Most: most, Poll: time.Hour, Lease: time.Hour,
		Operations: map[string]*execution.Operation{"work": {Durable: true, Retry: 10, Do: func(
			ctx context.Context, run *execution.Run,
		) ([]byte, *execution.Failure) {
			if fails() {
				return nil, &execution.Failure{Code: "INTERNAL_ERROR", Final: true}
			}
			if err := run.Sleep(ctx, "nap", 1000*time.Hour); err != nil {
				return nil, &execution.Failure{Code: "INTERNAL_ERROR"}
			}
			return nil, nil
		}}},
	})
}

func never() bool { return false }

func begin(t *testing.T, e *execution.Engine, caller string) (*execution.Record, error) {
	t.Helper()
	return e.Start(t.Context(), execution.Start{Operation: "work", CallerKey: caller})
}

// The bound is of what is under way, also of what sleeps, of what another process has started, and of days before.
func TestPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const most = 3
		all := limited(t, 2, most, new(store.Memory), never)
		var last *execution.Record
		for i := range most {
			var err error
			if last, err = begin(t, all[i%2], ann); err != nil {
				t.Fatal(err)
			}
			time.Sleep(20 * time.Hour)
		}
		for range 2 {
			if r, err := begin(t, all[0], ann); !errors.Is(err, execution.ErrTooMany) {
				t.Errorf("%+v, %v", r, err)
			}
			time.Sleep(48 * time.Hour) // what was refused does not count
		}
		if _, err := begin(t, all[0], "bob"); err != nil {
			t.Errorf("of another caller: %v", err)
		}
		if _, err := all[1].Cancel(t.Context(), ann, last.ID, ""); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if _, err := begin(t, all[0], ann); err != nil {
			t.Errorf("after one has ended: %v", err)
		}
		if _, err := begin(t, all[1], ann); !errors.Is(err, execution.ErrTooMany) {
			t.Errorf("after another one was started: %v", err)
		}
	})
}

// Of starts at the same time in several processes, no more succeed than there may be.
func TestRacingPlaces(t *testing.T) {
	for range 50 {
		synctest.Test(t, func(t *testing.T) {
			const most = 5
			all := limited(t, 4, most, new(store.Memory), never)
			var racing sync.WaitGroup
			var mu sync.Mutex
			started := 0
			for i := range 40 {
				racing.Go(func() {
					_, err := begin(t, all[i%len(all)], ann)
					if err != nil && !errors.Is(err, execution.ErrTooMany) {
						t.Error(err)
					}
					mu.Lock()
					defer mu.Unlock()
					if err == nil {
						started++
					}
				})
			}
			racing.Wait()
			if started > most {
				t.Errorf("%d executions are under way; there may be %d", started, most)
			}
			for ; started < most; started++ {
				if _, err := begin(t, all[0], ann); err != nil {
					t.Errorf("although only %d are under way: %v", started, err)
				}
			}
			if _, err := begin(t, all[0], ann); !errors.Is(err, execution.ErrTooMany) {
				t.Error(err)
			}
		})
	}
}

// A failed execution is not kept for longer than its steps, because somebody who was about to start it again has died:
// it would do them again.
func TestFailedExecutionsAreForgottenWithTheirSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := new(store.Memory)
		const keep = 2 * time.Hour
		o := execution.Options{Operations: map[string]*execution.Operation{"work": {
			Durable: true, Retry: 3, Keep: keep,
			Do: func(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
				if err := step(ctx, run, "only", 1); err != nil {
					return nil, &execution.Failure{Code: "INTERNAL_ERROR"}
				}
				return nil, &execution.Failure{Code: "INTERNAL_ERROR", Final: true}
			},
		}}}
		e := engines(t, 1, in, o)[0]
		synctest.Wait()
		r, err := e.Start(t.Context(), execution.Start{Operation: "work", CallerKey: ann})
		if err != nil {
			t.Fatal(err)
		}
		ended(t, e, r.ID)
		time.Sleep(time.Hour)
		o.Store, o.Logger = &killed{Store: in}, slog.New(slog.DiscardHandler)
		dying, err := execution.New(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dying.Retry(t.Context(), ann, r.ID); !errors.Is(err, errDead) {
			t.Fatal(err)
		}
		for range 5 * 60 { // also as its place is removed, and its steps are written again
			time.Sleep(time.Minute)
			_, err := e.Get(t.Context(), ann, r.ID)
			steps, listErr := in.List(t.Context(), "exec//s/"+r.ID+"/", "", 1)
			if listErr != nil || err == nil && len(steps) == 0 {
				t.Fatalf("it is kept, and has no step: %v", listErr)
			}
		}
		if r, err := e.Get(t.Context(), ann, r.ID); !errors.Is(err, execution.ErrNotFound) {
			t.Errorf("it is kept: %+v, %v", r, err)
		}
	})
}

// A failed execution does not count, and needs a place to be started again. Who does that twice at a time has one.
func TestPlacesOfRetries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fails := true
		all := limited(t, 2, 1, new(store.Memory), func() bool { return fails })
		failed, err := begin(t, all[0], ann)
		if err != nil {
			t.Fatal(err)
		}
		ended(t, all[0], failed.ID)
		synctest.Wait()
		fails = false
		other, err := begin(t, all[0], ann)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if r, err := all[1].Retry(t.Context(), ann, failed.ID); !errors.Is(err, execution.ErrTooMany) {
				t.Errorf("%+v, %v", r, err)
			}
		}
		if r, err := all[0].Get(t.Context(), ann, failed.ID); err != nil || r.State != execution.Failed {
			t.Errorf("%+v, %v", r, err)
		}
		if _, err := all[0].Cancel(t.Context(), ann, other.ID, ""); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		var racing sync.WaitGroup
		for i := range 4 {
			racing.Go(func() {
				_, err := all[i%2].Retry(t.Context(), ann, failed.ID)
				if state := (*execution.StateError)(nil); err != nil && !errors.As(err, &state) &&
					!errors.Is(err, execution.ErrTooMany) {
					t.Error(err)
				}
			})
		}
		racing.Wait()
		if r, err := all[0].Get(t.Context(), ann, failed.ID); err == nil && r.State == execution.Failed {
			if _, err := all[0].Retry(t.Context(), ann, failed.ID); err != nil { // all of them were in each other's way
				t.Error(err)
			}
		}
		synctest.Wait()
		if _, err := begin(t, all[0], ann); !errors.Is(err, execution.ErrTooMany) {
			t.Errorf("beside one that was started again: %v", err)
		}
		if _, err := all[0].Cancel(t.Context(), ann, failed.ID, ""); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if _, err := begin(t, all[0], ann); err != nil {
			t.Error(err)
		}
	})
}

// A start, or one that starts an execution again, that is slow between its place and the record, does not end without a
// place because walks have taken the place for a forgotten one.
func TestPlacesOfSlowStarts(t *testing.T) {
	for name, again := range map[string]bool{"a start": false, "a retry": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				in, fails := new(store.Memory), true
				e := limited(t, 1, 1, in, func() bool { return fails })[0]
				failed, err := begin(t, e, ann)
				if err != nil {
					t.Fatal(err)
				}
				ended(t, e, failed.ID)
				synctest.Wait()
				fails = false
				slow := &heldUp{Store: in, thaw: make(chan struct{})}
				other := limited(t, 1, 1, slow, never)[0]
				synctest.Wait() // until its worker has looked for what others have left
				begun := make(chan error)
				go func() {
					if again {
						_, err := other.Retry(t.Context(), ann, failed.ID)
						begun <- err
						return
					}
					_, err := begin(t, other, ann)
					begun <- err
				}()
				synctest.Wait()
				for range 3 {
					if _, err := e.Walk(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				close(slow.thaw)
				if err := <-begun; err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if _, err := begin(t, e, ann); !errors.Is(err, execution.ErrTooMany) {
					t.Errorf("beside the one that was slow: %v", err)
				}
			})
		})
	}
}

// tallied counts the entries of a store that are read.
type tallied struct {
	store.Store
	entries atomic.Int64
}

func (c *tallied) Get(ctx context.Context, key string) (store.Entry, error) {
	c.entries.Add(1)
	return c.Store.Get(ctx, key)
}

func (c *tallied) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	entries, err := c.Store.List(ctx, prefix, after, limit)
	c.entries.Add(int64(len(entries)))
	return entries, err
}

// What a start reads is bounded, however many executions its caller has under way, and when it is refused.
func TestWhatStartsRead(t *testing.T) {
	const most, mostRead = 1200, 1100
	in := &tallied{Store: new(store.Memory)}
	e, err := execution.New(execution.Options{
		Store: in, Most: most, Logger: slog.New(slog.DiscardHandler),
		Operations: map[string]*execution.Operation{"work": {Durable: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	started, refused := 0, 0
	for started < most && refused < most {
		in.entries.Store(0)
		_, err := begin(t, e, ann)
		if read := in.entries.Load(); read > mostRead {
			t.Fatalf("with %d under way a start reads %d entries; at most %d", started, read, mostRead)
		}
		switch {
		case err == nil:
			started++
		case !errors.Is(err, execution.ErrTooMany):
			t.Fatal(err)
		default:
			refused++
		}
		if refused > 0 && started < most*9/10 {
			t.Fatalf("refused with %d under way; the bound is %d", started, most)
		}
	}
	in.entries.Store(0)
	if _, err := begin(t, e, ann); !errors.Is(err, execution.ErrTooMany) || in.entries.Load() > mostRead {
		t.Errorf("beyond the bound a start reads %d entries, and ends with %v", in.entries.Load(), err)
	}
}
