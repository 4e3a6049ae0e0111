package console_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
)

// silent is a store that tells nobody of changes, and fails for items when it is told to.
type silent struct {
	store.Store
	fails *atomic.Bool
}

var errFails = errors.New("the store fails")

func (s silent) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	if s.fails.Load() && strings.HasPrefix(prefix, "approve/") {
		return nil, errFails
	}
	return s.Store.List(ctx, prefix, after, limit)
}

func (s silent) Get(ctx context.Context, key string) (store.Entry, error) {
	if s.fails.Load() && strings.HasPrefix(key, "approve/") {
		return store.Entry{}, errFails
	}
	return s.Store.Get(ctx, key)
}

// isSilent has a site whose store is silent.
func isSilent(fails *atomic.Bool) func(*console.Options) {
	return func(o *console.Options) { o.Store = silent{o.Store, fails} }
}

// What is decided elsewhere waits on no page that is loaded afterwards, also where nobody tells of it and a page was
// loaded a moment ago.
func TestNothingDecidedWaits(t *testing.T) {
	for name, decide := range map[string]func(*site, approve.Item) error{
		"approved": func(s *site, item approve.Item) error { return s.elsewhere(item, true) },
		"denied":   func(s *site, item approve.Item) error { return s.elsewhere(item, false) },
		"removed":  func(s *site, item approve.Item) error { return s.inbox.Remove(s.t.Context(), item) },
		"used": func(s *site, item approve.Item) error {
			if err := s.elsewhere(item, true); err != nil {
				return err
			}
			return s.inbox.Use(s.t.Context(), s.get(item.ID), s.now)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, isSilent(new(atomic.Bool)))
			fill(s, 60)
			item := s.ask(func(q *approve.Question) {
				q.Binding[2], q.At, q.Lifetime = 1, s.now.Add(-time.Hour), 2*time.Hour
			})
			eve := s.person("eve")
			if page := eve.get("/").Body.String(); !strings.Contains(page, item.ID) {
				t.Fatalf("the item does not wait: %s", page)
			}
			if err := decide(s, item); err != nil {
				t.Fatal(err)
			}
			page := eve.get("/").Body.String()
			if strings.Contains(page, item.ID) || !strings.Contains(page, "60 items at") {
				t.Errorf("the item waits, or the page does not count: %s", page)
			}
		})
	}
}

// elsewhere decides about an item, of which the console is not told.
func (s *site) elsewhere(item approve.Item, approval bool) error {
	vote := approve.Vote{By: identity.User("bob"), Channel: approve.Terminal, Approve: approval, At: s.now}
	_, err := s.inbox.Vote(s.t.Context(), item.ID, vote)
	return err
}

// A console whose store fails shows nothing that it has seen before.
func TestNothingIsShownFromMemory(t *testing.T) {
	fails := new(atomic.Bool)
	s := newSite(t, isSilent(fails))
	s.ask(nil)
	eve := s.person("eve")
	for _, fail := range []bool{false, true, false} {
		fails.Store(fail)
		answer := eve.get("/")
		shows := strings.Contains(answer.Body.String(), "delete_note")
		if failed := answer.Code == http.StatusServiceUnavailable; failed != fail || shows == fail {
			t.Errorf("the store fails: %t; the page is answered with %d, and shows the item: %t", fail, answer.Code, shows)
		}
	}
}

// What comes is on a page a second later at most, where nobody tells of it.
func TestWhatComesIsSeen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, func(o *console.Options) {
			o.Now = time.Now
			isSilent(new(atomic.Bool))(o)
		})
		s.store.Now = nil
		eve := s.person("eve")
		eve.get("/")
		item := s.asked(nil)
		time.Sleep(time.Second)
		if page := eve.get("/").Body.String(); !strings.Contains(page, item.ID) {
			t.Errorf("the item is not on the page: %s", page)
		}
	})
}

// People load pages and follow them while others decide and agents ask. In the end all see what waits then.
func TestManyLookAtOnce(t *testing.T) {
	following(t, func(t *testing.T, s *site, _ *looked) {
		var open []*followed
		eve, bob := s.person("eve"), s.person("bob")
		for _, page := range []string{"/", "/?operation=delete_note", "/?operation=share_note"} {
			open = append(open, eve.follow(page), bob.follow(page))
		}
		var items []approve.Item
		for i := range 120 {
			items = append(items, s.asked(func(q *approve.Question) {
				q.Binding[0], q.Operation = byte(i), []string{"delete_note", "share_note"}[i%2]
			}))
		}
		form := eve.form(items[0].ID, "deny")
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				for j := range 15 {
					item := items[i*15+j]
					deny := map[string][]string{
						"answer": {"deny"}, "csrf": form["csrf"], "revision": {item.Revision()},
					}
					if i%2 == 0 {
						eve.post("/items/"+item.ID, deny)
					}
					eve.get(fmt.Sprintf("/?operation=%s", []string{"delete_note", "share_note", ""}[j%3]))
				}
			})
		}
		all.Wait()
		time.Sleep(2 * time.Second)
		for i, page := range open {
			events := page.told(t)
			if len(events) == 0 || events[len(events)-1].Title != "Waiting: 60" {
				t.Errorf("page %d is told %+v", i, events)
			}
			page.close()
		}
		if page := bob.get("/").Body.String(); !strings.Contains(page, "60 items at") {
			t.Errorf("the page is %s", page)
		}
	})
}
