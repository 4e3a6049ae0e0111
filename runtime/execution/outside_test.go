package execution_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/google/go-cmp/cmp"
)

// Executions that are carried out elsewhere run from their start on, and end by what is said of them or by silence.
func TestOutside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := new(store.Memory)
		all := engines(t, 1, state, execution.Options{Most: 2, Operations: map[string]*execution.Operation{
			"agent": {Durable: true, Outside: true},
		}})
		e := all[0]
		start := func() string {
			t.Helper()
			r, err := e.Start(t.Context(), execution.Start{
				Operation: "agent", CallerKey: ann, Params: []byte(`{"a":1}`), Silence: 10 * time.Minute,
			})
			if err != nil {
				t.Fatal(err)
			}
			if r.State != execution.Running || r.Started.IsZero() {
				t.Errorf("it is %s, started %v", r.State, r.Started)
			}
			return r.ID
		}
		expect := func(id string, want execution.State) *execution.Record {
			t.Helper()
			r, err := e.Get(t.Context(), ann, id)
			if err != nil {
				t.Fatal(err)
			}
			if r.State != want || r.State.Terminal() != !r.Finished.IsZero() {
				t.Errorf("it is %s, finished %v; want %s", r.State, r.Finished, want)
			}
			return r
		}
		ended := func(what string, err error) {
			t.Helper()
			if _, ok := errors.AsType[*execution.StateError](err); !ok {
				t.Errorf("%s: %v", what, err)
			}
		}
		first, second := start(), start()
		_, err := e.Start(t.Context(), execution.Start{Operation: "agent", CallerKey: ann})
		if !errors.Is(err, execution.ErrTooMany) {
			t.Errorf("a third one: %v", err)
		}
		time.Sleep(9 * time.Minute)
		three := 3
		if _, err := e.Hear(t.Context(), ann, first, 10*time.Minute, &execution.Progress{Current: &three}); err != nil {
			t.Error(err)
		}
		if _, err := e.Hear(t.Context(), "bob", first, 10*time.Minute, nil); !errors.Is(err, execution.ErrNotFound) {
			t.Errorf("heard of by another caller: %v", err)
		}
		time.Sleep(9 * time.Minute)
		if repaired, err := e.Walk(t.Context()); repaired != 0 || err != nil {
			t.Errorf("the walk has repaired %d: %v", repaired, err)
		}
		if r := expect(first, execution.Running); *r.Progress.Current != 3 {
			t.Errorf("its progress is %+v", r.Progress)
		}
		if r := expect(second, execution.Failed); r.Failure == nil {
			t.Error("it has failed for no reason")
		}
		_, err = e.Hear(t.Context(), ann, second, 10*time.Minute, nil)
		ended("heard of one that has failed", err)

		if _, err := e.Complete(t.Context(), "bob", first, nil); !errors.Is(err, execution.ErrNotFound) {
			t.Errorf("completed by another caller: %v", err)
		}
		r, err := e.Complete(t.Context(), ann, first, []byte(`{"done":true}`))
		if err != nil {
			t.Fatal(err)
		}
		if result, err := e.Result(t.Context(), r); string(result) != `{"done":true}` || err != nil {
			t.Errorf("its result is %s, %v", result, err)
		}
		_, err = e.Complete(t.Context(), ann, first, nil)
		ended("completed twice", err)
		_, err = e.Cancel(t.Context(), ann, first, "")
		ended("cancelled at last", err)

		third := start()
		if _, err := e.Cancel(t.Context(), ann, third, "enough"); err != nil {
			t.Error(err)
		}
		expect(third, execution.Cancelled)
		fourth := start()
		time.Sleep(11 * time.Minute)
		page, err := e.List(t.Context(), execution.Query{CallerKey: ann, First: 10})
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]execution.State{}
		for _, r := range page.Records {
			got[r.ID] = r.State
		}
		want := map[string]execution.State{
			first: execution.Completed, second: execution.Failed, third: execution.Cancelled, fourth: execution.Failed,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the list (-want +got)\n%s", diff)
		}
	})
}

// A walk ends those that nobody asks about.
func TestWalkEndsWhatIsSilent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		all := engines(t, 1, new(store.Memory), execution.Options{Most: 1, Operations: map[string]*execution.Operation{
			"agent": {Durable: true, Outside: true},
		}})
		begin := execution.Start{Operation: "agent", CallerKey: ann}
		if _, err := all[0].Start(t.Context(), begin); err != nil {
			t.Fatal(err)
		}
		time.Sleep(31 * time.Minute)
		if _, err := all[0].Walk(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := all[0].Start(t.Context(), begin); err != nil {
			t.Errorf("the next one: %v", err)
		}
	})
}

// overtaken is a store where something happens before the next change.
type overtaken struct {
	store.Store
	before atomic.Pointer[func()]
}

