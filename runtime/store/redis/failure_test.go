package redis_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/store/redis"
	"github.com/aqltag/aqltag/runtime/store/redis/redistest"
)

const (
	password = "s3cret/ &?pass"
	// soon is the time that calls are given to a server that does not answer, and patience to one that does.
	soon     = 200 * time.Millisecond
	patience = time.Minute
)

// calls are all that a store does. Each reports what it would have allowed.
var calls = []struct {
	name  string
	write bool
	run   func(ctx context.Context, s *redis.Store) (allowed bool, err error)
}{
	{"get", false, func(ctx context.Context, s *redis.Store) (bool, error) {
		e, err := s.Get(ctx, "a")
		return e.Exists(), err
	}},
	{"list", false, func(ctx context.Context, s *redis.Store) (bool, error) {
		entries, err := s.List(ctx, "", "", 10)
		return len(entries) > 0, err
	}},
	{"put", true, func(ctx context.Context, s *redis.Store) (bool, error) {
		version, err := s.Put(ctx, "new", make([]byte, 1000), 0, time.Minute)
		return version != 0, err
	}},
	{"delete", true, func(ctx context.Context, s *redis.Store) (bool, error) {
		err := s.Delete(ctx, "a", 1)
		return err == nil, err
	}},
	{"take", true, func(ctx context.Context, s *redis.Store) (bool, error) {
		counts, err := s.Take(ctx, []store.Claim{{Key: "c", N: 1, Window: time.Hour}})
		return len(counts) > 0, err
	}},
}

// slow leaves a test that starts processes, or takes servers away, to the slow tier.
func slow(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("processes and servers that are killed: make slow runs it")
	}
}

// fails makes every call of the store and demands an error of each that changes something, or of all, that allows
// nothing and says what the matter is.
func fails(t *testing.T, s *redis.Store, reads bool, says string) {
	t.Helper()
	failsWithin(t, s, patience, reads, says)
}

// failsWithin does as fails with a deadline for each call. A call that does not keep to it never ends.
func failsWithin(t *testing.T, s *redis.Store, timeout time.Duration, reads bool, says string) {
	t.Helper()
	for _, call := range calls {
		if !call.write && !reads {
			continue
		}
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		allowed, err := call.run(ctx, s)
		cancel()
		if err == nil || allowed || errors.Is(err, store.ErrConflict) {
			t.Errorf("%s: allowed %v, %v", call.name, allowed, err)
			continue
		}
		if !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %q does not say %q", call.name, err, says)
		}
		silent(t, err)
		if strings.Contains(err.Error(), "r.sock") {
			t.Errorf("%s: an error has the address of the server: %v", call.name, err)
		}
	}
}

func silent(t *testing.T, err error) {
	t.Helper()
	for _, secret := range []string{"s3cret", "pass&", url.QueryEscape(password), url.PathEscape(password), "EVALSHA",
		"{aql}"} {
		if strings.Contains(err.Error(), secret) {
			t.Errorf("an error has %q: %v", secret, err)
		}
	}
}

// recovers waits until the store works again, with nothing but calls.
func recovers(t *testing.T, s *redis.Store) {
	t.Helper()
	for again := false; !again; {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		_, err := s.Put(ctx, fmt.Sprint("recovered/", time.Now().UnixNano()), nil, 0, time.Minute)
		cancel()
		again = err == nil
	}
}

func TestServerThatIsGone(t *testing.T) {
	slow(t)
	server := redistest.Start(t)
	s := open(t, server.Location())
	recovers(t, s)
	server.Stop()
	fails(t, s, true, "the server ")
	fails(t, s, true, "the server cannot be reached")
	if _, err := redis.Open(t.Context(), server.Location()); err == nil ||
		!strings.Contains(err.Error(), "the server cannot be reached") {
		t.Errorf("opening: %v", err)
	}
	server.Restart()
	recovers(t, s)
}

