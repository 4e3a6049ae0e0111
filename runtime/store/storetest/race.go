package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// goroutines is how many race in a test, on two stores at the same location.
const goroutines = 32

func race(t *testing.T, open func(t *testing.T) store.Store) {
	both := [2]store.Store{open(t), open(t)}
	for round := range 20 {
		key := fmt.Sprintf("race/%d", round)
		version := put(t, both[0], key, "free", 0, time.Minute)
		var won, created atomic.Int32
		together := make(chan struct{})
		var wg sync.WaitGroup
		for i := range goroutines {
			wg.Go(func() {
				<-together
				_, err := both[i%2].Put(t.Context(), key, fmt.Append(nil, i), version, time.Minute)
				count(t, &won, err)
				_, err = both[i%2].Put(t.Context(), key+"/new", fmt.Append(nil, i), 0, time.Minute)
				count(t, &created, err)
			})
		}
		close(together)
		wg.Wait()
		if won.Load() != 1 || created.Load() != 1 {
			t.Fatalf("round %d: %d changes and %d creations won", round, won.Load(), created.Load())
		}
	}
}

func count(t *testing.T, won *atomic.Int32, err error) {
	switch {
	case err == nil:
		won.Add(1)
	case !errors.Is(err, store.ErrConflict):
		t.Errorf("a change that lost: %v", err)
	}
}

func lastPlace(t *testing.T, open func(t *testing.T) store.Store) {
	both := [2]store.Store{open(t), open(t)}
	ends := time.Now().Add(time.Hour)
	for round := range 10 {
		for _, claim := range []store.Claim{
			{Key: fmt.Sprintf("last/period/%d", round), N: 1, Limit: 3, Ends: ends},
			{Key: fmt.Sprintf("last/window/%d", round), N: 1, Limit: 3, Window: time.Hour},
		} {
			var taken atomic.Int64
			together := make(chan struct{})
			var wg sync.WaitGroup
			for i := range goroutines {
				wg.Go(func() {
					<-together
					counts, err := both[i%2].Take(t.Context(), []store.Claim{claim})
					if err != nil {
						t.Error(err)
					} else if !counts[0].Refused {
						taken.Add(1)
					}
				})
			}
			close(together)
			wg.Wait()
			if taken.Load() != claim.Limit {
				t.Fatalf("%s: %d were taken, want %d", claim.Key, taken.Load(), claim.Limit)
			}
		}
	}
}

func overlap(t *testing.T, open func(t *testing.T) store.Store) {
	both := [2]store.Store{open(t), open(t)}
	a := store.Claim{Key: "overlap/a", N: 1, Window: time.Hour}
	b := store.Claim{Key: "overlap/b", N: 1, Ends: time.Now().Add(time.Hour)}
	var wg sync.WaitGroup
	for i := range goroutines {
		wg.Go(func() {
			claims := []store.Claim{a, b}
			if i%2 == 0 {
				claims = []store.Claim{b, a}
			}
			for range 10 {
				if _, err := both[i/2%2].Take(t.Context(), claims); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	a.N = 0
	if got := take(t, both[0], a)[0]; got.Used != goroutines*10 {
		t.Errorf("%d were taken, want %d", got.Used, goroutines*10)
	}
}
