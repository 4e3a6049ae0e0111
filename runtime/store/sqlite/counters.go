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
	selectCounter = "SELECT state FROM counters WHERE key = ? AND expires_at > ?"
	putCounter    = "INSERT INTO counters (key, expires_at, state) VALUES (?, ?, ?)" +
		" ON CONFLICT (key) DO UPDATE SET expires_at = excluded.expires_at, state = excluded.state"
)

// Take implements store.Store. It fails with store.ErrFull where the disk is full.
func (s *Store) Take(ctx context.Context, claims []store.Claim) ([]store.Count, error) {
	claims = slices.Clone(claims) // the call may end before the disk has answered
	var counts []store.Count
	err := s.change(ctx, false, func(c *connection, now time.Time) (bool, error) {
		counters := make([]store.Counter, len(claims))
		for i, claim := range claims {
			var state []byte
			err := c.queryRow(selectCounter, []byte(claim.Key), now.UnixMilli()).Scan(&state)
			if err != nil && !errors.Is(err, sql.ErrNoRows) {
				return false, err
			}
			if counters[i], err = store.ParseCounter(state); err != nil {
				return false, err
			}
		}
		taken := false
		if counts, taken = store.TakeAll(counters, claims, now); !taken {
			return false, nil
		}
		changed := false
		for i, claim := range claims {
			if claim.N == 0 {
				continue
			}
			changed = true
			expires := now.Add(claim.Keep(now)).UnixMilli()
			if err := c.exec(putCounter, []byte(claim.Key), expires, counters[i].Append(nil)); err != nil {
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
