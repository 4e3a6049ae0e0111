package execution_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/execution/executiontest"
	"github.com/aqltag/aqltag/runtime/store"
)

// REQ-EL-02: whatever call of the store is the last one of a process, or the last one for a long time, executions go
// on.
func TestFailures(t *testing.T) {
	executiontest.Run(t, executiontest.Options{
		Open:  func(*testing.T) store.Store { return new(store.Memory) },
		Lease: 15 * time.Second, Isolate: synctest.Test,
	})
}

// REQ-EL-02: executions that a dispatcher hands out go on, too, whatever call of it or of the store is the last one of
// a process.
func TestFailuresWithDispatcher(t *testing.T) {
	executiontest.Run(t, executiontest.Options{
		Open:       func(*testing.T) store.Store { return new(store.Memory) },
		Dispatcher: func(store.Store) execution.Dispatcher { return new(executiontest.Queue) },
		Lease:      15 * time.Second, Isolate: synctest.Test,
	})
}