func TestServerThatDoesNotAnswer(t *testing.T) {
	slow(t)
	server := redistest.Start(t)
	s := open(t, server.Location())
	recovers(t, s)
	server.Freeze()
	failsWithin(t, s, soon, true, "the server did not answer in time")
	ctx, cancel := context.WithTimeout(t.Context(), soon)
	defer cancel()
	if _, err := redis.Open(ctx, server.Location()); err == nil || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("opening: %v", err)
	}
	// More callers than there are connections, some of which wait for one.
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() { failsWithin(t, s, soon, true, "the server did not answer in time") })
	}
	wg.Wait()
	server.Thaw()
	recovers(t, s)
}

// Contexts end otherwise than by a deadline, which is all that the client itself looks at.
func TestCancelledCallEndsAtOnce(t *testing.T) {
	server := redistest.Start(t)
	s := open(t, server.Location())
	recovers(t, s)
	server.Freeze()
	defer server.Thaw()
	for _, call := range calls {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Millisecond, cancel)
		if allowed, err := call.run(ctx, s); allowed || !errors.Is(err, context.Canceled) {
			t.Errorf("%s: allowed %v, %v", call.name, allowed, err)
		}
	}
}

func TestReplicaTakesNoChanges(t *testing.T) {
	server := redistest.Start(t)
	s, c := open(t, server.Location()), client(t, server)
	if err := c.ReplicaOf(t.Context(), "127.0.0.1", "1").Err(); err != nil {
		t.Fatal(err)
	}
	fails(t, s, false, "the server is a replica and takes no changes")
	if _, err := redis.Open(t.Context(), server.Location()); err == nil || !strings.Contains(err.Error(), "is a replica") {
		t.Errorf("opening: %v", err)
	}
	if err := c.ReplicaOf(t.Context(), "no", "one").Err(); err != nil {
		t.Fatal(err)
	}
	recovers(t, s)
}

func TestServerThatIsFull(t *testing.T) {
	server := redistest.Start(t)
	s, c := open(t, server.Location()), client(t, server)
	set := func(name, value string) {
		if err := c.ConfigSet(t.Context(), name, value).Err(); err != nil {
			t.Fatal(err)
		}
	}
	version, err := s.Put(t.Context(), "a", nil, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	set("maxmemory", "1")
	if _, err := s.Put(t.Context(), "b", nil, 0, 0); !errors.Is(err, store.ErrFull) {
		t.Errorf("put: %v", err)
	}
	counts, err := s.Take(t.Context(), []store.Claim{{Key: "c", N: 1, Window: time.Hour}})
	if !errors.Is(err, store.ErrFull) {
		t.Errorf("take: %+v, %v", counts, err)
	}
	if entries, err := s.List(t.Context(), "", "", 10); err != nil || len(entries) != 1 {
		t.Errorf("list: %+v, %v", entries, err)
	}
	if err := s.Delete(t.Context(), "a", version); err != nil {
		t.Errorf("deleting makes space: %v", err)
	}
	set("maxmemory", "100mb")
	open(t, server.Location())
	set("maxmemory-policy", "volatile-lru")
	if _, err := redis.Open(t.Context(), server.Location()); err == nil ||
		!strings.Contains(err.Error(), "set maxmemory-policy noeviction") {
		t.Errorf("a server that forgets: %v", err)
	}
	set("maxmemory", "0")
	open(t, server.Location())
	recovers(t, s)
}

// C12: a server that is busy with a script may have time later.
func TestServerThatIsBusy(t *testing.T) {
	server := redistest.Start(t, "--busy-reply-threshold", "1")
	s, admin := open(t, server.Location()), client(t, server)
	var running sync.WaitGroup
	running.Go(func() { _ = client(t, server).Eval(context.Background(), "while true do end", nil).Err() })
	for admin.Ping(t.Context()).Err() == nil { // until the script runs
		time.Sleep(time.Millisecond)
	}
	for _, call := range calls {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		if allowed, err := call.run(ctx, s); allowed || !errors.Is(err, store.ErrBusy) {
			t.Errorf("%s: %v, %v", call.name, allowed, err)
		}
		cancel()
	}
	if err := admin.Do(t.Context(), "SCRIPT", "KILL").Err(); err != nil {
		t.Fatal(err)
	}
	running.Wait()
	recovers(t, s)
}

// C12: a server that takes no more clients may have a place for one later, whether or not its message arrives before it
// closes the connection.
func TestServerWithTooManyClients(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the certificates of the system can be set on Linux alone")
	}
	p, err := trustedPair()
	certFile, keyFile := files(t, p, err)
	t.Setenv("SSL_CERT_FILE", certFile)
	plain, secure := freePort(t), freePort(t)
	server := redistest.Start(t, "--bind", "127.0.0.1", "--port", plain, "--tls-port", secure,
		"--tls-auth-clients", "no", "--tls-cert-file", certFile, "--tls-key-file", keyFile)
	admin := client(t, server)
	if err := admin.ConfigSet(t.Context(), "maxclients", "8").Err(); err != nil {
		t.Fatal(err)
	}
	for _, location := range []string{
		server.Location(), "redis://127.0.0.1:" + plain, "rediss://127.0.0.1:" + secure,
	} {
		s := open(t, location)
		if err := admin.Do(t.Context(), "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes").Err(); err != nil {
			t.Fatal(err)
		}
		others := fill(t, server.Socket())
		if _, err := redis.Open(t.Context(), location); !errors.Is(err, store.ErrBusy) {
			t.Errorf("opening %s: %v", location, err)
		}
		_, _ = s.Get(t.Context(), "a") // over TLS the store finds out now that its connection was closed
		for range 10 {
			for _, call := range calls {
				ctx, cancel := context.WithTimeout(t.Context(), patience)
				allowed, err := call.run(ctx, s)
				cancel()
				if allowed || !errors.Is(err, store.ErrBusy) {
					t.Errorf("%s, %s: %v, %v", location, call.name, allowed, err)
				}
				silent(t, err)
			}
		}
		for _, conn := range others {
			conn.Close()
		}
		recovers(t, s)
	}
}

