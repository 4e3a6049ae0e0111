package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

const (
	selectCounter = "SELECT state, expires_at FROM counters WHERE key = ? AND expires_at > ?"
	putCounter    = "INSERT INTO counters (key, expires_at, state) VALUES (?, ?, ?)" +
		" ON CONFLICT (key) DO UPDATE SET expires_at = excluded.expires_at, state = excluded.state"
	putState = "UPDATE counters SET state = ? WHERE key = ?"
)

// Take implements store.Store. It fails with store.ErrFull if the disk is full.
func (s *Store) Take(ctx context.Context, claims []store.Claim) ([]store.Count, error) {
	if err := store.CheckClaims(claims); err != nil {
		return nil, fmt.Errorf("taking from counters: %w", err)
	}
	claims = slices.Clone(claims) // the call may end before the disk has answered
	var counts []store.Count
	err := s.change(ctx, false, func(c *connection, now time.Time) (_ bool, err error) {
		counters, expiry := make([]store.Counter, len(claims)), make([]int64, len(claims))
		for i, claim := range claims {
			var state []byte
			err := c.queryRow(selectCounter, []byte(claim.Key), now.UnixMilli()).Scan(&state, &expiry[i])
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				return false, err
			}
			if counters[i], err = store.ParseCounter(state); err != nil {
				return false, err
			}
		}
		var taken, changed bool
		if counts, taken = store.TakeAll(counters, claims, now); !taken {
			return false, nil
		}
		for i, claim := range claims {
			if claim.N == 0 {
				continue
			}
			changed = true
			key, state := []byte(claim.Key), counters[i].Append(nil)
			// Whole seconds, so that the index of expiry times does not change with each use of a busy counter.
			expires := now.Add(counters[i].Keep(claim, now)).Truncate(time.Second).Add(time.Second).UnixMilli()
			if expires == expiry[i] {
				err = c.exec(putState, state, key)
			} else {
				err = c.exec(putCounter, key, expires, state)
			}
			if err != nil {
				return false, err
			}
		}
		return changed, nil
	})
	if err != nil {
		return nil, fmt.Errorf("taking from counters: %w", explain(err))
	}
	return counts, nil
}
