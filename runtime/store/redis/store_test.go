package redis_test

import (
	"context"
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/store/redis"
	"github.com/aqltag/aqltag/runtime/store/redis/redistest"
	"github.com/aqltag/aqltag/runtime/store/storetest"
	goredis "github.com/redis/go-redis/v9"
)

// TestMain silences the client, which logs every connection that fails.
func TestMain(m *testing.M) {
	goredis.SetLogger(silence{})
	os.Exit(storetest.Main(m, func(ctx context.Context, location string) (store.Store, error) {
		return redis.Open(ctx, location)
	}))
}

type silence struct{}

func (silence) Printf(context.Context, string, ...any) {}

func open(t testing.TB, location string) *redis.Store {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	s, err := redis.Open(ctx, location)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// client returns a client of the server, next to the store.
func client(t testing.TB, server *redistest.Server) *goredis.Client { return clientOf(t, server, "") }

func clientOf(t testing.TB, server *redistest.Server, password string) *goredis.Client {
	c := goredis.NewClient(&goredis.Options{
		Network: "unix", Addr: server.Socket(), Password: password, Protocol: 2, DisableIdentity: true,
	})
	t.Cleanup(func() { c.Close() })
	return c
}

func words(texts []string) []any {
	var words []any
	for _, text := range texts {
		words = append(words, text)
	}
	return words
}

func TestStore(t *testing.T) {
	server := redistest.Start(t)
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, server.Location()) })
}

func TestDriversOpenTheirSchemes(t *testing.T) {
	server := redistest.Start(t)
	schemes := map[string]bool{}
	for _, driver := range redis.Drivers() {
		schemes[driver.Scheme] = true
		if driver.Scheme != "redis+unix" {
			continue
		}
		s, err := driver.Open(t.Context(), server.Location())
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if _, err := s.Put(t.Context(), "a", nil, 0, 0); err != nil {
			t.Error(err)
		}
	}
	for _, scheme := range []string{"redis", "rediss", "redis+unix"} {
		if !schemes[scheme] {
			t.Errorf("no driver for %s", scheme)
		}
	}
}

func TestSpacesAndDatabasesShareNothing(t *testing.T) {
	server := redistest.Start(t)
	for _, location := range []string{"", "?space=other", "?db=1", "?db=1&space=other"} {
		s := open(t, server.Location()+location)
		if _, err := s.Put(t.Context(), "a", []byte(location), 0, 0); err != nil {
			t.Errorf("%q: %v", location, err)
		}
		if counts, err := s.Take(t.Context(), []store.Claim{{Key: "c", N: 1, Limit: 1, Window: time.Hour}}); err != nil ||
			counts[0].Refused {
			t.Errorf("%q: %+v, %v", location, counts, err)
		}
		if entries, err := s.List(t.Context(), "", "", 10); err != nil || len(entries) != 1 ||
			string(entries[0].Value) != location {
			t.Errorf("%q: %+v, %v", location, entries, err)
		}
	}
}

// Redis Cluster runs a script only where all keys are in one slot, which the text in braces decides.
func TestEveryKeyIsInOneSlot(t *testing.T) {
	server := redistest.Start(t)
	s, c := open(t, server.Location()), client(t, server)
	for i, key := range []string{"a", "{b}", "}{", ""} {
		if _, err := s.Put(t.Context(), key, nil, 0, time.Duration(i)*time.Hour); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Take(t.Context(), []store.Claim{{Key: key, N: 1, Window: time.Hour}}); err != nil {
			t.Fatal(err)
		}
	}
	keys, err := c.Keys(t.Context(), "*").Result()
	if err != nil || len(keys) != 4+4+3 {
		t.Fatalf("%q, %v", keys, err)
	}
	for _, key := range keys {
		if key[:5] != "{aql}" {
			t.Errorf("key %q", key)
		}
	}
}

// Nothing that expires may leave something behind, listed or not.
func TestExpiredEntriesLeaveTheIndexes(t *testing.T) {
	server := redistest.Start(t)
	s, c := open(t, server.Location()), client(t, server)
	fill := func(name string) {
		for i := range 200 {
			if _, err := s.Put(t.Context(), fmt.Sprintf("%s/%d", name, i), nil, 0, time.Millisecond); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(5 * time.Millisecond)
	}
	sizes := func() (int64, int64) {
		return c.ZCard(t.Context(), "{aql}keys").Val(), c.ZCard(t.Context(), "{aql}ends").Val()
	}
	fill("put")
	if _, err := s.Put(t.Context(), "kept", nil, 0, time.Hour); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if _, err := s.Put(t.Context(), "kept", nil, 7, 0); err == nil {
			t.Fatal("no conflict")
		}
	}
	if keys, ends := sizes(); keys != 1 || ends != 1 {
		t.Errorf("after writing: %d keys, %d ends", keys, ends)
	}
	fill("list")
	if entries, err := s.List(t.Context(), "", "", 3); err != nil || len(entries) != 1 || entries[0].Key != "kept" {
		t.Errorf("%+v, %v", entries, err)
	}
	if entries, err := s.List(t.Context(), "list/", "", 1000); err != nil || len(entries) != 0 {
		t.Errorf("%+v, %v", entries, err)
	}
	if keys, ends := sizes(); keys != 1 || ends != 1 {
		t.Errorf("after listing: %d keys, %d ends", keys, ends)
	}
}