// fill makes connections to a server until it takes no more.
func fill(t *testing.T, socket string) (taken []net.Conn) {
	t.Helper()
	for {
		conn, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { conn.Close() })
		_, _ = conn.Write([]byte("PING\r\n")) // the server may have closed it
		answer := make([]byte, len("+PONG\r\n"))
		if _, err = io.ReadFull(conn, answer); err != nil || string(answer) != "+PONG\r\n" {
			return taken
		}
		taken = append(taken, conn)
	}
}

func TestServerThatDemandsAPassword(t *testing.T) {
	server := redistest.Start(t, "--requirepass", password)
	with := func(user *url.Userinfo) string {
		u, err := url.Parse(server.Location())
		if err != nil {
			t.Fatal(err)
		}
		u.User = user
		return u.String()
	}
	for _, test := range []struct {
		location string
		says     string
	}{
		{server.Location(), "the server demands a password"},
		{with(url.UserPassword("", "wrong s3cret")), "the server refuses the user or the password"},
		{with(url.UserPassword("nobody", password)), "the server refuses the user or the password"},
	} {
		_, err := redis.Open(t.Context(), test.location)
		if err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%v, want %q", err, test.says)
			continue
		}
		silent(t, err)
	}
	s := open(t, with(url.UserPassword("", password)))
	recovers(t, s)
	open(t, with(url.UserPassword("default", password)))

	// A user with what the documentation lists and no more.
	admin := clientOf(t, server, password)
	rights := strings.Fields("ACL SETUSER few on >s3cret1 ~{aql}* +get +getrange +set +del +zadd +zrem +zrangebylex " +
		"+zrangebyscore +time +eval +evalsha")
	if err := admin.Do(t.Context(), words(rights)...).Err(); err != nil {
		t.Fatal(err)
	}
	few := open(t, with(url.UserPassword("few", "s3cret1")))
	for _, call := range calls {
		if _, err := call.run(t.Context(), few); err != nil && !errors.Is(err, store.ErrConflict) {
			t.Errorf("%s with few rights: %v", call.name, err)
		}
	}
	if _, err := redis.Open(t.Context(), with(url.UserPassword("few", "s3cret1"))+"?space=other"); err == nil ||
		!strings.Contains(err.Error(), "denies") {
		t.Errorf("another space: %v", err)
	} else {
		silent(t, err)
	}

	// The password changes while the store is open: connections that there are stay, so they are cut.
	if err := admin.ConfigSet(t.Context(), "requirepass", "changed s3cret").Err(); err != nil {
		t.Fatal(err)
	}
	if err := admin.Do(t.Context(), "CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes").Err(); err != nil {
		t.Fatal(err)
	}
	fails(t, s, true, "the ")
	fails(t, s, true, "the server refuses the user or the password")
	if err := admin.ConfigSet(t.Context(), "requirepass", password).Err(); err != nil {
		t.Fatal(err)
	}
	recovers(t, s)
}

