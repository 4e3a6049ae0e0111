package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/store/storetest"
)

func TestStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, path) })
}

func open(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}
