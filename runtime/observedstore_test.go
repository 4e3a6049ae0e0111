package aql

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/internal/observer"
	"github.com/aqltag/aqltag/runtime/observe"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/google/go-cmp/cmp"
)

// Hooks are told of each call of the state, and whether it failed. That somebody else was faster is no failure, nor
// that who asked waits no longer; that the state was too slow is one.
func TestHooksSeeTheState(t *testing.T) {
	var told []observe.StoreCall
	watching := observer.New(&observe.Hooks{Store: func(_ context.Context, c observe.StoreCall) {
		if c.Took < 0 || c.Took > time.Minute {
			t.Errorf("%s took %v", c.Method, c.Took)
		}
		c.Took = 0
		told = append(told, c)
	}}, nil)
	ctx := t.Context()
	s := observedStore(new(store.Memory), watching)
	version, err := s.Put(ctx, "a", []byte("x"), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Put(ctx, "a", []byte("y"), 0, 0); !errors.Is(err, store.ErrConflict) {
		t.Error(err)
	}
	if entry, err := s.Get(ctx, "a"); err != nil || string(entry.Value) != "x" {
		t.Errorf("%+v, %v", entry, err)
	}
	if entries, err := s.List(ctx, "", "", 10); err != nil || len(entries) != 1 {
		t.Errorf("%+v, %v", entries, err)
	}
	if err := s.Delete(ctx, "a", version); err != nil {
		t.Error(err)
	}
	if counts, err := s.Take(ctx, []store.Claim{{Key: "n", N: 1, Limit: 2, Window: time.Minute}}); err != nil ||
		len(counts) != 1 {
		t.Errorf("%+v, %v", counts, err)
	}
	if _, err := observedStore(brokenState{}, watching).Get(ctx, "a"); !errors.Is(err, errSecret) {
		t.Error(err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := s.List(cancelled, "", "", 10); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	late, cancel := context.WithTimeout(ctx, 0)
	defer cancel()
	if _, err := s.Get(late, "a"); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	want := []observe.StoreCall{
		{Method: observe.StorePut}, {Method: observe.StorePut}, {Method: observe.StoreGet}, {Method: observe.StoreList},
		{Method: observe.StoreDelete}, {Method: observe.StoreTake}, {Method: observe.StoreGet, Failed: true},
		{Method: observe.StoreList}, {Method: observe.StoreGet, Failed: true},
	}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// A state of which hooks are told notifies as it did before, if it does, and the adapter finds what else it is. Where
// nobody wants to be told, it is the one that the program has given.
func TestObservedStatesAreWhatTheyWere(t *testing.T) {
	watching := observer.New(&observe.Hooks{Store: func(context.Context, observe.StoreCall) {}}, nil)
	memory, plain := new(store.Memory), brokenState{}
	notifier, ok := observedStore(memory, watching).(store.Notifier)
	if !ok {
		t.Fatal("a state that notifies does not any more")
	}
	changes := notifier.Listen(t.Context(), "x")
	if err := notifier.Notify(t.Context(), "x"); err != nil {
		t.Error(err)
	}
	<-changes
	if _, ok := observedStore(plain, watching).(store.Notifier); ok {
		t.Error("a state notifies that did not")
	}
	for _, given := range []store.Store{memory, plain} {
		if unobserved(observedStore(given, watching)) != given || unobserved(given) != given {
			t.Errorf("%T is lost", given)
		}
		for _, nobody := range []*observer.Observer{nil, observer.New(new(observe.Hooks), nil)} {
			if observedStore(given, nobody) != given {
				t.Errorf("%T is observed for nobody", given)
			}
		}
	}
	if observedStore(nil, watching) != nil {
		t.Error("there is a state")
	}
}
