package console_test

import (
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/store"
)

// listing counts the entries of items that a store lists.
type listing struct {
	store.Store
	count *atomic.Int64
}

func (l listing) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	entries, err := l.Store.List(ctx, prefix, after, limit)
	if strings.HasPrefix(prefix, "approve/") || strings.HasPrefix(prefix, "verify/") {
		l.count.Add(int64(len(entries)))
	}
	return entries, err
}

// isCounted counts what the store of a site lists.
func isCounted(count *atomic.Int64) func(*console.Options) {
	return func(o *console.Options) {
		o.Store = listing{o.Store, count}
		(&begun{all: []aql.Overseen{agentOf("exec_1", "release_bot", ann, execution.Running)}}).with(o)
		o.Agents, o.Quotas = true, noQuotas{}
	}
}

// noQuotas has none.
type noQuotas struct{}

func (noQuotas) QuotaUse(context.Context, aql.Caller) (aql.QuotaUse, error) {
	return aql.QuotaUse{}, nil
}

// Who has looked at the inbox a moment ago sees an item, decides about it, and looks at the agents and the callers,
// without a look at all the other items.
func TestOtherItemsAreNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in which no time passes between two looks
		var count atomic.Int64
		s := newSite(t, isCounted(&count))
		fill(s, 60)
		item := s.ask(func(q *approve.Question) { q.At, q.Binding[2] = s.now, 1 })
		held := s.hold(isBlocked)
		eve := s.person("eve")
		if eve.get("/"); count.Load() < 60 {
			t.Fatalf("the inbox has %d entries", count.Load())
		}
		for _, do := range []struct {
			name   string
			status int
			by     func() int
		}{
			{"an item", 200, func() int { return eve.get("/items/" + item.ID).Code }},
			{"its parameters", 200, func() int { return eve.get("/items/" + item.ID + "/whole").Code }},
			{"what holds an agent", 200, func() int { return eve.get("/items/" + held.ID).Code }},
			{"the agents", 200, func() int { return eve.get("/agents").Code }},
			{"the quotas", 200, func() int { return eve.get("/quotas").Code }},
			{"a vote", 303, func() int { return eve.decide(item.ID, "approve").Code }},
		} {
			count.Store(0)
			if status := do.by(); status != do.status || count.Load() != 0 {
				t.Errorf("%s: %d, and %d entries are read", do.name, status, count.Load())
			}
		}
		if state := s.get(item.ID).State; state != approve.Approved {
			t.Errorf("the item is %s", state)
		}
	})
}

// An item that came, or was asked anew, since somebody looked at the inbox is found all the same, and one that has gone
// is not.
func TestItemsAreFoundSinceALook(t *testing.T) {
	s := newSite(t, nil)
	eve, first := s.person("eve"), s.ask(nil)
	eve.get("/")
	if err := s.inbox.Remove(s.t.Context(), first); err != nil {
		t.Fatal(err)
	}
	again := s.ask(nil) // in the entry of the first
	came := s.ask(func(q *approve.Question) { q.Binding[0] = 1 })
	for id, want := range map[string]int{
		first.ID: http.StatusNotFound, again.ID: http.StatusOK, came.ID: http.StatusOK, "ask_nothing": http.StatusNotFound,
	} {
		if answer := eve.get("/items/" + id); answer.Code != want {
			t.Errorf("%s: %d, want %d: %s", id, answer.Code, want, answer.Body)
		}
	}
	eve.decide(came.ID, "deny")
	if state := s.get(came.ID).State; state != approve.Denied {
		t.Errorf("what came is %s", state)
	}
}

// An agent that was let go elsewhere stands on no page that is loaded afterwards, also where nobody tells of it.
func TestNoAgentIsHeldThatWasLetGo(t *testing.T) {
	s := newSite(t, func(o *console.Options) {
		isSilent(new(atomic.Bool))(o)
		(&begun{}).with(o)
		o.Agents = true
	})
	eve, held := s.person("eve"), s.hold(isBlocked)
	if page := eve.get("/agents").Body.String(); !strings.Contains(page, held.ID) {
		t.Fatalf("it is not held: %s", page)
	}
	bob := s.person("bob")
	form := bob.form(held.ID, "approve")
	form.Set("reason", "I have looked at what it does")
	bob.post("/items/"+held.ID, form)
	if page := eve.get("/agents").Body.String(); strings.Contains(page, held.ID) {
		t.Errorf("it is held: %s", page)
	}
}
