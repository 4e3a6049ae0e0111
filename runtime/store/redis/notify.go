package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
	goredis "github.com/redis/go-redis/v9"
)

const (
	// lookAgain is how long after a lost connection the next one is made.
	lookAgain = time.Second
	// quiet is how long nothing may come before the connection is checked.
	quiet = 30 * time.Second
)

// channel is the channel of the space. Its messages are topics.
func (s *Store) channel() string { return s.space + "notify" }

// Notify implements store.Notifier, with PUBLISH.
func (s *Store) Notify(ctx context.Context, topic string) error {
	if err := cmp.Or(ctx.Err(), store.CheckTopic(topic)); err != nil {
		return err
	}
	_, err := request(ctx, s, func(c *goredis.Client) (int64, error) {
		return c.Publish(ctx, s.channel(), topic).Result()
	})
	if err != nil {
		return fmt.Errorf("notifying with the Redis store: %w", explain(err))
	}
	return nil
}

// Listen implements store.Notifier, with SUBSCRIBE on a connection of its own. Where the server does not permit that, a
// value is sent every second.
func (s *Store) Listen(ctx context.Context, topic string) <-chan struct{} {
	return s.listeners.Listen(ctx, topic)
}

// receive passes on what the server tells, until ctx ends.
func (s *Store) receive(ctx context.Context) {
	for {
		_ = s.follow(ctx) // those who are told look at the store, and find the error themselves
		select {
		case <-ctx.Done():
			return
		case <-time.After(lookAgain):
		}
		s.listeners.TellAll()
	}
}

// follow passes on what the server tells on one connection.
func (s *Store) follow(ctx context.Context) error {
	c, err := s.primary(ctx)
	if err != nil {
		return err
	}
	subscription := c.Subscribe(ctx, s.channel())
	// The client itself does not heed the end of a context.
	closed := context.AfterFunc(ctx, func() { _ = subscription.Close() })
	defer func() {
		if closed() {
			_ = subscription.Close()
		}
	}()
	wait, asked := patience, true // for the answer to SUBSCRIBE
	for ctx.Err() == nil {
		message, err := subscription.ReceiveTimeout(ctx, wait)
		var late net.Error
		switch {
		case errors.As(err, &late) && late.Timeout() && !asked:
			wait, asked = patience, true
			if err := subscription.Ping(ctx); err != nil {
				return err
			}
			continue
		case err != nil:
			return err
		}
		wait, asked = quiet, false
		switch m := message.(type) {
		case *goredis.Subscription:
			s.listeners.TellAll()
		case *goredis.Message:
			s.listeners.Tell(m.Payload)
		}
	}
	return ctx.Err()
}
