//go:build unix

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/store/postgres"
	"github.com/aqltag/aqltag/runtime/store/postgres/postgrestest"
	"github.com/jackc/pgx/v5"
)

// soon is the time that calls are given to a server that does not answer, and patience to one that does.
const (
	soon     = 300 * time.Millisecond
	patience = time.Minute
)

// slow leaves a test that starts processes, or takes servers away, to the slow tier.
func slow(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("processes and servers that are killed: make slow runs it")
	}
}

// A store that fails never allows: not by success, and not by an answer that can be taken for one. It works again when
// the server does, without being opened anew.
func TestFailure(t *testing.T) {
	slow(t)
	for _, test := range []struct {
		name string
		// fail breaks the server, and returns what mends it.
		fail func(t *testing.T, server *postgrestest.Server) (mend func())
		// why matches the text of each failure.
		why string
		// reads says that what only reads goes on, and frozen that the server does not answer: calls end with their deadline,
		// and what was given up may be done later.
		reads, frozen bool
	}{
		{
			name: "the server was stopped",
			fail: func(_ *testing.T, server *postgrestest.Server) func() { server.Stop(); return server.Restart },
			why:  `the server cannot be reached: .*|the server was stopped, .*`,
		},
		{
			name: "the server crashed",
			fail: func(_ *testing.T, server *postgrestest.Server) func() { server.Kill(); return server.Restart },
			why:  `the server cannot be reached: .*|the server closed the connection|the server was stopped, .*`,
		},
		{
			name:   "the server is suspended",
			fail:   func(_ *testing.T, server *postgrestest.Server) func() { server.Freeze(); return server.Thaw },
			why:    `the server did not answer in time`,
			frozen: true,
		},
		{
			name: "the server has no connection left",
			fail: func(t *testing.T, server *postgrestest.Server) func() {
				admin := connect(t, server)
				terminateOthers(t, admin)
				held := []*pgx.Conn{admin}
				for {
					conn, err := pgx.Connect(t.Context(), server.Location())
					if err != nil {
						break
					}
					held = append(held, conn)
				}
				return func() {
					for _, conn := range held {
						conn.Close(context.Background())
					}
				}
			},
			why: `the server has no connection left \(SQLSTATE 53300\)|the server was stopped, .*`,
		},
		{
			name: "the server takes no changes",
			fail: func(t *testing.T, server *postgrestest.Server) func() {
				admin := connect(t, server)
				configure(t, admin, "alter system set default_transaction_read_only = on")
				terminateOthers(t, admin)
				return func() {
					run(t, admin, "set default_transaction_read_only = off")
					configure(t, admin, "alter system reset default_transaction_read_only")
					admin.Close(context.Background())
				}
			},
			why:   `the server takes no changes: it is read-only \(SQLSTATE 25006\)|the server was stopped, .*`,
			reads: true,
		},
		{
			name: "the password has changed",
			fail: func(t *testing.T, server *postgrestest.Server) func() {
				admin := connect(t, server)
				run(t, admin, "alter role postgres password 'another'")
				access(t, admin, "local all all scram-sha-256")
				terminateOthers(t, admin)
				return func() {
					run(t, admin, "alter role postgres password 'hunter2'")
					admin.Close(context.Background())
				}
			},
			why: `the server refused the user name or the password \(SQLSTATE 28P01\)|the server was stopped, .*`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			server := postgrestest.Start(t, "max_connections=8", "superuser_reserved_connections=0")
			location := strings.Replace(server.Location(), "postgres@", "postgres:hunter2@", 1)
			s := open(t, location)
			version := put(t, s, "kept", "before", 0, 0)
			counter := store.Claim{Key: "counter", N: 1, Limit: 5, Window: time.Hour}
			take(t, s, counter)
			warm(t, s)

			mend := test.fail(t, server)
			const doing = `reading an entry|writing an entry|deleting an entry|listing entries|counting|` +
				`opening the PostgreSQL store`
			why := regexp.MustCompile(`^(` + doing + `): (` + test.why + `)$`)
			timeout := patience
			if test.frozen {
				timeout = soon
			}
			for name, call := range calls(s, location, version) {
				ctx, cancel := context.WithTimeout(t.Context(), timeout)
				err := call(ctx)
				cancel()
				reads := name == "get" || name == "list" || name == "ask" || name == "open"
				switch {
				case err == nil && test.reads && reads:
					continue
				case err == nil, errors.Is(err, store.ErrConflict):
					t.Errorf("%s: %v", name, err)
					continue
				case errors.Is(err, store.ErrBusy) != (test.frozen || strings.Contains(err.Error(), "53300")): // C12
					t.Errorf("%s: %v: it may be over in a moment: %v", name, err, errors.Is(err, store.ErrBusy))
				case !why.MatchString(err.Error()):
					t.Errorf("%s: %q is not like %q", name, err, test.why)
				}
				for e := err; e != nil; e = errors.Unwrap(e) {
					if text := fmt.Sprintf("%v %+v", e, e); strings.Contains(text, "hunter2") {
						t.Errorf("%s: %s has the password", name, text)
					}
				}
			}

			mend()
			for again := false; !again; {
				ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
				_, err := s.Put(ctx, fmt.Sprint("again/", time.Now().UnixNano()), nil, 0, 0)
				cancel()
				again = err == nil
			}
			if test.frozen {
				return
			}
			put(t, s, "kept", "after", version, 0) // nothing came of what failed
			if got := take(t, s, counter)[0]; got.Used != 2 {
				t.Errorf("%d were taken, want 2", got.Used)
			}
		})
	}
}

