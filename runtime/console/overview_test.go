package console

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/verify"
)

// counted is an inbox that counts the items that are decoded.
type counted struct {
	approve.Inbox
	decoded int
	changes <-chan struct{}
}

func (c *counted) Scan(ctx context.Context, visit func(store.Entry, func() (approve.Item, error)) bool) error {
	return c.Inbox.Scan(ctx, func(e store.Entry, item func() (approve.Item, error)) bool {
		return visit(e, func() (approve.Item, error) {
			c.decoded++
			return item()
		})
	})
}

func (c *counted) Changes(ctx context.Context) <-chan struct{} {
	c.changes = c.Inbox.Changes(ctx)
	return c.changes
}

// seen is an overview of an inbox in a test.
type seen struct {
	t     *testing.T
	state *store.Memory
	inbox *counted
	holds *verify.Box
	*overview
	asked int
}

// newSeen returns the overview of an empty inbox, on a clock.
func newSeen(t *testing.T, clock func() time.Time) *seen {
	t.Helper()
	state := &store.Memory{Now: clock}
	holds, err := verify.New(verify.Options{Store: state, Adapter: "notes", Now: clock})
	if err != nil {
		t.Fatal(err)
	}
	inbox := &counted{Inbox: holds.Inbox(approve.New(state))}
	return &seen{t, state, inbox, holds, newOverview(inbox, &Options{Store: state, Now: clock}), 0}
}

// ask opens an item that is good for a time, and returns its ID.
func (s *seen) ask(lifetime time.Duration) string {
	s.t.Helper()
	s.asked++
	q := approve.Question{
		Kind: approve.Confirmation, Operation: fmt.Sprintf("operation_%d", s.asked%3), Danger: gen.Destructive,
		Caller: identity.Caller{Subject: fmt.Sprintf("caller-%d", s.asked/100), Issuer: "test"}, Params: `{"id":1}`,
		At: s.now(), Lifetime: lifetime,
	}
	q.Binding[0], q.Binding[1] = byte(s.asked), byte(s.asked>>8)
	item, _, err := s.inbox.Ask(s.t.Context(), q)
	if err != nil {
		s.t.Fatal(err)
	}
	return item.ID
}

// vote decides about an item.
func (s *seen) vote(id string, approval bool) {
	s.t.Helper()
	vote := approve.Vote{
		By: identity.Caller{Subject: "eve", Issuer: "test"}, Channel: approve.Console, Approve: approval, Reason: "x",
		At: s.now(),
	}
	if _, err := s.inbox.Vote(s.t.Context(), id, vote); err != nil {
		s.t.Fatal(err)
	}
}

