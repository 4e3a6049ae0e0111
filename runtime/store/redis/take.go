package redis

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// Take implements store.Store. It fails with store.ErrFull where the server has reached its maxmemory, and where a claim, a
// limit or a counter would exceed 2^53-1, to which the scripts of Redis count exactly.
func (s *Store) Take(ctx context.Context, claims []store.Claim) ([]store.Count, error) {
	if err := ctx.Err(); err != nil || len(claims) == 0 {
		return nil, err
	}
	keys := make([]string, len(claims))
	args := make([]any, 1, 1+4*len(claims))
	args[0] = s.now
	claimed := make(map[string]bool, len(claims))
	for i, claim := range claims {
		if claim.N > most || claim.N < -most || claim.Limit > most {
			return nil, fmt.Errorf("taking from the Redis store: %w", refusal("AQLRANGE"))
		}
		if claimed[claim.Key] {
			return nil, errors.New("taking from the Redis store: a counter is claimed twice at once")
		}
		claimed[claim.Key] = true
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

// slot is the length of a tenth of the window in milliseconds, rounded up as store.Counter does; 0 for a period.
func slot(claim store.Claim) int64 {
	if claim.Window <= 0 {
		return 0
	}
	const whole = 10 * time.Millisecond
	return int64((claim.Window-1)/whole) + 1
}

// count reads the answer to one claim. Only an answer that is all there may allow something.
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
