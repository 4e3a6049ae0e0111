package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

const (
	// lookEvery is how often the file is looked at for changes of other processes while somebody listens. A look reads a
	// few bytes of shared memory.
	lookEvery = 200 * time.Millisecond
	// lookAgain is how long after a failed look the next one is.
	lookAgain = time.Second
	// dataVersion is another number after each change of another connection.
	dataVersion = "PRAGMA data_version"
)

// Notify implements store.Notifier. Who listens in another process is told within a fifth of a second.
func (s *Store) Notify(ctx context.Context, topic string) error {
	if err := cmp.Or(ctx.Err(), store.CheckTopic(topic)); err != nil {
		return err
	}
	err := s.change(ctx, false, func(c *connection, _ time.Time) (bool, error) {
		var skipped int64 // a version that no entry gets: any change is seen by the others
		return true, c.queryRow(nextVersion).Scan(&skipped)
	})
	if err != nil {
		return fmt.Errorf("notifying: %w", explain(err))
	}
	s.listeners.Tell(topic)
	return nil
}

// Listen implements store.Notifier. The file does not tell topics apart: every change of another process is told.
func (s *Store) Listen(ctx context.Context, topic string) <-chan struct{} {
	return s.listeners.Listen(ctx, topic)
}

// receive tells those who listen that the file has changed, until ctx ends.
func (s *Store) receive(ctx context.Context) {
	for {
		_ = s.follow(ctx) // those who are told look at the file, and find the error themselves
		select {
		case <-ctx.Done():
			return
		case <-time.After(lookAgain):
		}
		s.listeners.TellAll()
	}
}

// follow looks at the file until that fails, or ctx ends.
func (s *Store) follow(ctx context.Context) error {
	c, err := s.connect(ctx, "PRAGMA query_only = ON")
	if err != nil {
		return err
	}
	defer c.close() //nolint:errcheck // it has only read
	for seen := int64(-1); ; {
		var now int64
		if err := cmp.Or(s.checkFile(), c.queryRow(dataVersion).Scan(&now)); err != nil {
			return err
		}
		if now != seen {
			seen = now
			s.listeners.TellAll()
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(lookEvery):
		}
	}
}
