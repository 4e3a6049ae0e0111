package execution_test

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/google/go-cmp/cmp"
)

// A start whose execution a walk has buried begins again, and leaves nothing of the buried one but its record, and its
// entry of the queue, which goes with whoever claims it.
func TestBuriedStartLeavesNothing(t *testing.T) {
	for name, test := range map[string]struct {
		operation execution.Operation
		left      []string
	}{
		"of one that is queued":      {execution.Operation{Durable: true}, []string{"exec//q/", "exec//r/"}},
		"of one that runs elsewhere": {execution.Operation{Outside: true}, []string{"exec//r/"}},
	} {
		t.Run(name, func(t *testing.T) {
			in := new(store.Memory)
			operations := map[string]*execution.Operation{"copy": &test.operation}
			walker := newEngine(t, in, operations)
			buried := ""
			behind := &hooked{Store: in, before: func(_, key string, value []byte) error {
				_, id := stateIn(key, value)
				if id == "" || buried != "" {
					return nil
				}
				buried = id
				_, err := walker.Walk(t.Context())
				return err
			}}
			started, err := newEngine(t, behind, operations).Start(t.Context(), execution.Start{
				Operation: "copy", CallerKey: ann, Params: bytes.Repeat([]byte("x"), 100_000),
			})
			if err != nil {
				t.Fatal(err)
			}
			if started.ID == buried {
				t.Error("the execution that was buried was started")
			}
			parts := make(map[string]bool)
			entries, err := in.List(t.Context(), "", "", 1000)
			if err != nil {
				t.Fatal(err)
			}
			for _, entry := range entries {
				if strings.Contains(entry.Key, buried) || bytes.Contains(entry.Value, []byte(buried)) {
					parts[entry.Key[:len("exec//r/")]] = true
				}
			}
			if diff := cmp.Diff(test.left, slices.Sorted(maps.Keys(parts))); diff != "" {
				t.Errorf("what is left of it (-want +got):\n%s", diff)
			}
		})
	}
}
