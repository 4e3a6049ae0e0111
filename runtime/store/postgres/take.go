package postgres

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// stall is how long a transaction may be idle before the server ends it: a process that was stopped, or whose host is
// gone, must not lock out the others.
const stall = "10s"

// Take implements store.Store. Keys have at most 2,048 bytes. It needs two round trips, or one if all claims only
// check.
func (s *Store) Take(ctx context.Context, claims []store.Claim) ([]store.Count, error) {
	const doing = "counting"
	if err := store.CheckClaims(claims); err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	keys := make([][]byte, len(claims))
	checkOnly := true
	for i, claim := range claims {
		if err := checkKey(doing, claim.Key); err != nil {
			return nil, err
		}
		keys[i] = []byte(claim.Key)
		checkOnly = checkOnly && claim.N == 0
	}
	slices.SortFunc(keys, bytes.Compare)
	counts, rows := []store.Count{}, 0
	err := s.try(ctx, doing, checkOnly, func() (err error) {
		switch {
		case len(claims) == 0:
		case checkOnly:
			counts, err = s.check(ctx, keys, claims)
		default:
			counts, rows, err = s.take(ctx, keys, claims)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if rows > 0 {
		s.sweep(ctx, rows)
	}
	return counts, nil
}

// check reads counters without locking them: one statement reads all of them at the same time.
func (s *Store) check(ctx context.Context, keys [][]byte, claims []store.Claim) ([]store.Count, error) {
	rows, err := s.pool.Query(ctx, s.sql.read, keys)
	if err != nil {
		return nil, err
	}
	states, _, now, err := readCounters(rows, claims)
	if err != nil {
		return nil, err
	}
	counts, _ := store.TakeAll(states, claims, now)
	return counts, nil
}

// take adds to counters in one transaction, and returns how many rows it wrote.
func (s *Store) take(
	ctx context.Context, keys [][]byte, claims []store.Claim,
) (counts []store.Count, written int, err error) {
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer release(ctx, conn)

	states, now, err := s.lock(ctx, conn, keys, claims)
	if err != nil {
		return nil, 0, err
	}
	counts, taken := store.TakeAll(states, claims, now)
	if !taken {
		return counts, 0, nil
	}
	err = s.write(ctx, conn, claims, states, now)
	return counts, len(keys), err
}

// lock begins a transaction that locks the counters, and reads them.
func (s *Store) lock(
	ctx context.Context, conn *pgxpool.Conn, keys [][]byte, claims []store.Claim,
) ([]store.Counter, time.Time, error) {
	batch := &pgx.Batch{}
	batch.Queue(`begin isolation level read committed`)
	batch.Queue(`select set_config('idle_in_transaction_session_timeout', $1::text, true)`, s.stall)
	batch.Queue(s.sql.lock, keys)
	batch.Queue(s.sql.read, keys) // a statement after the locks: it sees what the holders before have committed
	results := conn.SendBatch(ctx, batch)
	for range batch.Len() - 1 {
		if _, err := results.Exec(); err != nil {
			_ = results.Close()
			return nil, time.Time{}, err
		}
	}
	rows, _ := results.Query() // readCounters returns its error, too
	states, found, now, err := readCounters(rows, claims)
	if err := cmp.Or(err, results.Close()); err != nil {
		return nil, time.Time{}, err
	}
	if found != len(claims) {
		return nil, time.Time{}, fmt.Errorf("%d of %d counters were locked", found, len(claims))
	}
	return states, now, nil
}

// write writes the counters that have changed, and commits.
func (s *Store) write(
	ctx context.Context, conn *pgxpool.Conn, claims []store.Claim, states []store.Counter, now time.Time,
) error {
	var changed, values [][]byte
	var keep []int64
	for i, claim := range claims {
		if claim.N == 0 {
			continue
		}
		changed = append(changed, []byte(claim.Key))
		values = append(values, states[i].Append(nil))
		keep = append(keep, states[i].Keep(claim, now).Milliseconds())
	}
	batch := &pgx.Batch{}
	batch.Queue(s.sql.write, changed, values, keep)
	batch.Queue(`commit`)
	results := conn.SendBatch(ctx, batch)
	updated, err := results.Exec()
	if err != nil {
		_ = results.Close()
		return err
	}
	committed, err := results.Exec()
	if err := cmp.Or(err, results.Close()); err != nil {
		return err
	}
	if updated.RowsAffected() != int64(len(changed)) || committed.String() != "COMMIT" {
		return fmt.Errorf("%d of %d counters were written, and the transaction ended with %s",
			updated.RowsAffected(), len(changed), committed)
	}
	return nil
}

// release returns a connection to the pool, without a transaction.
func release(ctx context.Context, conn *pgxpool.Conn) {
	if !conn.Conn().IsClosed() && conn.Conn().PgConn().TxStatus() != 'I' {
		_, _ = conn.Exec(ctx, `rollback`) // if it fails, the pool closes the connection, and the server rolls back
	}
	conn.Release()
}

// readCounters returns the counters of claims, how many of them exist, and the time by the server's clock.
func readCounters(
	rows pgx.Rows, claims []store.Claim,
) (states []store.Counter, found int, now time.Time, err error) {
	states = make([]store.Counter, len(claims))
	var key, value []byte
	var ends *int64
	var clock int64
	_, err = pgx.ForEachRow(rows, []any{&key, &value, &ends, &clock}, func() (err error) {
		now = time.UnixMicro(clock)
		i := slices.IndexFunc(claims, func(c store.Claim) bool { return ends != nil && c.Key == string(key) })
		if i < 0 {
			return nil
		}
		found++
		if clock < *ends {
			states[i], err = store.ParseCounter(value)
		}
		return err
	})
	return states, found, now, err
}
