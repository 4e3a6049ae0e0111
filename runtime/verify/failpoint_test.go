package verify_test

import (
	"testing"

	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/verify/verifytest"
)

// REQ-OV-08: whatever call of the store is the last one of a process, and whoever comes at the same time, an agent that
// is held stays held until a code is passed or a person lifts that, and can be let go.
func TestStores(t *testing.T) {
	state := new(store.Memory)
	verifytest.Run(t, verifytest.Options{Open: func(*testing.T) store.Store { return state }})
}
