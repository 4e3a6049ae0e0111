package state

import (
	"context"
	"io"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// newHangingEngine returns an engine whose executions wait until their process ends, or another one has them.
func newHangingEngine(state store.Store, _ io.Writer) (*execution.Engine, error) {
	hang := func(ctx context.Context, _ *execution.Run) ([]byte, *execution.Failure) {
		<-ctx.Done()
		return nil, &execution.Failure{Code: "INTERNAL_ERROR"}
	}
	return takingOver(state, dispatcherOf(state), hang)
}

func takingOver(
	state store.Store, d execution.Dispatcher, do func(context.Context, *execution.Run) ([]byte, *execution.Failure),
) (*execution.Engine, error) {
	return execution.New(execution.Options{
		Store: state, Dispatcher: d, Lease: workLease, Poll: workLease / 10, Logger: slog.New(slog.DiscardHandler),
		Losses:     1000, // on a busy machine
		Operations: map[string]*execution.Operation{"work": {Durable: true, Do: do}},
	})
}

// scanned is the store of a process that looks after the executions of another one.
type scanned struct {
	store.Store
	worker atomic.Pointer[string] // the other one
	looked func(context.Context)  // is called before each look at the executions of workers since that is forgotten
}

func (s *scanned) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	if worker := s.worker.Load(); worker != nil && prefix == "exec//w/" && after == "" && limit > 1 {
		alive, err := s.Get(ctx, "exec//a/"+*worker)
		if err == nil && !alive.Exists() {
			s.looked(ctx)
		}
	}
	return s.Store.List(ctx, prefix, after, limit)
}

// An execution whose process was killed is with nobody or with somebody else when another process has looked twice at
// what workers have, after the store has forgotten the one that was killed. It looks in every third of a lease: that is
// counted here, by what the store says, and TestTakeover of package execution has the times, by a clock of its own.
func TestTheSecondLookTakesOver(t *testing.T) {
	for _, p := range executionPlaces() {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel() // it waits for leases most of the time
			location := p.open(t)
			state, err := openStore(t.Context(), location)
			if err != nil {
				t.Fatal(err)
			}
			defer state.Close()
			victim := start(t, "hang", location, filepath.Join(t.TempDir(), "seen"))
			victim.line(t)
			in, looks := &scanned{Store: state}, 0 // that have found it with the one that was killed
			survivor, err := takingOver(in, dispatcherOf(state), func(
				context.Context, *execution.Run,
			) ([]byte, *execution.Failure) {
				return []byte("1"), nil
			})
			if err != nil {
				t.Fatal(err)
			}
			r, err := survivor.Start(t.Context(), execution.Start{Operation: "work", CallerKey: "ann"})
			for err == nil && r.State != execution.Running {
				r, err = survivor.Wait(t.Context(), "ann", r.ID, r.Version(), time.Minute)
			}
			if err != nil {
				t.Fatal(err)
			}
			id, dead := r.ID, r.Worker
			in.looked = func(ctx context.Context) {
				if now, err := survivor.Get(ctx, "ann", id); err != nil || now.Worker == dead {
					looks++
				}
			}
			in.worker.Store(&dead)
			working, stop := context.WithCancel(t.Context())
			worked := make(chan error, 1)
			go func() { worked <- survivor.Work(working) }()
			_ = victim.Process.Kill()
			killed := time.Now()
			_ = victim.Wait() // it was killed
			for err == nil && !r.State.Terminal() {
				r, err = survivor.Wait(t.Context(), "ann", r.ID, r.Version(), time.Minute)
			}
			took := time.Since(killed)
			stop()
			if failed := <-worked; err != nil || failed != nil || r.State != execution.Completed || r.Attempt < 2 {
				t.Fatalf("%+v, %v, %v", r, err, failed)
			}
			if looks > 2 {
				t.Errorf("look %d has found the execution as it was", looks)
			}
			t.Logf("a lease of %v: another process has ended the execution %v after the kill", workLease, took)
		})
	}
}
