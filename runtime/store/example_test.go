package store_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// counting is a store of one's own: it holds state in memory, and counts the calls of Put.
type counting struct {
	store.Memory
	puts int
}

func (s *counting) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	s.puts++
	return s.Memory.Put(ctx, key, value, old, ttl)
}

// Values have versions. A change that expects another version than there is fails, so that of two callers one succeeds.
func ExampleStore() {
	var s store.Store = new(counting)
	ctx := context.Background()
	first, err := s.Put(ctx, "token/7", []byte("issued"), 0, time.Hour)
	if err != nil {
		log.Fatal(err)
	}
	if _, err = s.Put(ctx, "token/7", []byte("redeemed"), first, time.Hour); err != nil {
		log.Fatal(err)
	}
	_, err = s.Put(ctx, "token/7", []byte("redeemed"), first, time.Hour)
	fmt.Println("a second time:", err, errors.Is(err, store.ErrConflict))
	// Output: a second time: the entry is at another version true
}

// Claims add to counters: here at most two calls a minute.
func ExampleClaim() {
	s := new(store.Memory)
	claim := store.Claim{Key: "calls", N: 1, Limit: 2, Window: time.Minute}
	for range 3 {
		counts, err := s.Take(context.Background(), []store.Claim{claim})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(counts[0].Used, "used, refused:", counts[0].Refused)
	}
	// Output:
	// 1 used, refused: false
	// 2 used, refused: false
	// 2 used, refused: true
}