func TestServerThatHasForgottenEverything(t *testing.T) {
	server := redistest.Start(t)
	s, c := open(t, server.Location()), client(t, server)
	for range 3 {
		version, err := s.Put(t.Context(), "a", nil, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := c.ScriptFlush(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		if version, err = s.Put(t.Context(), "a", nil, version, 0); err != nil {
			t.Errorf("without scripts: %v", err)
		}
		if err := c.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Put(t.Context(), "a", nil, version, 0); !errors.Is(err, store.ErrConflict) {
			t.Errorf("without data: %v", err)
		}
		if entries, err := s.List(t.Context(), "", "", 10); err != nil || len(entries) != 0 {
			t.Errorf("without data: %+v, %v", entries, err)
		}
	}
}

// Whatever was acknowledged is there after the server was killed, and nothing was taken twice. What was in doubt may
// be. This needs appendfsync always: with everysec the server postpones writing, not only syncing, while it is syncing.
func TestServerIsKilledDuringTraffic(t *testing.T) {
	slow(t)
	server := redistest.Start(t, "--appendfsync", "always")
	const workers, kills = 8, 4
	var stop atomic.Bool
	var acknowledged, doubtful atomic.Int64
	var wg sync.WaitGroup
	stores := [2]*redis.Store{open(t, server.Location()), open(t, server.Location())}
	put := make([]map[string]store.Version, workers)
	for w := range workers {
		put[w] = map[string]store.Version{}
		wg.Go(func() {
			s := stores[w%2]
			for i := 0; !stop.Load(); i++ {
				ctx, cancel := context.WithTimeout(context.Background(), patience)
				key := fmt.Sprintf("%d/%d", w, i)
				version, err := s.Put(ctx, key, []byte(key), 0, 0)
				if err == nil {
					put[w][key] = version
				} else if errors.Is(err, store.ErrConflict) {
					t.Errorf("a conflict with itself: %s", key)
				}
				if counts, err := s.Take(ctx, []store.Claim{{Key: "total", N: 1, Window: time.Hour}}); err == nil &&
					!counts[0].Refused {
					acknowledged.Add(1)
				} else {
					doubtful.Add(1)
					time.Sleep(time.Millisecond)
				}
				cancel()
			}
		})
	}
	// grows waits until there is more of what is counted.
	grows := func(count *atomic.Int64) {
		for more := count.Load() + 5*workers; count.Load() < more; time.Sleep(time.Millisecond) {
		}
	}
	for range kills {
		grows(&acknowledged)
		server.Kill()
		grows(&doubtful)
		server.Restart()
		for _, s := range stores {
			recovers(t, s)
		}
	}
	stop.Store(true)
	wg.Wait()
	total := 0
	for w := range workers {
		total += len(put[w])
		for key, version := range put[w] {
			if e, err := stores[0].Get(t.Context(), key); err != nil || e.Version != version || string(e.Value) != key {
				t.Fatalf("%s: %+v, %v", key, e, err)
			}
		}
	}
	counts, err := stores[1].Take(t.Context(), []store.Claim{{Key: "total", Window: time.Hour}})
	if err != nil || counts[0].Used < acknowledged.Load() || counts[0].Used > acknowledged.Load()+doubtful.Load() {
		t.Errorf("%+v, %v: %d were acknowledged, %d in doubt", counts, err, acknowledged.Load(), doubtful.Load())
	}
	if total == 0 || doubtful.Load() == 0 {
		t.Errorf("%d entries, %d in doubt: the test has tried nothing", total, doubtful.Load())
	}
}

func TestClosedStore(t *testing.T) {
	s := open(t, redistest.Start(t).Location())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	fails(t, s, true, "the store has been closed")
}
