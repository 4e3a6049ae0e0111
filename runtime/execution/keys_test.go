package execution_test

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// keysIn returns the keys of starts that a store has.
func keysIn(t *testing.T, in store.Store) []store.Entry {
	t.Helper()
	keys, err := in.List(t.Context(), "exec//k/", "", 10)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

// The key of a start whose process was killed goes after two walks.
func TestKeysOfStartsThatWereKilledGo(t *testing.T) {
	in := new(store.Memory)
	operations := map[string]*execution.Operation{"work": {Durable: true}}
	start := execution.Start{Operation: "work", CallerKey: ann, Once: "key"}
	if _, err := newEngine(t, &killed{Store: in}, operations).Start(t.Context(), start); !errors.Is(err, errDead) {
		t.Fatal(err)
	}
	e := newEngine(t, in, operations)
	for _, want := range []int{1, 0} {
		if _, err := e.Walk(t.Context()); err != nil {
			t.Fatal(err)
		}
		if keys := keysIn(t, in); len(keys) != want {
			t.Errorf("after a walk there are %d, want %d", len(keys), want)
		}
	}
}

// The key of a start that is refused because no worker runs is free at once.
func TestKeysOfStartsWithoutAWorkerAreFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := new(store.Memory)
		e := newEngine(t, in, map[string]*execution.Operation{"work": {}})
		start := execution.Start{Operation: "work", CallerKey: ann, Once: "key"}
		if _, err := e.Start(t.Context(), start); !errors.Is(err, execution.ErrNotWorking) {
			t.Fatal(err)
		}
		if keys := keysIn(t, in); len(keys) != 0 {
			t.Errorf("there still is %s", keys[0].Key)
		}
	})
}

// The key of an execution is that of one only, and stays, although a walk has found the key before the execution was
// made, or removes it while that is being made.
func TestKeysOfSlowStartsStay(t *testing.T) {
	for walks := range 3 {
		synctest.Test(t, func(t *testing.T) {
			in := new(store.Memory)
			operations := map[string]*execution.Operation{"work": {Durable: true}}
			e := newEngine(t, in, operations)
			slow := &hooked{Store: in}
			slow.before = func(_, key string, _ []byte) error {
				if strings.Contains(key, "/r/") {
					slow.before = nil
					for range walks {
						if _, err := e.Walk(t.Context()); err != nil {
							t.Error(err)
						}
					}
				}
				return nil
			}
			start := execution.Start{Operation: "work", CallerKey: ann, Once: "key", Params: []byte("{}")}
			r, err := newEngine(t, slow, operations).Start(t.Context(), start)
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if _, err := e.Walk(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if again, err := e.Start(t.Context(), start); err != nil || again.ID != r.ID {
				t.Errorf("after %d walks: %+v, %v", walks, again, err)
			}
			if _, err := e.Cancel(t.Context(), ann, r.ID, ""); err != nil {
				t.Fatal(err)
			}
			time.Sleep(25 * time.Hour)
			if keys := keysIn(t, in); len(keys) != 0 {
				t.Errorf("after %d walks there still is %s", walks, keys[0].Key)
			}
		})
	}
}

// A key starts one execution, although the first start with it comes back after two months.
func TestKeysOfStartsThatAreFrozenForLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := new(store.Memory)
		operations := map[string]*execution.Operation{"work": {Durable: true, Keep: 100 * 24 * time.Hour}}
		start := execution.Start{Operation: "work", CallerKey: ann, Once: "key"}
		slow, second := &hooked{Store: in}, (*execution.Record)(nil)
		slow.before = func(_, key string, _ []byte) (err error) {
			if strings.Contains(key, "/r/") {
				slow.before = nil
				second, err = newEngine(t, in, operations).Start(t.Context(), start)
				time.Sleep(60 * 24 * time.Hour)
			}
			return err
		}
		first, err := newEngine(t, slow, operations).Start(t.Context(), start)
		if err != nil || first.ID != second.ID {
			t.Errorf("one key has started %+v and %+v: %v", first, second, err)
		}
	})
}
