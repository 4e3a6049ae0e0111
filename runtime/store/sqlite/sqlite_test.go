package sqlite

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/store/storetest"
)

func TestStore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, path) })
}

func open(t testing.TB, path string) *Store {
	t.Helper()
	s, err := Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// A version is never given twice: not after its entry was deleted, nor by a later process.
func TestVersionsOutliveEntriesAndProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.db")
	seen := map[store.Version]bool{}
	for range 5 {
		s := open(t, path)
		for range 3 {
			version, err := s.Put(t.Context(), "a", nil, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			if seen[version] || version == 0 {
				t.Errorf("version %d comes again", version)
			}
			seen[version] = true
			if err := s.Delete(t.Context(), "a", version); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A version is any number that a caller comes up with.
func TestVersionsThatNeverWere(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "state.db"))
	if _, err := s.Put(t.Context(), "a", nil, 0, 0); err != nil {
		t.Fatal(err)
	}
	for _, version := range []store.Version{0, 1 << 63, 1<<64 - 1} {
		if _, err := s.Put(t.Context(), "a", nil, version, 0); !errors.Is(err, store.ErrConflict) {
			t.Errorf("putting at %d: %v", version, err)
		}
		if err := s.Delete(t.Context(), "a", version); !errors.Is(err, store.ErrConflict) {
			t.Errorf("deleting at %d: %v", version, err)
		}
	}
}

// REQ-CT-09: a token that was taken does not come back after a power cut. What counters lost is a matter of the disk's
// last seconds.
func TestWhatIsOnTheDiskWhen(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "state.db"))
	version, err := s.Put(t.Context(), "deleted", nil, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	asked := func(c *connection, query string) (answer string) {
		if err := c.queryRow(query).Scan(&answer); err != nil {
			t.Fatal(err)
		}
		return answer
	}
	const changes = "SELECT total_changes()"
	for _, test := range []struct {
		name        string
		synchronous string
		do          func() error
	}{
		{"put", "2", func() error { _, err := s.Put(t.Context(), "a", nil, 0, 0); return err }},
		{"delete", "2", func() error { return s.Delete(t.Context(), "deleted", version) }},
		{"take", "1", func() error {
			_, err := s.Take(t.Context(), []store.Claim{{Key: "c", N: 1, Window: time.Hour}})
			return err
		}},
	} {
		w := <-s.writer
		s.writer <- w
		before := map[*connection]string{w.durable: asked(w.durable, changes), w.quick: asked(w.quick, changes)}
		if err := test.do(); err != nil {
			t.Fatal(err)
		}
		for c, count := range before {
			if asked(c, changes) == count {
				continue // it was the other one
			}
			if got, journal := asked(c, "PRAGMA synchronous"), asked(c, "PRAGMA journal_mode"); got != test.synchronous ||
				journal != "wal" {
				t.Errorf("%s: synchronous %s, journal %s; want %s, wal", test.name, got, journal, test.synchronous)
			}
		}
	}
}

// While another process has the lock, changes wait and end with their contexts; reading goes on.
func TestWaitingEndsWithTheContext(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "state.db"))
	version, err := s.Put(t.Context(), "a", []byte("kept"), 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	another, err := s.connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := another.exec(begin); err != nil {
		t.Fatal(err)
	}
	claims := []store.Claim{{Key: "c", N: 1, Limit: 1, Window: time.Hour}}
	changes := map[string]func(ctx context.Context) error{
		"put":    func(ctx context.Context) error { _, err := s.Put(ctx, "a", nil, version, 0); return err },
		"delete": func(ctx context.Context) error { return s.Delete(ctx, "a", version) },
		"take":   func(ctx context.Context) error { _, err := s.Take(ctx, claims); return err },
	}
	cause := errors.New("the session has ended")
	for name, change := range changes {
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
		if err := change(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%s past its deadline: %v", name, err)
		}
		cancel()
		ctx, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(5*time.Millisecond, func() { stop(cause) })
		if err := change(ctx); !errors.Is(err, cause) {
			t.Errorf("%s that was cancelled: %v", name, err)
		}
	}
	if e, err := s.Get(t.Context(), "a"); err != nil || string(e.Value) != "kept" || e.Version != version {
		t.Errorf("reading: %+v, %v", e, err)
	}
	time.AfterFunc(20*time.Millisecond, func() { another.exec(rollback) })
	for _, name := range []string{"put", "take"} {
		if err := changes[name](t.Context()); err != nil {
			t.Errorf("%s that waited for its turn: %v", name, err)
		}
	}
}

// While a disk does not answer, every call returns when its context ends, also one that waits for its turn.
func TestCallsEndThoughTheDiskDoesNotAnswer(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "state.db"))
	answer := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	err := s.change(ctx, true, func(c *connection, _ time.Time) (bool, error) {
		cancel()
		<-answer
		return true, c.exec(putEntry, []byte("a"), 1, nil, []byte("late"))
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("changing: %v", err)
	}
	ctx, cancel = context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if _, err := s.Put(ctx, "b", nil, 0, 0); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("waiting for a turn: %v", err)
	}
	for range readers {
		ctx, cancel := context.WithCancel(t.Context())
		err := s.read(ctx, func(context.Context, *connection) error {
			cancel()
			<-answer
			return nil
		})
		if !errors.Is(err, context.Canceled) {
			t.Errorf("reading: %v", err)
		}
	}
	close(answer)
	if _, err := s.Put(t.Context(), "b", nil, 0, 0); err != nil {
		t.Errorf("when it answers again: %v", err)
	}
	if entries, err := s.List(t.Context(), "", "", 10); err != nil || len(entries) != 1 {
		t.Errorf("a change that was cancelled before its commit was stored: %+v, %v", entries, err)
	}
}

// Expired entries are removed from the file, too, after some more changes.
func TestExpiredRowsAreSweptAway(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "state.db"))
	for i := range 100 {
		key := fmt.Sprint(i)
		if _, err := s.Put(t.Context(), key, nil, 0, time.Hour*time.Duration(i%2)); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Take(t.Context(), []store.Claim{{Key: key, N: 1, Window: time.Hour}}); err != nil {
			t.Fatal(err)
		}
	}
	alter(t, s, "UPDATE entries SET expires_at = 1 WHERE expires_at IS NOT NULL")
	alter(t, s, "UPDATE counters SET expires_at = 1 WHERE key < ?", []byte("5"))
	for range sweepEvery {
		if _, err := s.Take(t.Context(), []store.Claim{{Key: "more", N: 1, Window: time.Hour}}); err != nil {
			t.Fatal(err)
		}
	}
	var entries, counters int
	if err := s.db.QueryRow("SELECT (SELECT count(*) FROM entries), (SELECT count(*) FROM counters WHERE key < ?)",
		[]byte("5")).Scan(&entries, &counters); err != nil {
		t.Fatal(err)
	}
	if entries != 50 || counters != 0 {
		t.Errorf("%d entries and %d counters are left, want 50 and 0", entries, counters)
	}
}

func TestClosed(t *testing.T) {
	s := open(t, filepath.Join(t.TempDir(), "state.db"))
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, get := s.Get(t.Context(), "a")
	_, put := s.Put(t.Context(), "a", nil, 0, 0)
	for name, err := range map[string]error{"get": get, "put": put} {
		if !errors.Is(err, errClosed) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