// warm has the store hold more than one connection.
func warm(t *testing.T, s store.Store) {
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			if _, err := s.Get(t.Context(), fmt.Sprint(i)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

// calls are the methods of a store.
func calls(s store.Store, location string, version store.Version) map[string]func(ctx context.Context) error {
	return map[string]func(ctx context.Context) error{
		"get":    func(ctx context.Context) error { _, err := s.Get(ctx, "kept"); return err },
		"create": func(ctx context.Context) error { _, err := s.Put(ctx, "new", nil, 0, 0); return err },
		"put":    func(ctx context.Context) error { _, err := s.Put(ctx, "kept", nil, version, time.Hour); return err },
		"delete": func(ctx context.Context) error { return s.Delete(ctx, "kept", version) },
		"list":   func(ctx context.Context) error { _, err := s.List(ctx, "", "", 10); return err },
		"ask": func(ctx context.Context) error {
			_, err := s.Take(ctx, []store.Claim{{Key: "counter", Limit: 5, Window: time.Hour}})
			return err
		},
		"take": func(ctx context.Context) error {
			_, err := s.Take(ctx, []store.Claim{{Key: "counter", N: 1, Limit: 5, Window: time.Hour}})
			return err
		},
		"open": func(ctx context.Context) error {
			other, err := postgres.Open(ctx, location)
			if err == nil {
				other.Close()
			}
			return err
		},
	}
}

// What was acknowledged is there after a crash (REQ-RQ-13), and what failed is there wholly or not at all.
func TestCrashesDuringTraffic(t *testing.T) {
	slow(t)
	server := postgrestest.Start(t)
	s := open(t, server.Location())
	const writers = 8
	var acknowledged, attempted [writers]int
	var taken, doubtful atomic.Int64
	claim := store.Claim{Key: "counter", N: 1, Window: time.Hour}
	done := make(chan struct{})
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			key, version := fmt.Sprint("writer/", w), store.Version(0)
			for {
				select {
				case <-done:
					return
				default:
				}
				ctx, cancel := context.WithTimeout(context.Background(), patience)
				attempted[w]++
				next, err := s.Put(ctx, key, fmt.Append(nil, attempted[w]), version, 0)
				if err == nil {
					acknowledged[w], version = attempted[w], next
				} else if e, getErr := s.Get(ctx, key); getErr == nil {
					version = e.Version // in doubt, it looks
				}
				if _, err := s.Take(ctx, []store.Claim{claim}); err == nil {
					taken.Add(1)
				} else {
					doubtful.Add(1)
				}
				cancel()
			}
		})
	}
	traffic := func() {
		for more := taken.Load() + 10*writers; taken.Load() < more; time.Sleep(time.Millisecond) {
		}
	}
	for range 5 {
		traffic()
		server.Kill()
		server.Restart()
	}
	traffic()
	close(done)
	wg.Wait()

	for w := range writers {
		e, err := s.Get(t.Context(), fmt.Sprint("writer/", w))
		var value int
		fmt.Sscan(string(e.Value), &value)
		if err != nil || value < acknowledged[w] || value > attempted[w] {
			t.Errorf("writer %d: %d, %v; %d was acknowledged, and %d attempted", w, value, err, acknowledged[w], attempted[w])
		}
	}
	least, most := taken.Load(), taken.Load()+doubtful.Load()
	claim.N = 0
	if used := take(t, s, claim)[0].Used; used < least || used > most {
		t.Errorf("%d were taken; %d were acknowledged, and %d attempted", used, least, most)
	}
}

