package redis

import (
	"context"
	"errors"

	goredis "github.com/redis/go-redis/v9"
)

// useCluster makes the store use the cluster of the server at its location.
func (s *Store) useCluster() error {
	o := s.client.Options()
	if o.Network != "tcp" {
		return errors.New("the server is one of a cluster, whose others cannot be reached by a socket: " +
			"use a location with redis://")
	}
	if o.DB != 0 {
		return errors.New("the server is one of a cluster, which has no other database than 0: " +
			"tell stores apart by the option space")
	}
	s.cluster = goredis.NewClusterClient(&goredis.ClusterOptions{
		Addrs:                    []string{o.Addr},
		Username:                 o.Username,
		Password:                 o.Password,
		TLSConfig:                o.TLSConfig,
		Dialer:                   o.Dialer,
		MaxRetries:               -1, // as in parse; only the clients of single servers run requests
		DialerRetries:            1,
		DialTimeout:              patience,
		ReadTimeout:              patience,
		WriteTimeout:             patience,
		ContextTimeoutEnabled:    true,
		Protocol:                 o.Protocol,
		PipelinePoolSize:         -1,
		DisableIdentity:          true,
		MaintNotificationsConfig: o.MaintNotificationsConfig,
	})
	return nil
}

// primary returns the client of the server that holds the space.
func (s *Store) primary(ctx context.Context) (*goredis.Client, error) {
	if s.cluster == nil {
		return s.client, nil
	}
	return s.cluster.MasterForKey(ctx, s.space)
}

// request sends a request to the server that holds the space, and returns when ctx ends.
func request[T any](ctx context.Context, s *Store, run func(*goredis.Client) (T, error)) (T, error) {
	value, err := await(ctx, func() (T, error) {
		c, err := s.primary(ctx)
		if err != nil {
			var none T
			return none, err
		}
		return run(c)
	})
	if err != nil && s.cluster != nil && !errors.Is(err, goredis.Nil) {
		s.cluster.ReloadState(ctx) // later, and not more often than five times a second
	}
	return value, err
}
