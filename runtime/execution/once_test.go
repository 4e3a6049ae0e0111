package execution_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// key returns a state key of one letter.
func key(letter string) []byte { return []byte(strings.Repeat(letter, 32)) }

// startOnce starts an execution with a key in a process with some state keys, which ends at once.
func startOnce(t *testing.T, in store.Store, canonical string, keys ...[]byte) (*execution.Record, error) {
	t.Helper()
	e, err := execution.New(execution.Options{
		Store: in, Keys: keys, Logger: slog.New(slog.DiscardHandler),
		Operations: map[string]*execution.Operation{"work": {Durable: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return e.Start(t.Context(), execution.Start{
		Operation: "work", CallerKey: ann, Params: []byte("spelled as it likes"), Once: "1234", Canonical: []byte(canonical),
	})
}

// A key of a caller is known whichever state key is the first, also when the one is gone with which it was made.
func TestOnceWithOtherStateKeys(t *testing.T) {
	in := new(store.Memory)
	first, err := startOnce(t, in, "4711", key("a"))
	if err != nil {
		t.Fatal(err)
	}
	for name, keys := range map[string][][]byte{
		"the same": {key("a")}, "a second one": {key("a"), key("b")},
	} {
		if again, err := startOnce(t, in, "4711", keys...); err != nil || again.ID != first.ID {
			t.Errorf("%s: %+v, %v", name, again, err)
		}
	}
	if _, err := startOnce(t, in, "4711", key("b")); err == nil || !strings.Contains(err.Error(), "state keys") {
		t.Errorf("a process that does not have the key: %v", err)
	}
	for _, keys := range [][][]byte{{key("b"), key("a")}, {key("b")}, {key("c"), key("b")}, {key("c")}} {
		again, err := startOnce(t, in, "4711", keys...)
		if err != nil || again.ID != first.ID {
			t.Errorf("%.1s: %+v, %v", keys, again, err)
		}
		other := (*execution.OnceError)(nil)
		if _, err := startOnce(t, in, "4712", keys...); !errors.As(err, &other) || other.ID != first.ID {
			t.Errorf("%.1s with other parameters: %v", keys, err)
		}
	}
}

// A worker seals the secret of the digests with the first of its keys, although nothing is started meanwhile.
func TestWorkersSealTheSecretAnew(t *testing.T) {
	in := new(store.Memory)
	first, err := startOnce(t, in, "4711", key("a"))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		engines(t, 1, in, execution.Options{Keys: [][]byte{key("b"), key("a")}})
		synctest.Wait()
	})
	if again, err := startOnce(t, in, "4711", key("b")); err != nil || again.ID != first.ID {
		t.Errorf("%+v, %v", again, err)
	}
}

// A worker that cannot read what others have sealed does not begin, and so ends no execution of theirs.
func TestWorkersWithoutTheKey(t *testing.T) {
	in := new(store.Memory)
	if _, err := startOnce(t, in, "4711", key("a")); err != nil {
		t.Fatal(err)
	}
	e, err := execution.New(execution.Options{Store: in, Keys: [][]byte{key("b")}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	if err := e.Work(t.Context()); err == nil || !strings.Contains(err.Error(), "state keys") {
		t.Errorf("it begins: %v", err)
	}
}

// What a store has of a key, of parameters and of the names of steps is different in every store, also where all of
// them are the same: nobody can find them by trying.
func TestDigestsTellNothing(t *testing.T) {
	seen := make(map[string]bool)
	for range 2 {
		synctest.Test(t, func(t *testing.T) {
			in := new(store.Memory)
			all := engines(t, 1, in, execution.Options{Keys: [][]byte{key("a")}, Operations: map[string]*execution.Operation{
				"work": {Durable: true, Do: func(ctx context.Context, run *execution.Run) ([]byte, *execution.Failure) {
					one := func(context.Context) ([]byte, error) { return []byte("1"), nil }
					if _, err := run.Step(ctx, "step 1", one); err != nil {
						t.Error(err)
					}
					<-ctx.Done()
					return nil, &execution.Failure{Code: "INTERNAL_ERROR"}
				}},
			}})
			r, err := all[0].Start(t.Context(), execution.Start{
				Operation: "work", CallerKey: ann, Params: []byte("4711"), Once: "1234",
			})
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			for _, prefix := range []string{"exec//k/", "exec//s/"} {
				entries, err := in.List(t.Context(), prefix, "", 10)
				if err != nil || len(entries) != 1 {
					t.Fatal(entries, err)
				}
				name := entries[0].Key[strings.LastIndexByte(entries[0].Key, '/')+1:]
				value := strings.ReplaceAll(string(entries[0].Value), r.ID, "")
				if seen[name] || seen[value] {
					t.Errorf("%s = %s, as in the other store", entries[0].Key, entries[0].Value)
				}
				seen[name], seen[value] = true, true
			}
		})
	}
}
