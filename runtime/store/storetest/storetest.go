// Package storetest tests implementations of store.Store. Whoever writes a store runs it in a test:
//
//	func TestStore(t *testing.T) {
//		location := …
//		storetest.Run(t, func(t *testing.T) store.Store {
//			s, err := mystore.Open(t.Context(), location)
//			if err != nil {
//				t.Fatal(err)
//			}
//			t.Cleanup(func() { s.Close() })
//			return s
//		})
//	}
//
// RunProcesses tests a store that several processes share.
package storetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
	"github.com/google/go-cmp/cmp"
)

// Run tests a store. Each call of open opens the same location once more, as another process would; a store in memory
// returns the same store. The location is empty at first. open closes what it has opened when the test ends. A store
// that is a store.Notifier is tested as that, too.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	t.Run("entries", func(t *testing.T) { entries(t, open(t)) })
	t.Run("an entry expires", func(t *testing.T) { expiry(t, open(t)) })
	t.Run("keys and values are any bytes", func(t *testing.T) { bytesOfAnyKind(t, open(t)) })
	t.Run("lists are in the order of keys and continue after a key", func(t *testing.T) { lists(t, open(t)) })
	t.Run("a counter starts from zero with a new period", func(t *testing.T) { periods(t, open(t)) })
	t.Run("a window never exceeds its limit", func(t *testing.T) { windows(t, open(t)) })
	t.Run("claims are taken together or not at all", func(t *testing.T) { together(t, open(t)) })
	t.Run("a clock that is behind does not reset a counter", func(t *testing.T) { behind(t, open(t)) })
	t.Run("of many changes to one version one succeeds", func(t *testing.T) { race(t, open) })
	t.Run("the last place of a counter is taken once", func(t *testing.T) { lastPlace(t, open) })
	t.Run("claims that overlap do not deadlock", func(t *testing.T) { overlap(t, open) })
	t.Run("nothing changes when the context has ended", func(t *testing.T) { ended(t, open(t)) })
	if _, notifies := open(t).(store.Notifier); notifies {
		t.Run("who listens is told", func(t *testing.T) { told(t, open) })
		t.Run("who is slow is told once, and holds up nobody", func(t *testing.T) { slow(t, open) })
		t.Run("listening ends", func(t *testing.T) { listeningEnds(t, open) })
		t.Run("a topic is a short name", func(t *testing.T) { topics(t, open) })
	}
}

func entries(t *testing.T, s store.Store) {
	ctx := t.Context()
	const key = "entries/a"
	if e, err := s.Get(ctx, key); err != nil || e.Exists() || len(e.Value) > 0 {
		t.Errorf("before it exists: %+v, %v", e, err)
	}
	if _, err := s.Put(ctx, key, nil, 7, 0); !errors.Is(err, store.ErrConflict) {
		t.Errorf("changing what does not exist: %v", err)
	}
	if err := s.Delete(ctx, key, 7); !errors.Is(err, store.ErrConflict) {
		t.Errorf("deleting what does not exist: %v", err)
	}
	first := put(t, s, key, "one", 0, 0)
	if _, err := s.Put(ctx, key, []byte("x"), 0, 0); !errors.Is(err, store.ErrConflict) {
		t.Errorf("creating it again: %v", err)
	}
	second := put(t, s, key, "two", first, time.Hour)
	if second == first || second == 0 {
		t.Errorf("version %d after %d", second, first)
	}
	if _, err := s.Put(ctx, key, []byte("x"), first, 0); !errors.Is(err, store.ErrConflict) {
		t.Errorf("changing an old version: %v", err)
	}
	if err := s.Delete(ctx, key, first); !errors.Is(err, store.ErrConflict) {
		t.Errorf("deleting an old version: %v", err)
	}
	want(t, s, key, "two", second)
	if err := s.Delete(ctx, key, second); err != nil {
		t.Errorf("deleting it: %v", err)
	}
	want(t, s, key, "", 0)
	third := put(t, s, key, "three", 0, 0)
	if third == first || third == second {
		t.Errorf("version %d is used twice", third)
	}
	want(t, s, key, "three", third)
}

func expiry(t *testing.T, s store.Store) {
	const key = "expiry/a"
	old := put(t, s, key, "one", 0, 50*time.Millisecond)
	kept := put(t, s, "expiry/b", "two", 0, time.Hour)
	time.Sleep(80 * time.Millisecond)
	want(t, s, key, "", 0)
	if _, err := s.Put(t.Context(), key, nil, old, 0); !errors.Is(err, store.ErrConflict) {
		t.Errorf("changing what has expired: %v", err)
	}
	if err := s.Delete(t.Context(), key, old); !errors.Is(err, store.ErrConflict) {
		t.Errorf("deleting what has expired: %v", err)
	}
	list(t, s, "expiry/", "", 10, "expiry/b")
	again := put(t, s, key, "again", 0, 0)
	if again == old {
		t.Errorf("version %d is used twice", again)
	}
	put(t, s, "expiry/b", "for good", kept, 0)
	time.Sleep(5 * time.Millisecond)
	list(t, s, "expiry/", "", 10, key, "expiry/b")
}

