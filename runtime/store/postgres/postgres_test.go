//go:build unix

package postgres_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/store/postgres"
	"github.com/aqltag/aqltag/runtime/store/postgres/postgrestest"
	"github.com/aqltag/aqltag/runtime/store/storetest"
	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"
)

func TestStore(t *testing.T) {
	server := postgrestest.Start(t, "max_connections=200", "deadlock_timeout=10ms")
	for name, parameters := range map[string][]string{
		"contract":                               nil,
		"contract without prepared statements":   {"default_query_exec_mode=exec"},
		"contract with the simple protocol":      {"default_query_exec_mode=simple_protocol"},
		"contract with one connection":           {"pool_max_conns=1"},
		"contract where transactions are strict": {setting("default_transaction_isolation=serializable")},
	} {
		t.Run(name, func(t *testing.T) {
			location := server.Location(append(parameters, schema(t))...)
			storetest.Run(t, func(t *testing.T) store.Store { return open(t, location) })
		})
	}
	t.Run("contract behind a pool that hands out connections by transaction", func(t *testing.T) {
		location := server.Bouncer() + "&" + schema(t)
		storetest.Run(t, func(t *testing.T) store.Store { return open(t, location) })
	})

	t.Run("of many that open a new place one creates the tables", func(t *testing.T) {
		location := server.Location(schema(t), "pool_max_conns=2")
		var wg sync.WaitGroup
		for i := range 16 {
			wg.Go(func() {
				s, err := postgres.Open(t.Context(), location)
				if err != nil {
					t.Error(err)
					return
				}
				defer s.Close()
				if _, err := s.Put(t.Context(), fmt.Sprint(i), nil, 0, 0); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if found, err := open(t, location).List(t.Context(), "", "", 100); err != nil || len(found) != 16 {
			t.Errorf("%d entries, %v", len(found), err)
		}
	})

	t.Run("the tables of another release are refused", func(t *testing.T) {
		parameter := schema(t)
		open(t, server.Location(parameter))
		_, name, _ := strings.Cut(parameter, "=")
		execute(t, server, "update "+name+".form set version = 2")
		_, err := postgres.Open(t.Context(), server.Location(parameter))
		wantError(t, err, "opening the PostgreSQL store: the tables in the schema "+name+" are of version 2, "+
			"and this release knows version 1; "+
			"use the release that made them, or another schema")
	})

	t.Run("tables of others are left alone", func(t *testing.T) {
		parameter := schema(t)
		_, name, _ := strings.Cut(parameter, "=")
		execute(t, server, "create schema "+name+"; create table "+name+".entries (id int)")
		_, err := postgres.Open(t.Context(), server.Location(parameter))
		wantError(t, err, `opening the PostgreSQL store: relation "entries" already exists (SQLSTATE 42P07)`)
	})

	t.Run("a user who may not create a schema can use one that was created", func(t *testing.T) {
		parameter := schema(t)
		_, name, _ := strings.Cut(parameter, "=")
		execute(t, server, "create role modest login")
		location := strings.Replace(server.Location(parameter), "postgres@", "modest@", 1)
		_, err := postgres.Open(t.Context(), location)
		wantError(t, err, "opening the PostgreSQL store: the server does not permit it to this user; "+
			"for the tables to be created, the user must own their schema or be permitted to create it (SQLSTATE 42501)")
		execute(t, server, "create schema "+name+" authorization modest")
		storetest.Run(t, func(t *testing.T) store.Store { return open(t, location) })
	})

	t.Run("what has expired is removed", func(t *testing.T) {
		parameter := schema(t)
		_, name, _ := strings.Cut(parameter, "=")
		s := open(t, server.Location(parameter))
		for i := range 200 {
			put(t, s, fmt.Sprint("short/", i), "x", 0, time.Millisecond)
		}
		put(t, s, "kept", "x", 0, time.Hour)
		put(t, s, "for good", "x", 0, 0)
		window := store.Claim{Key: "window", N: 1, Window: 10 * time.Millisecond}
		take(t, s, window)
		execute(t, server, "update "+name+".counters set expires_at = now()")
		for i := range 64 {
			put(t, s, fmt.Sprint("long/", i), "x", 0, time.Hour)
		}
		if diff := cmp.Diff([]int64{0, 66, 0}, []int64{
			count(t, server, "select count(*) from "+name+".entries where key like 'short/%'"),
			count(t, server, "select count(*) from "+name+".entries"),
			count(t, server, "select count(*) from "+name+".counters"),
		}); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
	})

	t.Run("claims that are refused, and those that ask, leave no rows", func(t *testing.T) {
		parameter := schema(t)
		_, name, _ := strings.Cut(parameter, "=")
		s := open(t, server.Location(parameter))
		if got := take(t, s, store.Claim{Key: "a", N: 3, Limit: 2, Window: time.Hour},
			store.Claim{Key: "b", N: 1, Window: time.Hour}); !got[0].Refused {
			t.Errorf("%+v", got)
		}
		take(t, s, store.Claim{Key: "a", Limit: 2, Window: time.Hour})
		if n := count(t, server, "select count(*) from "+name+".counters"); n != 0 {
			t.Errorf("%d rows", n)
		}
	})

	t.Run("no claims wait for each other in a circle", func(t *testing.T) {
		parameter := schema(t)
		_, name, _ := strings.Cut(parameter, "=")
		both := [2]*postgres.Store{open(t, server.Location(parameter)), open(t, server.Location(parameter))}
		done := make(chan struct{})
		var claiming, expiring sync.WaitGroup
		for i := range 8 {
			claiming.Go(func() {
				for range 100 {
					var claims []store.Claim
					for _, k := range mathrand.Perm(10)[:5] {
						claims = append(claims, store.Claim{Key: fmt.Sprint("counter/", k), N: 1, Window: time.Hour})
					}
					if _, err := both[i%2].Take(t.Context(), claims); err != nil {
						t.Error(err)
					}
				}
			})
		}
		admin := connect(t, server) // rows that expire all the time are removed all the time
		defer admin.Close(context.Background())
		expiring.Go(func() {
			for k := 0; ; k = (k + 1) % 10 {
				select {
				case <-done:
					return
				default:
				}
				if _, err := admin.Exec(t.Context(), "update "+name+".counters set expires_at = now() where key = $1",
					fmt.Append(nil, "counter/", k)); err != nil {
					t.Error(err)
				}
			}
		})
		claiming.Wait()
		close(done)
		expiring.Wait()
		if log := server.Log(); strings.Contains(log, "deadlock") {
			t.Errorf("the server had to end a deadlock, and the store made the call again:\n%s", log)
		}
	})

	t.Run("a process that is suspended does not lock out the others", func(t *testing.T) {
		location := server.Location(schema(t))
		claim := store.Claim{Key: "a", N: 1, Window: time.Hour}
		goOn, err := postgres.Stall(t.Context(), open(t, location), "50ms", claim)
		if err != nil {
			t.Fatal(err)
		}
		if got := take(t, open(t, location), claim)[0]; got.Used != 1 {
			t.Errorf("%d were taken", got.Used)
		}
		if err := goOn(); err == nil {
			t.Error("it went on as if nothing had happened")
		}
		if got := take(t, open(t, location), claim)[0]; got.Used != 2 {
			t.Errorf("%d were taken", got.Used)
		}
	})

	t.Run("what cannot be stored is refused", func(t *testing.T) {
		s := open(t, server.Location(schema(t)))
		ctx, long := t.Context(), strings.Repeat("k", 2049)
		_, putErr := s.Put(ctx, long, nil, 0, 0)
		wantError(t, putErr, "writing an entry: its key has 2049 bytes; PostgreSQL takes up to 2048")
		_, takeErr := s.Take(ctx, []store.Claim{{Key: long, N: 1, Window: time.Hour}})
		wantError(t, takeErr, "counting: its key has 2049 bytes; PostgreSQL takes up to 2048")
		_, twice := s.Take(ctx, []store.Claim{{Key: "a", N: 1, Window: time.Hour}, {Key: "a", N: 1, Window: time.Hour}})
		wantError(t, twice, "counting: a counter is claimed twice at once")
		put(t, s, string(randomBytes(2048)), "x", 0, 0)
	})

	t.Run("versions that cannot be are conflicts", func(t *testing.T) {
		s := open(t, server.Location(schema(t)))
		put(t, s, "a", "x", 0, 0)
		if _, err := s.Put(t.Context(), "a", nil, 1<<63+1, 0); !errors.Is(err, store.ErrConflict) {
			t.Error(err)
		}
		if err := s.Delete(t.Context(), "a", 1<<64-1); !errors.Is(err, store.ErrConflict) {
			t.Error(err)
		}
	})

	t.Run("lists end where prefixes do", func(t *testing.T) {
		s := open(t, server.Location(schema(t)))
		for _, key := range []string{"a\xff", "a\xff\xff", "a\xff\x01", "b", "\xff", "\xff\xff"} {
			put(t, s, key, "x", 0, 0)
		}
		for prefix, want := range map[string][]string{
			"a\xff": {"a\xff", "a\xff\x01", "a\xff\xff"},
			"\xff":  {"\xff", "\xff\xff"},
			"":      {"a\xff", "a\xff\x01", "a\xff\xff", "b", "\xff", "\xff\xff"},
		} {
			found, err := s.List(t.Context(), prefix, "", 10)
			var got []string
			for _, e := range found {
				got = append(got, e.Key)
			}
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%q: %v (-want +got):\n%s", prefix, err, diff)
			}
		}
	})

	t.Run("a period that ends in a thousand years can be counted", func(t *testing.T) {
		s := open(t, server.Location(schema(t)))
		claim := store.Claim{Key: "a", N: 1, Limit: 1, Ends: time.Now().AddDate(1000, 0, 0)}
		take(t, s, claim)
		if got := take(t, s, claim)[0]; !got.Refused {
			t.Errorf("%+v", got)
		}
	})

	t.Run("a damaged counter is no counter", func(t *testing.T) {
		parameter := schema(t)
		_, name, _ := strings.Cut(parameter, "=")
		s := open(t, server.Location(parameter))
		claim := store.Claim{Key: "a", N: 1, Limit: 1, Window: time.Hour}
		take(t, s, claim)
		execute(t, server, "update "+name+".counters set value = 'x'")
		if counts, err := s.Take(t.Context(), []store.Claim{claim}); err == nil {
			t.Errorf("taken: %+v", counts)
		}
	})

	t.Run("a closed store fails", func(t *testing.T) {
		s := open(t, server.Location(schema(t)))
		s.Close()
		_, err := s.Get(t.Context(), "a")
		wantError(t, err, "reading an entry: the store is closed")
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// setting is a parameter that makes a setting of each connection.
func setting(text string) string {
	return "options=" + url.PathEscape("-c ") + strings.ReplaceAll(text, "=", "%3D")
}

// schema is a parameter that names a schema of the test's own.
func schema(t testing.TB) string {
	t.Helper()
	return fmt.Sprintf("aql_schema=test_%d", time.Now().UnixNano())
}

func open(t testing.TB, location string) *postgres.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), location)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func put(t testing.TB, s store.Store, key, value string, old store.Version, ttl time.Duration) store.Version {
	t.Helper()
	version, err := s.Put(t.Context(), key, []byte(value), old, ttl)
	if err != nil {
		t.Fatalf("putting %q: %v", key, err)
	}
	return version
}

func take(t testing.TB, s store.Store, claims ...store.Claim) []store.Count {
	t.Helper()
	counts, err := s.Take(t.Context(), claims)
	if err != nil {
		t.Fatalf("taking %+v: %v", claims, err)
	}
	return counts
}

func wantError(t testing.TB, err error, text string) {
	t.Helper()
	if err == nil || err.Error() != text {
		t.Errorf("error %v\n want %s", err, text)
	}
	if errors.Is(err, store.ErrConflict) {
		t.Errorf("%v is taken for a conflict", err)
	}
}

func connect(t testing.TB, server *postgrestest.Server) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), server.Location())
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

func execute(t testing.TB, server *postgrestest.Server, statements string) {
	t.Helper()
	conn := connect(t, server)
	defer conn.Close(context.Background())
	if _, err := conn.Exec(t.Context(), statements); err != nil {
		t.Fatalf("%s: %v", statements, err)
	}
}

func count(t testing.TB, server *postgrestest.Server, query string) (n int64) {
	t.Helper()
	conn := connect(t, server)
	defer conn.Close(context.Background())
	if err := conn.QueryRow(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

func randomBytes(n int) []byte {
	random := make([]byte, n)
	rand.Read(random)
	return random
}
