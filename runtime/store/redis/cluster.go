package redis

import (
	"context"
	"errors"

	goredis "github.com/redis/go-redis/v9"
)

// gather makes the store one of a cluster, whose servers the one of the location knows.
func (s *Store) gather() error {
	o := s.client.Options()
	if o.Network != "tcp" {
		return errors.New("the server is one of a cluster, whose others cannot be reached by a socket: use a location with redis://")
	}
	if o.DB != 0 {
		return errors.New("the server is one of a cluster, which has no other database than 0: tell stores apart by the option space")
	}
	s.cluster = goredis.NewClusterClient(&goredis.ClusterOptions{
		Addrs:                    []string{o.Addr},
		Username:                 o.Username,
		Password:                 o.Password,
		TLSConfig:                o.TLSConfig,
		MaxRetries:               -1, // as in parse; the client of the cluster itself, which tries again as well, runs nothing
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

// primary is the client of the server that holds the space.
func (s *Store) primary(ctx context.Context) (*goredis.Client, error) {
	if s.cluster == nil {
		return s.client, nil
	}
	return s.cluster.MasterForKey(ctx, s.space)
}

// ask has run ask the server that holds the space, and ends with the context.
func ask[T any](ctx context.Context, s *Store, run func(*goredis.Client) (T, error)) (T, error) {
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
