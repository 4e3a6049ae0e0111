package state

import (
	"testing"

	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/verify/verifytest"
)

// Agents stay held, and can be let go, whatever happens to the processes that share a store of any kind.
func TestAgentsStayHeld(t *testing.T) {
	for _, p := range places() {
		t.Run(p.name, func(t *testing.T) {
			location, every := p.open(t), 1
			if testing.Short() {
				every = 5
			}
			verifytest.Run(t, verifytest.Options{Every: every, First: *firstCall, Open: func(t *testing.T) store.Store {
				t.Helper()
				s, err := openStore(t.Context(), location)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { s.Close() })
				return s
			}})
		})
	}
}
