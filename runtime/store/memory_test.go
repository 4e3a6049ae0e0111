package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/store/storetest"
)

func TestMemory(t *testing.T) {
	memory := new(store.Memory)
	storetest.Run(t, func(*testing.T) store.Store { return memory })
}

// A flood of changes does not remove state, and the store does not grow without bound; expired entries make space.
func TestMemoryIsBounded(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	memory := &store.Memory{MaxEntries: 3000, Now: func() time.Time { return now }}
	for i := range 3000 {
		if _, err := memory.Put(t.Context(), fmt.Sprint(i), nil, 0, time.Duration(1+i%2)*time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	claims := []store.Claim{{Key: "c", N: 1, Window: time.Minute}}
	if _, err := memory.Put(t.Context(), "x", nil, 0, time.Minute); !errors.Is(err, store.ErrFull) {
		t.Errorf("one more entry: %v", err)
	}
	if _, err := memory.Take(t.Context(), claims); !errors.Is(err, store.ErrFull) {
		t.Errorf("a counter: %v", err)
	}
	now = now.Add(90 * time.Second)
	if _, err := memory.Take(t.Context(), claims); err != nil {
		t.Errorf("a counter when half of the entries have expired: %v", err)
	}
	if e, err := memory.Get(t.Context(), "1"); err != nil || !e.Exists() {
		t.Errorf("an entry that has not: %+v, %v", e, err)
	}
}
