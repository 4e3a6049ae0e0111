package execution_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// shortLived runs processes one after the other that live for a second each, for a while.
func shortLived(t *testing.T, in store.Store, o execution.Options, during time.Duration) {
	t.Helper()
	o.Store, o.Logger = in, slog.New(slog.DiscardHandler)
	for began := time.Now(); time.Since(began) < during; {
		e, err := execution.New(o)
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithTimeout(t.Context(), time.Second)
		if err := e.Work(ctx); err != nil {
			t.Error(err)
		}
		stop()
		time.Sleep(time.Minute)
	}
}

// What a start has left whose process was killed does not stay, although no process lives for long.
func TestShortLivedProcessesRemoveWhatStartsHaveLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := new(store.Memory)
		o := execution.Options{Most: 1, Operations: map[string]*execution.Operation{"work": {Durable: true}}}
		start := execution.Start{Operation: "work", CallerKey: ann}
		o.Store, o.Logger = &killed{Store: in}, slog.New(slog.DiscardHandler)
		dying, err := execution.New(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dying.Start(t.Context(), start); !errors.Is(err, errDead) {
			t.Fatal(err)
		}
		o.Store = in
		e, err := execution.New(o)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := e.Start(t.Context(), start); !errors.Is(err, execution.ErrTooMany) {
			t.Errorf("beside one that may be about to start: %v", err)
		}
		shortLived(t, in, o, 25*time.Minute)
		if _, err := e.Start(t.Context(), start); err != nil {
			t.Errorf("after that was given up: %v", err)
		}
		if queued, _, _, err := e.Outstanding(t.Context()); err != nil || queued != 1 {
			t.Errorf("%d are queued: %v", queued, err)
		}
	})
}

// killed is a store as a process sees it that is killed before it writes a record.
type killed struct{ store.Store }

func (k *killed) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	if state, _ := stateIn(key, value); state != "" {
		return 0, errDead
	}
	return k.Store.Put(ctx, key, value, old, ttl)
}

// What a worker has queued that was slow to do so goes when others have ended it meanwhile, although it is not due.
func TestWalksRemoveWhatIsQueuedLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := new(store.Memory)
		slow := newStalling(in, false, 1)
		o := execution.Options{
			Store: slow, Logger: slog.New(slog.DiscardHandler), Lease: time.Hour,
			Operations: map[string]*execution.Operation{"work": {Durable: true, Do: func(
				ctx context.Context, run *execution.Run,
			) ([]byte, *execution.Failure) {
				_, err := run.Await(ctx, execution.FromCaller, "what",
					func(context.Context, *execution.Waiting) ([]byte, execution.Waiting, error) {
						slow.pauses.Store(true)
						return nil, execution.Waiting{Until: time.Now().Add(1000 * time.Hour)}, nil
					})
				return nil, &execution.Failure{Code: "INTERNAL_ERROR", Message: err.Error()}
			}}},
		}
		e := engines(t, 1, slow, o)[0]
		o.Store = in
		other, err := execution.New(o)
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		r, err := e.Start(t.Context(), execution.Start{Operation: "work", CallerKey: ann})
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if _, err := other.Cancel(t.Context(), ann, r.ID, ""); err != nil {
			t.Fatal(err)
		}
		close(slow.thaw[0])
		synctest.Wait()
		if queued, _, _, err := other.Outstanding(t.Context()); err != nil || queued != 1 {
			t.Fatalf("%d are queued, want the late one: %v", queued, err)
		}
		if _, err := other.Walk(t.Context()); err != nil {
			t.Fatal(err)
		}
		if queued, taken, _, err := other.Outstanding(t.Context()); err != nil || queued+taken != 0 {
			t.Errorf("%d are queued and %d taken: %v", queued, taken, err)
		}
	})
}
