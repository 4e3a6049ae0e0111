package approve_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
)

// anonymous is a question of a caller without a name, on a connection.
func anonymous(n int, at time.Time, lifetime time.Duration, params string) approve.Question {
	return question(func(q *approve.Question) {
		q.Binding, q.Caller = approve.Binding{byte(n), byte(n >> 8), byte(n >> 16)}, identity.Caller{}
		q.Session, q.At, q.Lifetime, q.Params = fmt.Sprint("connection ", n/20), at, lifetime, params
	})
}

// What callers without a name open stays within one bound, however long people have for it, and whatever else of them
// waits. What they have kept stays within another.
func TestAnonymousCallersAreBoundedTogether(t *testing.T) {
	const mostOpen, mostKept = 2000, 32 << 20
	long := `{"text":"` + strings.Repeat("x", 100<<10) + `"}`
	for name, lifetimes := range map[string][]time.Duration{
		"5 minutes":        {5 * time.Minute},
		"within: 24h":      {24 * time.Hour},
		"30 days":          {30 * 24 * time.Hour},
		"of any lifetimes": {time.Second, 6 * time.Minute, time.Hour, 2 * time.Hour, 24 * time.Hour, 25 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			now := start
			state := &store.Memory{Now: func() time.Time { return now }}
			inbox := approve.New(state)
			opened := 0
			for n := 0; now.Before(start.Add(14 * time.Hour)); now = now.Add(200 * time.Minute) {
				for range max(600, 300*len(lifetimes)) {
					lifetime := lifetimes[n%len(lifetimes)]
					params := fmt.Sprintf(`{"id":%d}`, n)
					if n%5 == 0 {
						params = long
					}
					_, _, err := inbox.Ask(t.Context(), anonymous(n, now, lifetime, params))
					if n++; err == nil {
						opened++
					} else if many, ok := errors.AsType[*approve.TooManyError](err); !ok || !many.Until.After(now) {
						t.Fatal(err)
					}
				}
				items, err := inbox.List(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				closed := func(i approve.Item) bool { return i.StateAt(now) != approve.Open }
				if open := len(slices.DeleteFunc(items, closed)); open > mostOpen {
					t.Fatalf("%d items are open after %v", open, now.Sub(start))
				}
				entries, err := state.List(t.Context(), "approve-whole/", "", 1<<20)
				if err != nil {
					t.Fatal(err)
				}
				kept := 0
				for _, entry := range entries {
					kept += len(entry.Value)
				}
				if kept > mostKept || kept == 0 && now.Equal(start) {
					t.Fatalf("%d bytes are kept after %v", kept, now.Sub(start))
				}
			}
			if opened < 200 {
				t.Errorf("%d items were opened", opened)
			}
		})
	}
}

// Whoever decides makes room for other items of callers without a name, as for those of others.
func TestDecidingMakesRoomForAnonymousCallers(t *testing.T) {
	inbox := approve.New(&store.Memory{Now: func() time.Time { return start }})
	full := func(n int) bool {
		_, _, err := inbox.Ask(t.Context(), anonymous(n, start, 24*time.Hour, "{}"))
		if err != nil && !errors.Is(err, approve.ErrTooMany) {
			t.Fatal(err)
		}
		return err != nil
	}
	for n := range 500 {
		if full(n) {
			t.Fatalf("there is no room for item %d", n)
		}
	}
	if !full(500) {
		t.Fatal("there is room beyond the bound")
	}
	if _, _, err := inbox.Ask(t.Context(), anonymous(500, start, 5*time.Minute, "{}")); err != nil {
		t.Errorf("items that wait for a day leave no room for one that waits for minutes: %v", err)
	}
	items, err := inbox.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, approves := range []bool{true, false} {
		at := slices.IndexFunc(items, func(i approve.Item) bool {
			return i.Lifetime == 24*time.Hour && i.State == approve.Open
		})
		vote := approve.Vote{By: ann, Channel: "test", Approve: approves, At: start}
		if items[at], err = inbox.Vote(t.Context(), items[at].ID, vote); err != nil {
			t.Fatal(err)
		}
		if full(600 + i) {
			t.Errorf("there is no room after a person has decided (approves: %v)", approves)
		}
		if !full(700 + i) {
			t.Errorf("one decision makes room for two (approves: %v)", approves)
		}
	}
}

// Of what cannot be kept whole, because other callers without a name have too much already, people see both ends, and
// are told so.
func TestAnonymousCallersKeepLittle(t *testing.T) {
	inbox := approve.New(&store.Memory{Now: func() time.Time { return start }})
	params := `{"text":"` + strings.Repeat("x", 127<<10) + `"}`
	kept := 0
	for n := range 20 { // of one connection
		item := open(t, inbox, anonymous(n, start, 24*time.Hour, params))
		if item.Whole != len(params) || !strings.Contains(item.Params, "bytes left out") {
			t.Fatalf("%+v", item)
		}
		switch whole, err := inbox.Whole(t.Context(), item); {
		case err == nil && whole == params:
			kept++
		case !errors.Is(err, approve.ErrNotKept) || kept == 0:
			t.Fatal(err)
		}
	}
	if kept != 8 {
		t.Errorf("%d are kept of one connection", kept)
	}
	other := open(t, inbox, anonymous(50, start, 24*time.Hour, params))
	if whole, err := inbox.Whole(t.Context(), other); err != nil || whole != params {
		t.Errorf("another connection keeps nothing: %v", err)
	}
}