func (s *overtaken) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	if before := s.before.Swap(nil); before != nil {
		(*before)()
	}
	return s.Store.Put(ctx, key, value, old, ttl)
}

// An execution that is removed while it is read is not found.
func TestGetOfWhatIsRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := &overtaken{Store: new(store.Memory)}
		e := engines(t, 1, state, execution.Options{Operations: map[string]*execution.Operation{
			"agent": {Durable: true, Outside: true},
		}})[0]
		started, err := e.Start(t.Context(), execution.Start{Operation: "agent", CallerKey: ann, Silence: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait() // the worker's heart has beaten
		before := func() {
			entries, err := state.List(t.Context(), "", "", 100)
			if err != nil {
				t.Fatal(err)
			}
			for _, entry := range entries {
				if err := state.Delete(t.Context(), entry.Key, entry.Version); err != nil {
					t.Fatal(err)
				}
			}
		}
		state.before.Store(&before)
		if r, err := e.Get(t.Context(), ann, started.ID); !errors.Is(err, execution.ErrNotFound) {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// What is heard of an execution while somebody is about to end it for its silence counts: nobody is told that it has
// failed. One of which others have heard nothing either has failed.
func TestHeardOfAtTheLastMoment(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for asks, ask := range map[string]func(ctx context.Context, e *execution.Engine, id string) error{
		"a get": func(ctx context.Context, e *execution.Engine, id string) error {
			_, err := e.Get(ctx, ann, id)
			return err
		},
		"a walk": func(ctx context.Context, e *execution.Engine, _ string) error {
			_, err := e.Walk(ctx)
			return err
		},
		"a list": func(ctx context.Context, e *execution.Engine, id string) error {
			page, err := e.List(ctx, execution.Query{CallerKey: ann, First: 1})
			if err != nil {
				return err
			}
			if kept, err := e.Get(ctx, ann, id); err != nil || page.Records[0].State != kept.State {
				return fmt.Errorf("%s is listed, and it is %+v, %w", page.Records[0].State, kept, err)
			}
			return nil
		},
	} {
		for silence, want := range map[time.Duration]execution.State{
			time.Hour: execution.Running, time.Second: execution.Failed,
		} {
			t.Run(fmt.Sprint(asks, ", for ", silence), func(t *testing.T) {
				in := &overtaken{Store: new(store.Memory)}
				process := func(in store.Store, late time.Duration) *execution.Engine {
					e, err := execution.New(execution.Options{
						Store: in, Logger: slog.New(slog.DiscardHandler), Now: func() time.Time { return now.Add(late) },
						Operations: map[string]*execution.Operation{"agent": {Outside: true}},
					})
					if err != nil {
						t.Fatal(err)
					}
					return e
				}
				e, other := process(in, time.Minute), process(in.Store, 0) // their clocks differ
				r, err := other.Start(t.Context(), execution.Start{
					Operation: "agent", CallerKey: ann, Silence: time.Second,
				})
				if err != nil {
					t.Fatal(err)
				}
				before := func() {
					if _, err := other.Hear(t.Context(), ann, r.ID, silence, nil); err != nil {
						t.Error(err)
					}
				}
				in.before.Store(&before)
				if err := ask(t.Context(), e, r.ID); err != nil {
					t.Error(err)
				}
				if r, err = other.Get(t.Context(), ann, r.ID); err != nil || r.State != want {
					t.Errorf("%+v, %v; want %s", r, err, want)
				}
			})
		}
	}
}

// An execution that is carried out elsewhere is not queued where the process is killed that was about to end it. One
// that a process has queued nevertheless, of an earlier version, does not stay in the queue.
func TestOutsideIsNotQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := new(store.Memory)
		operations := map[string]*execution.Operation{"agent": {Outside: true}}
		dying := &hooked{Store: in}
		e := newEngine(t, dying, operations)
		r, err := e.Start(t.Context(), execution.Start{Operation: "agent", CallerKey: ann, Silence: 100 * time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		dying.after = func(string, string, []byte) error { return errDead }
		if _, err := e.Complete(t.Context(), ann, r.ID, []byte("1")); !errors.Is(err, errDead) {
			t.Fatal(err)
		}
		queued := fmt.Sprintf("exec//q/%016x/%s", uint64(time.Time{}.UnixNano()), r.ID)
		if _, err := in.Put(t.Context(), queued, nil, 0, 0); err != nil {
			t.Fatal(err)
		}
		other := newEngine(t, in, operations)
		defer work(t, other)()
		time.Sleep(time.Minute)
		if queued, taken, _, err := other.Outstanding(t.Context()); queued+taken != 0 || err != nil {
			t.Errorf("%d are queued and %d taken: %v", queued, taken, err)
		}
		if _, err := other.Complete(t.Context(), ann, r.ID, []byte("1")); err != nil {
			t.Error(err)
		}
	})
}
