package storetest_test

import (
	"testing"

	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/store/storetest"
)

// The test of a store of one's own. This one is in memory; a store on a server opens the same location in each call,
// and closes it with t.Cleanup.
func ExampleRun() {
	var t *testing.T // of func TestStore(t *testing.T)
	mine := new(store.Memory)
	storetest.Run(t, func(*testing.T) store.Store { return mine })
}
