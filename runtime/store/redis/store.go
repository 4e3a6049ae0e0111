// Package redis is a store on a Redis server, which the replicas of an adapter share. It needs Redis 7.0 or later, or a
// compatible server such as Valkey. A service that offers it sets
//
//	serve.Options{Stores: redis.Drivers()}
//
// and its users choose it with -state redis://….
//
// # Location
//
// A location is redis://[USER:PASSWORD@]HOST[:PORT][/DATABASE], the same with rediss:// for TLS, or
// redis+unix:///PATH[?db=DATABASE] for a socket. The option space, as in redis://localhost?space=todo, names the space
// of the store; default aql. Stores of different spaces share nothing. Every key of a space begins with its name in
// braces, {aql}, so that Redis Cluster holds a space on one server. The location of a cluster is that of any of its
// servers; while the slot of a space moves, its store fails.
//
// A Redis user with restricted rights needs ~{aql}* +get +getrange +set +del +zadd +zrem +zrangebylex +zrangebyscore
// +time +eval +evalsha, +cluster for a cluster, +info for the checks of Open, and &{aql}* +publish +subscribe +ping for
// Notify and Listen.
//
// # What Redis can lose
//
// Redis acknowledges a change before its replicas have it and, unless it is set to appendonly yes and appendfsync
// always, before it is on the disk. When a primary fails and a replica takes over, the latest changes can be lost. When
// a server is killed or loses power, the changes of up to two seconds can be lost with appendfsync everysec, and all of
// them with appendonly no. A redeemed token can then be redeemed again, what was taken from a counter can be taken
// again, and an entry that blocks a caller can be missing. The same holds for changes that a disconnected primary still
// accepts; min-replicas-to-write bounds for how long it does. WAIT does not prevent this, and the store does not use
// it. State that must survive a failover belongs in PostgreSQL.
//
// Versions are not used twice even then: they follow the clock of the server if that is ahead of the last version. The
// exception is a server whose clock was set back just before it lost its data.
//
// What Redis evicts for lack of memory could be a limit. Open therefore refuses a server that has a maxmemory and a
// maxmemory-policy other than noeviction. It cannot detect a later change, or check a server on which the user may not
// run INFO.
package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
	goredis "github.com/redis/go-redis/v9"
)

const (
	// digits is the length of the version that each value begins with.
	digits = 16
	// most is the greatest number that the scripts count to exactly.
	most = 1<<53 - 1
	// pageSize is how many keys a script lists at a time.
	pageSize = 1000
)

// Store is a store on a Redis server. Its clock is the server's. Every method is one round trip, except for a List of
// more than 1,000 entries and the first use of a script. A request that the server may have executed is not repeated;
// after a failure, the next call connects again. The client logs failed connections to standard error, or to what its
// SetLogger sets.
type Store struct {
	client  *goredis.Client        // of the server at the location
	cluster *goredis.ClusterClient // of the server's cluster; nil: there is none
	space   string                 // the beginning of every key, in braces
	now     string                 // the time of counters in Unix milliseconds, for tests; empty: the server's

	listeners store.Listeners
}

var _ store.Notifier = (*Store)(nil)

// Drivers returns the drivers of this package, for the schemes redis, rediss and redis+unix.
func Drivers() []store.Driver {
	var drivers []store.Driver
	open := func(ctx context.Context, location string) (store.Store, error) {
		s, err := Open(ctx, location)
		if err != nil {
			return nil, err // and not an interface that holds a nil *Store
		}
		return s, nil
	}
	for _, scheme := range []string{schemeTCP, schemeTLS, schemeSocket} {
		drivers = append(drivers, store.Driver{Scheme: scheme, Open: open})
	}
	return drivers
}

// Open opens the store at a location, whose form the package documentation describes. It fails if the server cannot be
// reached, refuses the user, is a replica, or may evict state for lack of memory. Errors do not contain the user or the
// password.
func Open(ctx context.Context, location string) (*Store, error) {
	p, err := parse(location)
	if err != nil {
		return nil, fmt.Errorf("the location of the Redis store is wrong: %w", err)
	}
	p.options.Dialer = dialer(p.options)
	s := &Store{client: goredis.NewClient(p.options), space: "{" + p.space + "}"}
	s.listeners.Receive = s.receive
	if err := s.check(ctx); err != nil {
		_ = s.Close()
		return nil, fmt.Errorf("opening the store at %s: %w", p.shown, err)
	}
	return s, nil
}

// check fails if the server does not do what the store needs.
func (s *Store) check(ctx context.Context) error {
	try := func() error {
		_, err := s.run(ctx, listScript, []string{s.keys(), s.ends()}, s.entry(""), "-", "+", 0)
		return err
	}
	err := try()
	if _, moved := goredis.IsMovedError(err); moved {
		if err := s.useCluster(); err != nil {
			return err
		}
		err = try()
	}
	if err != nil {
		return explain(err)
	}
	text, err := request(ctx, s, func(c *goredis.Client) (string, error) { return c.Info(ctx).Result() })
	var answer goredis.Error
	if errors.As(err, &answer) {
		return nil // the user may not run INFO
	}
	if err != nil {
		return explain(err)
	}
	info := make(map[string]string)
	for line := range strings.Lines(text) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		info[name] = value
	}
	if info["cluster_enabled"] == "1" && s.cluster == nil {
		if err := s.useCluster(); err != nil {
			return err
		}
		if err := try(); err != nil {
			return explain(err)
		}
	}
	if info["role"] == "slave" {
		return refusal("READONLY")
	}
	if policy := info["maxmemory_policy"]; policy != "" && policy != "noeviction" && info["maxmemory"] != "0" {
		return fmt.Errorf("the server throws out data for lack of memory (maxmemory-policy %s), "+
			"and what it forgets could be a limit: set maxmemory-policy noeviction, or use another server", policy)
	}
	return nil
}