// look looks at the inbox now, and returns how many items were decoded for that.
func (s *seen) look() (l *look, decoded int) {
	s.t.Helper()
	before := s.inbox.decoded
	l, err := s.anew(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return l, s.inbox.decoded - before
}

// A look decodes what is new or has changed, whoever has changed it, and keeps nothing of what is gone.
func TestLooksDecodeWhatHasChanged(t *testing.T) {
	s := newSeen(t, time.Now)
	var ids []string
	for range 100 {
		ids = append(ids, s.ask(time.Hour))
	}
	forge := func(change func(*store.Entry)) { // as somebody does who can write the state
		s.t.Helper()
		entries, err := s.state.List(t.Context(), "approve/", "", 1)
		if err != nil || len(entries) == 0 {
			t.Fatal(entries, err)
		}
		s.overview.inbox.(*counted).Inbox = changed{s.inbox.Inbox, func(e *store.Entry) {
			if e.Key == entries[0].Key {
				change(e)
			}
		}}
	}
	for _, step := range []struct {
		name    string
		do      func()
		decoded int
		waiting int
	}{
		{"at first", func() {}, 100, 100},
		{"nothing happens", func() {}, 0, 100},
		{"one is approved", func() { s.vote(ids[0], true) }, 1, 99},
		{"one is denied", func() { s.vote(ids[1], false) }, 1, 98},
		{"one comes", func() { s.ask(time.Hour) }, 1, 99},
		{"one goes", func() {
			item, err := s.inbox.Get(t.Context(), ids[2])
			if err == nil {
				err = s.inbox.Remove(t.Context(), item)
			}
			if err != nil {
				t.Fatal(err)
			}
		}, 0, 98},
		{"one is changed beside the inbox", func() { forge(func(e *store.Entry) { e.Value = append(e.Value, ' ') }) }, 1, 98},
	} {
		step.do()
		l, decoded := s.look()
		if decoded != step.decoded || len(l.waiting) != step.waiting {
			t.Errorf("%s: %d items were decoded, %d wait, want %d and %d", step.name, decoded, len(l.waiting), step.decoded,
				step.waiting)
		}
		if len(s.known) != len(l.all)+l.unread {
			t.Errorf("%s: %d entries are kept, and there are %d", step.name, len(s.known), len(l.all))
		}
	}
}

// changed is an inbox whose entries somebody has changed, beneath versions that stay.
type changed struct {
	approve.Inbox
	change func(*store.Entry)
}

func (c changed) Scan(ctx context.Context, visit func(store.Entry, func() (approve.Item, error)) bool) error {
	return c.Inbox.Scan(ctx, func(e store.Entry, item func() (approve.Item, error)) bool {
		c.change(&e)
		return visit(e, item)
	})
}

// What a look shows is what the inbox lists, whatever has happened and however long ago.
func TestLooksShowWhatTheInboxLists(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	s := newSeen(t, func() time.Time { return now })
	urgent := func(item *approve.Item) bool {
		return item.Kind == approve.Block || item.Kind == approve.Pause || item.Expires.Sub(now) < urgentBefore
	}
	for step := range 500 {
		items, err := s.inbox.List(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		var open []approve.Item
		for _, item := range items {
			if item.StateAt(now) == approve.Open {
				open = append(open, item)
			}
		}
		for _, first := range []bool{true, false} {
			for i := range open {
				if urgent(&open[i]) == first {
					want = append(want, open[i].ID)
				}
			}
		}
		l, _, err := s.current(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, h := range l.waiting {
			got = append(got, h.id)
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("after %d steps: %s", step, diff)
		}
		switch n := random.IntN(10); {
		case n < 5:
			s.ask(time.Duration(1+random.IntN(300)) * time.Second)
		case n < 7 && len(open) > 0:
			item := open[random.IntN(len(open))]
			s.vote(item.ID, item.Kind == approve.Block || random.IntN(2) == 0)
		case n < 8:
			agent := verify.Subject{Caller: identity.Caller{Subject: "ann"}, Agent: fmt.Sprint(step), Block: true}
			if _, err := s.holds.Open(t.Context(), agent); err != nil {
				t.Fatal(err)
			}
		default:
			now = now.Add(time.Duration(random.IntN(100)) * time.Second)
		}
	}
}

// While nobody looks, nothing is kept, and nobody listens to the store.
func TestNothingIsKeptUnlooked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSeen(t, time.Now)
		s.ask(time.Hour)
		for range 5 { // who looks now and then finds it kept
			if _, _, err := s.current(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(keptFor - time.Second)
		}
		if s.inbox.decoded != 1 {
			t.Errorf("the item was decoded %d times", s.inbox.decoded)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if s.known != nil || s.last != nil {
			t.Error("items are kept")
		}
		if _, listens := <-s.inbox.changes; listens {
			t.Error("somebody listens")
		}
		if _, decoded := s.look(); decoded != 1 {
			t.Errorf("then %d items are decoded", decoded)
		}
	})
}

// Positions are read as they are written, and ordered as the items of a look.
func TestPositions(t *testing.T) {
	now := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	var heads []*head
	for i := range 50 {
		heads = append(heads, &head{
			id: fmt.Sprintf("ask_%02d.x", i%7), opened: now.Add(time.Duration(i%5) * time.Second),
			expires: now.Add(time.Duration(i%3) * time.Minute / 2), state: approve.Open,
		})
	}
	l := lookAt(heads, 0, now)
	if !slices.IsSortedFunc(l.waiting, func(x, y *head) int {
		return cmp.Or(positionOf(x, now).compare(positionOf(y, now)))
	}) {
		t.Error("the look has another order")
	}
	for _, h := range l.waiting {
		if p, ok := parsePosition(positionOf(h, now).String()); !ok || p != positionOf(h, now) {
			t.Errorf("%s is read as %v", positionOf(h, now), p)
		}
	}
}
