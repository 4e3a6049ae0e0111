package postgres

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
	"github.com/jackc/pgx/v5"
)

const (
	// lookAgain is how long after a lost connection the next one is made, and how often those who listen are told to look
	// where the server cannot tell them.
	lookAgain = time.Second
	// deafFor is how long they are told so, until it is tried again whether the server can.
	deafFor = time.Minute
	// quiet is how long nothing may come before the connection is checked.
	quiet = 30 * time.Second
	// answerWithin bounds a check of the connection.
	answerWithin = 5 * time.Second
)

const sendNotification = "select pg_notify($1::text, $2::text)"

// Notify implements store.Notifier, with NOTIFY on a channel that has the name of the schema.
func (s *Store) Notify(ctx context.Context, topic string) error {
	if err := cmp.Or(ctx.Err(), store.CheckTopic(topic)); err != nil {
		return err
	}
	return s.try(ctx, "notifying", true, func() error {
		_, err := s.pool.Exec(ctx, sendNotification, s.sql.schema, topic)
		return err
	})
}

// Listen implements store.Notifier, with LISTEN on a connection of its own, besides those of the pool. Where the
// location has default_query_exec_mode=exec, or LISTEN has no effect because the connections come from a pool that
// assigns them by transaction, a value is sent every second instead.
func (s *Store) Listen(ctx context.Context, topic string) <-chan struct{} {
	return s.listeners.Listen(ctx, topic)
}

// receive passes on what the server tells, until ctx ends.
func (s *Store) receive(ctx context.Context) {
	for {
		_ = s.follow(ctx) // those who are told look at the store, and find the error themselves
		if !pause(ctx, lookAgain) {
			return
		}
		s.listeners.TellAll()
	}
}

// follow passes on what the server tells on one connection.
func (s *Store) follow(ctx context.Context) error {
	config := s.pool.Config().ConnConfig
	if mode := config.DefaultQueryExecMode; mode == pgx.QueryExecModeExec || mode == pgx.QueryExecModeSimpleProtocol {
		// The connections may be those of such a pool. What LISTEN leaves on them ends pgbouncer 1.18.
		return s.followBlindly(ctx)
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return err
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookAgain)
		defer cancel()
		conn.Close(ctx) //nolint:errcheck // it is given up
	}()
	if _, err := conn.Exec(ctx, "listen "+pgx.Identifier{s.sql.schema}.Sanitize()); err != nil {
		return err
	}
	s.listeners.TellAll()
	hears, err := s.hears(ctx, conn)
	if err != nil {
		return err
	}
	for hears {
		topic, err := next(ctx, conn, quiet)
		if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
			err = check(ctx, conn)
		}
		if err != nil {
			return err
		}
		s.listeners.Tell(topic)
	}
	conn.Close(ctx) //nolint:errcheck // it is of no use
	return s.followBlindly(ctx)
}

// followBlindly has those who listen look every second, for a while.
func (s *Store) followBlindly(ctx context.Context) error {
	s.listeners.TellAll()
	for began := time.Now(); time.Since(began) < deafFor && pause(ctx, lookAgain); {
		s.listeners.TellAll()
	}
	return ctx.Err()
}

// hears reports whether a connection receives what another one notifies.
func (s *Store) hears(ctx context.Context, conn *pgx.Conn) (bool, error) {
	probe := "probe/" + rand.Text()
	if err := s.Notify(ctx, probe); err != nil {
		return false, err
	}
	for deadline := time.Now().Add(answerWithin); ; {
		topic, err := next(ctx, conn, time.Until(deadline))
		switch {
		case errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil:
			return false, nil
		case err != nil:
			return false, err
		case topic == probe:
			return true, nil
		}
		s.listeners.Tell(topic)
	}
}

// next returns the next topic that the server tells. It fails with context.DeadlineExceeded if none comes in time.
func next(ctx context.Context, conn *pgx.Conn, within time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	told, err := conn.WaitForNotification(ctx)
	if err != nil {
		return "", err
	}
	return told.Payload, nil
}

// check asks the server whether it is there.
func check(ctx context.Context, conn *pgx.Conn) error {
	ctx, cancel := context.WithTimeout(ctx, answerWithin)
	defer cancel()
	return conn.Ping(ctx)
}

// pause waits. It returns false if ctx ends meanwhile.
func pause(ctx context.Context, wait time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(wait):
		return true
	}
}
