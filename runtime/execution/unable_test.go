package execution_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// A process says which operations nobody has whose executions are due for an hour, and how many executions a later
// version has written, until somebody has taken them.
func TestWhatAProcessCannotRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		in := new(store.Memory)
		done := func(context.Context, *execution.Run) ([]byte, *execution.Failure) { return nil, nil }
		old := engines(t, 1, in, execution.Options{Operations: map[string]*execution.Operation{
			"known": {Durable: true, Do: done}, "new": {Durable: true},
		}})[0]
		start := func(operation string) string {
			r, err := old.Start(t.Context(), execution.Start{Operation: operation, CallerKey: ann})
			if err != nil {
				t.Fatal(err)
			}
			return r.ID
		}
		expect := func(when string, want *execution.UnableError) {
			t.Helper()
			var got *execution.UnableError
			if err := old.Unable(); err != nil && !errors.As(err, &got) {
				t.Errorf("%s: %v", when, err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (-want +got)\n%s", when, diff)
			}
		}
		start("known")
		id := start("new")
		time.Sleep(50 * time.Minute)
		expect("while others may take it", nil)
		time.Sleep(15 * time.Minute)
		expect("after an hour", &execution.UnableError{Operations: []string{"new"}})

		ofLaterVersion(t, in, start("new"))
		time.Sleep(2 * time.Minute)
		expect("when a later version has just written one", &execution.UnableError{Operations: []string{"new"}})
		time.Sleep(63 * time.Minute)
		expect("an hour after a later version has written one",
			&execution.UnableError{Operations: []string{"new"}, Later: 1})

		engines(t, 1, in, execution.Options{Operations: map[string]*execution.Operation{"new": {Durable: true, Do: done}}})
		ended(t, old, id)
		time.Sleep(5 * time.Minute)
		expect("when a process has the operation", &execution.UnableError{Later: 1})
	})
}

// ofLaterVersion makes the record of an execution one that a later version of the program has written.
func ofLaterVersion(t *testing.T, in store.Store, id string) {
	t.Helper()
	entries, err := in.List(t.Context(), "exec/", "", 1000)
	if err != nil {
		t.Fatal(err)
	}
	for _, entry := range entries {
		if strings.HasSuffix(entry.Key, "/r/"+id) {
			value := append([]byte("2"), entry.Value[1:]...)
			if _, err := in.Put(t.Context(), entry.Key, value, entry.Version, 0); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
	t.Fatalf("there is no record of %s", id)
}