func bytesOfAnyKind(t *testing.T, s store.Store) {
	every := make([]byte, 256)
	for i := range every {
		every[i] = byte(i)
	}
	for _, value := range []string{"", "\x00", string(every), strings.Repeat("long ", 20_000)} {
		key := fmt.Sprintf("bytes/%d", len(value))
		want(t, s, key, value, put(t, s, key, value, 0, 0))
	}
	for _, key := range []string{"bytes/quote'\"", "bytes/%", "bytes/_", "bytes/*?[a]\\", "bytes/é/ü", "bytes/ "} {
		want(t, s, key, key, put(t, s, key, key, 0, 0))
	}
	list(t, s, "bytes/%", "", 10, "bytes/%")
	list(t, s, "bytes/_", "", 10, "bytes/_")
	list(t, s, "bytes/*", "", 10, "bytes/*?[a]\\")
	value := []byte("mine")
	put(t, s, "bytes/own", "mine", 0, 0)
	e, err := s.Get(t.Context(), "bytes/own")
	if err != nil || !bytes.Equal(e.Value, value) {
		t.Fatalf("%+v, %v", e, err)
	}
	e.Value[0] = 'X'
	want(t, s, "bytes/own", "mine", e.Version)
}

func lists(t *testing.T, s store.Store) {
	list(t, s, "list/", "", 10)
	for _, name := range []string{"list/b", "list/a/2", "list/é", "list/a/1", "list/Z", "list", "lisu", "list/b/1"} {
		put(t, s, name, name, 0, 0)
	}
	list(t, s, "list/", "", 10, "list/Z", "list/a/1", "list/a/2", "list/b", "list/b/1", "list/é")
	list(t, s, "list/", "", 2, "list/Z", "list/a/1")
	list(t, s, "list/", "list/a/1", 2, "list/a/2", "list/b")
	list(t, s, "list/", "list/é", 2)
	list(t, s, "list/a/", "list/b", 2)
	list(t, s, "list/", "", 0)
}

func periods(t *testing.T, s store.Store) {
	first := time.Now().Add(time.Hour).Truncate(time.Millisecond)
	second := first.Add(time.Hour)
	claim := func(n int64, ends time.Time) store.Claim {
		return store.Claim{Key: "period", N: n, Limit: 3, Ends: ends}
	}
	for _, step := range []struct {
		what    string
		claim   store.Claim
		used    int64
		refused bool
	}{
		{"checking does not count", claim(0, first), 0, false},
		{"a first part", claim(2, first), 2, false},
		{"more than is left", claim(2, first), 2, true},
		{"what is left", claim(1, first), 3, false},
		{"checking when nothing is left", claim(0, first), 3, true},
		{"giving back", claim(-2, first), 1, false},
		{"giving back more than there is", claim(-5, first), 0, false},
		{"a claim without limit", store.Claim{Key: "period", N: 9, Ends: first}, 9, false},
		{"the next period", claim(1, second), 1, false},
		{"a clock that is behind counts for the later period", claim(2, first), 3, false},
	} {
		got := take(t, s, step.claim)[0]
		if got.Used != step.used || got.Refused != step.refused {
			t.Errorf("%s: %+v, want used %d, refused %v", step.what, got, step.used, step.refused)
		}
		if want := step.claim.Ends; got.Refused && !got.Free.Equal(want) {
			t.Errorf("%s: free at %v, want %v", step.what, got.Free, want)
		}
	}
}

func windows(t *testing.T, s store.Store) {
	const window, limit = 200 * time.Millisecond, 5
	const tick = 2 * time.Millisecond // the resolution of stores is a millisecond
	claim := store.Claim{Key: "window", N: 1, Limit: limit, Window: window}
	// The store takes a claim at a time between began and ended. However slow the machine is, the times at which two
	// claims were taken are no further apart than from the first one's began to the second one's ended.
	type taking struct{ began, ended time.Time }
	var taken []taking
	for len(taken) < 3*limit {
		began := time.Now()
		count := take(t, s, claim)[0]
		ended := time.Now()
		if count.Refused {
			// At that time one claim can succeed.
			if wait := count.Free.Sub(ended); wait > window+window/5 {
				t.Fatalf("free in %v", wait)
			}
			time.Sleep(time.Until(count.Free) + time.Millisecond)
			continue
		}
		taken = append(taken, taking{began, ended})
	}
	for i := limit; i < len(taken); i++ {
		if passed := taken[i].ended.Sub(taken[i-limit].began); passed < window-tick {
			t.Errorf("claims %d to %d within %v", i-limit, i, passed)
		}
	}
}

