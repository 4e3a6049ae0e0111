package redis

import (
	"context"
	"fmt"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// Take implements store.Store. It fails with store.ErrFull if the server has reached its maxmemory. It fails if a
// claim, a limit or a counter exceeds 2^53-1: the scripts of Redis count exactly only up to that.
func (s *Store) Take(ctx context.Context, claims []store.Claim) ([]store.Count, error) {
	if err := ctx.Err(); err != nil || len(claims) == 0 {
		return nil, err
	}
	if err := store.CheckClaims(claims); err != nil {
		return nil, fmt.Errorf("taking from the Redis store: %w", err)
	}
	keys := make([]string, len(claims))
	args := make([]any, 1, 1+4*len(claims))
	args[0] = s.now
	for i, claim := range claims {
		if claim.N > most || claim.N < -most || claim.Limit > most {
			return nil, fmt.Errorf("taking from the Redis store: %w", refusal("AQLRANGE"))
		}
		keys[i] = s.space + "c:" + claim.Key
		args = append(args, claim.N, claim.Limit, slot(claim), claim.Ends.UnixMilli())
	}
	answer, err := s.run(ctx, takeScript, keys, args...)
	if err != nil {
		return nil, fmt.Errorf("taking from the Redis store: %w", explain(err))
	}
	answers, ok := answer.([]any)
	if !ok || len(answers) != len(claims) {
		return nil, fmt.Errorf("taking from the Redis store: %w", errAnswer)
	}
	counts := make([]store.Count, len(claims))
	for i, answer := range answers {
		if counts[i], err = count(answer); err != nil {
			return nil, fmt.Errorf("taking from the Redis store: %w", err)
		}
	}
	return counts, nil
}

// slot returns the length of a tenth of the window in milliseconds, rounded up as in store.Counter; 0 for a period.
func slot(claim store.Claim) int64 {
	if claim.Window <= 0 {
		return 0
	}
	const whole = 10 * time.Millisecond
	return int64((claim.Window-1)/whole) + 1
}

// count reads the answer to one claim. An incomplete answer is an error, so that it allows nothing.
func count(answer any) (store.Count, error) {
	values, ok := answer.([]any)
	if !ok || len(values) != 3 {
		return store.Count{}, errAnswer
	}
	var numbers [3]int64
	for i, value := range values {
		if numbers[i], ok = value.(int64); !ok {
			return store.Count{}, errAnswer
		}
	}
	c := store.Count{Used: numbers[0], Refused: numbers[1] != 0}
	if c.Refused {
		c.Free = time.UnixMilli(numbers[2])
	}
	return c, nil
}