func TestListGoesOnBeyondOneRoundTrip(t *testing.T) {
	s := open(t, redistest.Start(t).Location())
	const n = 2500
	for i := range n {
		if _, err := s.Put(t.Context(), fmt.Sprintf("many/%05d", i), nil, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, limit := range []int{1, 999, 1000, 1001, n, n + 1, math.MaxInt} {
		entries, err := s.List(t.Context(), "many/", "", limit)
		if err != nil || len(entries) != min(limit, n) {
			t.Fatalf("limit %d: %d entries, %v", limit, len(entries), err)
		}
		for i, e := range entries {
			if want := fmt.Sprintf("many/%05d", i); e.Key != want {
				t.Fatalf("limit %d: entry %d is %s", limit, i, e.Key)
			}
		}
	}
}

func TestListTakesPrefixesOfAnyBytes(t *testing.T) {
	s := open(t, redistest.Start(t).Location())
	for _, key := range []string{"", "a", "a\xfe", "a\xff", "a\xff\x00", "a\xff\xff", "b", "\x00", "\xff", "\xff\xff"} {
		if _, err := s.Put(t.Context(), key, nil, 0, 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, test := range []struct {
		prefix, after string
		want          string
	}{
		{"", "", `["" "\x00" "a" "a\xfe" "a\xff" "a\xff\x00" "a\xff\xff" "b" "\xff" "\xff\xff"]`},
		{"", "b", `["\xff" "\xff\xff"]`},
		{"a\xff", "", `["a\xff" "a\xff\x00" "a\xff\xff"]`},
		{"a\xff", "a\xff", `["a\xff\x00" "a\xff\xff"]`},
		{"a\xfe", "", `["a\xfe"]`},
		{"\xff", "", `["\xff" "\xff\xff"]`},
		{"\xff\xff", "a", `["\xff\xff"]`},
		{"\x00", "", `["\x00"]`},
		{"a", "b", `[]`},
		{"a", "\x00", `["a" "a\xfe" "a\xff" "a\xff\x00" "a\xff\xff"]`},
	} {
		entries, err := s.List(t.Context(), test.prefix, test.after, 100)
		if err != nil {
			t.Fatal(err)
		}
		keys := make([]string, len(entries))
		for i, e := range entries {
			keys[i] = e.Key
		}
		if got := fmt.Sprintf("%q", keys); got != test.want {
			t.Errorf("%q behind %q: %s, want %s", test.prefix, test.after, got, test.want)
		}
	}
}

// A version that comes again would let a change through that was decided on what is no longer there.
func TestVersionsDoNotComeAgainWhenTheServerHasLostThem(t *testing.T) {
	server := redistest.Start(t)
	s, c := open(t, server.Location()), client(t, server)
	seen := map[store.Version]bool{}
	for round := range 20 {
		for i := range 50 {
			version, err := s.Put(t.Context(), fmt.Sprint(i), nil, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			if seen[version] {
				t.Fatalf("round %d: version %d comes again", round, version)
			}
			seen[version] = true
		}
		if err := c.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		if err := c.ScriptFlush(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
	}
}

func BenchmarkGet(b *testing.B) {
	s := open(b, redistest.Start(b).Location())
	if _, err := s.Put(b.Context(), "a", make([]byte, 300), 0, 0); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Get(b.Context(), "a"); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPut(b *testing.B) {
	s := open(b, redistest.Start(b).Location())
	b.ReportAllocs()
	var version store.Version
	for b.Loop() {
		var err error
		if version, err = s.Put(b.Context(), "a", make([]byte, 300), version, time.Hour); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkTake(b *testing.B) {
	for name, claims := range map[string][]store.Claim{
		"Period": {{Key: "p", N: 1, Limit: math.MaxInt32, Ends: time.Now().Add(time.Hour)}},
		"Window": {{Key: "w", N: 1, Limit: math.MaxInt32, Window: time.Minute}},
		"Three": {
			{Key: "1", N: 1, Limit: math.MaxInt32, Window: time.Minute},
			{Key: "2", N: 1, Limit: math.MaxInt32, Window: time.Hour},
			{Key: "3", N: 1, Limit: math.MaxInt32, Window: 24 * time.Hour},
		},
	} {
		b.Run(name, func(b *testing.B) {
			s := open(b, redistest.Start(b).Location())
			b.ReportAllocs()
			for b.Loop() {
				if _, err := s.Take(b.Context(), claims); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
