package postgres

import (
	"context"

	"github.com/aqltag/aqltag/runtime/store"
)

// ParseLocation is parseLocation, for the fuzz target.
var ParseLocation = parseLocation

// Stall has a store stop in the middle of taking a claim, for as long as the test needs; the server waits for stall.
// What is returned goes on, and reports what came of it.
func Stall(ctx context.Context, s *Store, stall string, claim store.Claim) (goOn func() error, err error) {
	s.stall = stall
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, err
	}
	claims := []store.Claim{claim}
	states, now, err := s.lock(ctx, conn, [][]byte{[]byte(claim.Key)}, claims)
	return func() error {
		defer release(ctx, conn)
		store.TakeAll(states, claims, now)
		return failed(ctx, "counting", s.write(ctx, conn, claims, states, now))
	}, err
}