// REQ-CT-10: a token that was used stays so. Entries are durable where the server is configured to acknowledge what is
// not, and a version that was acknowledged is not given out again.
func TestEntriesOutliveACrash(t *testing.T) {
	slow(t)
	server := postgrestest.Start(t, "fsync=on", "synchronous_commit=off", "wal_writer_delay=10s")
	s := open(t, server.Location())
	seen := map[store.Version]bool{}
	for round := range 5 {
		key := fmt.Sprint("entry/", round)
		first := put(t, s, key, "one", 0, 0)
		second := put(t, s, key, "two", first, 0)
		gone := put(t, s, key+"/gone", "x", 0, 0)
		if err := s.Delete(t.Context(), key+"/gone", gone); err != nil {
			t.Fatal(err)
		}
		server.Kill()
		server.Restart()
		if e, err := s.Get(t.Context(), key); err != nil || e.Version != second {
			t.Errorf("round %d: version %d, %v; want %d", round, e.Version, err, second)
		}
		if e, err := s.Get(t.Context(), key+"/gone"); err != nil || e.Exists() {
			t.Errorf("round %d: %+v, %v is there again", round, e, err)
		}
		for _, version := range []store.Version{first, second, gone} {
			if seen[version] {
				t.Errorf("round %d: version %d comes again", round, version)
			}
			seen[version] = true
		}
	}
}

func run(t *testing.T, conn *pgx.Conn, statement string) {
	t.Helper()
	if _, err := conn.Exec(context.Background(), statement); err != nil {
		t.Fatalf("%s: %v", statement, err)
	}
}

// configure changes the settings of the server, and waits until they hold.
func configure(t *testing.T, conn *pgx.Conn, statement string) {
	t.Helper()
	run(t, conn, statement)
	reload(t, conn)
}

func reload(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	var before, after time.Time
	if err := conn.QueryRow(context.Background(), "select pg_conf_load_time()").Scan(&before); err != nil {
		t.Fatal(err)
	}
	run(t, conn, "select pg_reload_conf()")
	for !after.After(before) {
		if err := conn.QueryRow(context.Background(), "select pg_conf_load_time()").Scan(&after); err != nil {
			t.Fatal(err)
		}
	}
}

// access replaces the rules by which the server lets users in.
func access(t *testing.T, conn *pgx.Conn, rule string) {
	t.Helper()
	var file string
	if err := conn.QueryRow(t.Context(), "show hba_file").Scan(&file); err != nil {
		t.Fatal(err)
	}
	run(t, conn, fmt.Sprintf("copy (select '%s') to '%s'", rule, file))
	reload(t, conn)
}

// terminateOthers ends the connections of others, and waits until they have ended.
func terminateOthers(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	for n := 1; n > 0; {
		const query = "select count(pg_terminate_backend(pid)) from pg_stat_activity " +
			"where backend_type = 'client backend' and pid <> pg_backend_pid()"
		if err := conn.QueryRow(t.Context(), query).Scan(&n); err != nil {
			t.Fatal(err)
		}
	}
}