// await runs a function and returns when ctx ends; the client itself heeds only the deadline of a context. The function
// may run on until patience ends it.
func await[T any](ctx context.Context, run func() (T, error)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	if ctx.Done() == nil {
		return run()
	}
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		value, err := run()
		done <- result{value, err}
	}()
	select {
	case <-ctx.Done():
		return none, ctx.Err()
	case r := <-done:
		return r.value, r.err
	}
}

func (s *Store) run(ctx context.Context, script *goredis.Script, keys []string, args ...any) (any, error) {
	return request(ctx, s, func(c *goredis.Client) (any, error) { return script.Run(ctx, c, keys, args...).Result() })
}

func (s *Store) entry(key string) string { return s.space + "e:" + key }
func (s *Store) keys() string            { return s.space + "keys" }
func (s *Store) ends() string            { return s.space + "ends" }

// expected returns a version as the scripts compare it; empty: there must be no entry.
func expected(version store.Version) string {
	if version == 0 {
		return ""
	}
	return fmt.Sprintf("%0*d", digits, version)
}

// parseEntry splits a value of the server into version and value.
func parseEntry(key, text string) (store.Entry, error) {
	if len(text) >= digits {
		if version, err := strconv.ParseUint(text[:digits], 10, 64); err == nil && version > 0 {
			return store.Entry{Key: key, Value: []byte(text[digits:]), Version: store.Version(version)}, nil
		}
	}
	return store.Entry{}, errors.New("an entry is damaged, or was written by something else: " +
		"give the store a space or a database of its own")
}

// errAnswer is the error of an answer that the scripts do not give.
var errAnswer = errors.New("the server gave an answer that makes no sense: it may not be a Redis server")

// Get implements store.Store.
func (s *Store) Get(ctx context.Context, key string) (store.Entry, error) {
	text, err := request(ctx, s, func(c *goredis.Client) (string, error) { return c.Get(ctx, s.entry(key)).Result() })
	if errors.Is(err, goredis.Nil) {
		return store.Entry{Key: key}, nil
	}
	if err != nil {
		return store.Entry{}, fmt.Errorf("reading from the Redis store: %w", explain(err))
	}
	e, err := parseEntry(key, text)
	if err != nil {
		return store.Entry{}, fmt.Errorf("reading from the Redis store: %w", err)
	}
	return e, nil
}

// Put implements store.Store. It fails with store.ErrFull if the server has reached its maxmemory.
func (s *Store) Put(
	ctx context.Context, key string, value []byte, old store.Version, ttl time.Duration,
) (store.Version, error) {
	var milliseconds int64
	if ttl > 0 {
		milliseconds = max(ttl.Milliseconds(), 1)
	}
	answer, err := s.run(ctx, putScript, []string{s.entry(key), s.space + "version", s.keys(), s.ends()},
		key, string(value), expected(old), milliseconds)
	if err != nil {
		return 0, fmt.Errorf("writing to the Redis store: %w", explain(err))
	}
	version, ok := answer.(int64)
	if !ok || version < 0 {
		return 0, fmt.Errorf("writing to the Redis store: %w", errAnswer)
	}
	if version == 0 {
		return 0, store.ErrConflict
	}
	return store.Version(version), nil
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, key string, old store.Version) error {
	answer, err := s.run(ctx, deleteScript, []string{s.entry(key), s.keys(), s.ends()}, key, expected(old))
	if err != nil {
		return fmt.Errorf("deleting from the Redis store: %w", explain(err))
	}
	switch answer {
	case int64(0):
		return store.ErrConflict
	case int64(1):
		return nil
	}
	return fmt.Errorf("deleting from the Redis store: %w", errAnswer)
}

// List implements store.Store.
func (s *Store) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	var found []store.Entry
	lower, upper := "["+prefix, "+"
	if prefix == "" {
		lower = "-"
	}
	if after >= prefix && after != "" {
		lower = "(" + after
	}
	if end := store.PrefixEnd(prefix); end != nil {
		upper = "(" + string(end)
	}
	for more := true; more && len(found) < limit; {
		n := min(limit-len(found), pageSize)
		answer, err := s.run(ctx, listScript, []string{s.keys(), s.ends()}, s.entry(""), lower, upper, n)
		if err != nil {
			return nil, fmt.Errorf("listing from the Redis store: %w", explain(err))
		}
		texts, err := texts(answer)
		if err != nil {
			return nil, fmt.Errorf("listing from the Redis store: %w", err)
		}
		lower, more = "("+texts[0], texts[0] != ""
		for i := 1; i < len(texts); i += 2 {
			e, err := parseEntry(texts[i], texts[i+1])
			if err != nil {
				return nil, fmt.Errorf("listing from the Redis store: %w", err)
			}
			found = append(found, e)
		}
	}
	return found, nil
}

// texts returns the answer of the list script: an odd number of strings.
func texts(answer any) ([]string, error) {
	values, ok := answer.([]any)
	if !ok || len(values)%2 == 0 {
		return nil, errAnswer
	}
	texts := make([]string, len(values))
	for i, value := range values {
		if texts[i], ok = value.(string); !ok {
			return nil, errAnswer
		}
	}
	return texts, nil
}

// Close implements store.Store.
func (s *Store) Close() error {
	s.listeners.Close()
	err := s.client.Close()
	if s.cluster != nil {
		err = errors.Join(err, s.cluster.Close())
	}
	return err
}