func together(t *testing.T, s store.Store) {
	ends := time.Now().Add(time.Hour).Truncate(time.Millisecond)
	a := store.Claim{Key: "together/a", N: 1, Limit: 2, Ends: ends}
	b := store.Claim{Key: "together/b", N: 1, Limit: 1, Window: time.Hour}
	if counts := take(t, s, b, a); counts[0].Refused || counts[1].Refused || counts[0].Used != 1 || counts[1].Used != 1 {
		t.Errorf("both are free: %+v", counts)
	}
	counts := take(t, s, a, b)
	if counts[0].Refused || !counts[1].Refused || counts[0].Used != 1 || counts[1].Used != 1 {
		t.Errorf("the second is taken: %+v", counts)
	}
	if count := take(t, s, a)[0]; count.Refused || count.Used != 2 {
		t.Errorf("nothing was taken of the first: %+v", count)
	}
	if counts := take(t, s); len(counts) != 0 {
		t.Errorf("no claims: %+v", counts)
	}
}

func behind(t *testing.T, s store.Store) {
	later := time.Now().Add(time.Hour).Truncate(time.Millisecond)
	claim := store.Claim{Key: "behind", N: 1, Limit: 1, Ends: later}
	take(t, s, claim)
	take(t, s, store.Claim{Key: "behind", N: 1, Ends: time.Now().Add(-time.Hour)})
	time.Sleep(20 * time.Millisecond)
	if got := take(t, s, claim)[0]; !got.Refused || got.Used != 2 {
		t.Errorf("%+v, want 2 used and nothing left", got)
	}
	twice := store.Claim{Key: "twice", N: 1, Limit: 1, Window: time.Hour}
	if _, err := s.Take(t.Context(), []store.Claim{twice, twice}); err == nil {
		t.Error("one counter is claimed twice at once")
	}
	if got := take(t, s, twice)[0]; got.Refused {
		t.Errorf("what was refused counts: %+v", got)
	}
}

func ended(t *testing.T, s store.Store) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	claim := store.Claim{Key: "ended/c", N: 1, Window: time.Hour}
	_, get := s.Get(ctx, "ended/a")
	_, put := s.Put(ctx, "ended/a", nil, 0, 0)
	_, list := s.List(ctx, "ended/", "", 1)
	_, taken := s.Take(ctx, []store.Claim{claim})
	deleted := s.Delete(ctx, "ended/a", 1)
	for name, err := range map[string]error{"get": get, "put": put, "delete": deleted, "list": list, "take": taken} {
		if err == nil || errors.Is(err, store.ErrConflict) {
			t.Errorf("%s: %v", name, err)
		}
	}
	want(t, s, "ended/a", "", 0)
	claim.N = 0
	if got := take(t, s, claim)[0]; got.Used != 0 {
		t.Errorf("%d were taken", got.Used)
	}
}

func put(t *testing.T, s store.Store, key, value string, old store.Version, ttl time.Duration) store.Version {
	t.Helper()
	version, err := s.Put(t.Context(), key, []byte(value), old, ttl)
	if err != nil {
		t.Fatalf("putting %s: %v", key, err)
	}
	return version
}

func want(t *testing.T, s store.Store, key, value string, version store.Version) {
	t.Helper()
	e, err := s.Get(t.Context(), key)
	if err != nil || e.Key != key || string(e.Value) != value || e.Version != version {
		t.Errorf("getting %s: version %d with %d bytes, %v; want version %d with %d bytes",
			key, e.Version, len(e.Value), err, version, len(value))
	}
}

func list(t *testing.T, s store.Store, prefix, after string, limit int, keys ...string) {
	t.Helper()
	entries, err := s.List(t.Context(), prefix, after, limit)
	if err != nil {
		t.Fatalf("listing %s: %v", prefix, err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Key)
		if !e.Exists() {
			t.Errorf("%s has no version", e.Key)
		}
	}
	if diff := cmp.Diff(keys, got); diff != "" {
		t.Errorf("listing %s after %q (-want +got):\n%s", prefix, after, diff)
	}
}

func take(t *testing.T, s store.Store, claims ...store.Claim) []store.Count {
	t.Helper()
	counts, err := s.Take(t.Context(), claims)
	if err != nil {
		t.Fatalf("taking %+v: %v", claims, err)
	}
	return counts
}
