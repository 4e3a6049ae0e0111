package console_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/store"
)

// looked is a store that counts how often what waits is listed.
type looked struct {
	store.Store
	lists atomic.Int64
}

func (l *looked) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	if strings.HasPrefix(prefix, "approve/") {
		l.lists.Add(1)
	}
	return l.Store.List(ctx, prefix, after, limit)
}

// followed is a page that a browser has open, with what it was told.
type followed struct {
	mu     sync.Mutex
	header http.Header
	status int
	text   strings.Builder
	close  func()
}

func (f *followed) Header() http.Header { return f.header }
func (f *followed) WriteHeader(code int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.status = code
}

func (f *followed) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.text.Write(p)
}

func (f *followed) FlushError() error { return nil }

// told returns the events that came since the last call, but for beats.
func (f *followed) told(t *testing.T) (events []struct{ Title, Count, Rows string }) {
	t.Helper()
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	for message := range strings.SplitSeq(f.text.String(), "\n\n") {
		if _, data, ok := strings.Cut(message, "data: "); ok && !strings.HasPrefix(message, "event: beat\n") {
			var event struct{ Title, Count, Rows string }
			if err := json.Unmarshal([]byte(data), &event); err != nil {
				t.Fatalf("%v: %s", err, data)
			}
			events = append(events, event)
		}
	}
	f.text.Reset()
	return events
}

var liveIn = regexp.MustCompile(`data-live="([^"]*)"`)

// follow opens the events of a page.
func (b *browser) follow(page string) *followed {
	b.t.Helper()
	found := liveIn.FindStringSubmatch(b.get(page).Body.String())
	if found == nil {
		b.t.Fatalf("the page %s follows nothing", page)
	}
	ctx, stop := context.WithCancel(b.t.Context())
	f := &followed{header: make(http.Header)}
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, strings.ReplaceAll(found[1], "&amp;", "&"), nil)
	r.Host = host
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b.ServeHTTP(f, r)
	}()
	f.close = func() { stop(); <-ended }
	return f
}

// following runs a test of a site whose clock is that of the bubble.
func following(t *testing.T, test func(t *testing.T, s *site, looks *looked)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		looks := new(looked)
		s := newSite(t, func(o *console.Options) {
			o.Now = time.Now
			looks.Store = o.Store
			o.Store = looks
		})
		s.store.Now = nil
		test(t, s, looks)
	})
}

// asked opens an item that is asked for now.
func (s *site) asked(change func(*approve.Question)) approve.Item {
	s.t.Helper()
	return s.ask(func(q *approve.Question) {
		q.At = time.Now()
		if change != nil {
			change(q)
		}
	})
}

// The inbox of a page that is open follows what comes and what is decided, within a second and a quarter, and says
// nothing while nothing happens.
func TestTheInboxFollows(t *testing.T) {
	following(t, func(t *testing.T, s *site, _ *looked) {
		eve := s.person("eve")
		page := eve.follow("/")
		defer page.close()
		time.Sleep(time.Minute)
		if events := page.told(t); events != nil {
			t.Errorf("nothing has happened, and the page is told %+v", events)
		}
		item := s.asked(nil)
		time.Sleep(1250 * time.Millisecond)
		events := page.told(t)
		if len(events) != 1 || events[0].Title != "Waiting: 1" || !strings.HasPrefix(events[0].Count, "1 item at ") ||
			!strings.Contains(events[0].Rows, item.ID) || strings.Contains(events[0].Rows, "<main") {
			t.Errorf("something waits, and the page is told %+v", events)
		}
		s.person("bob").decide(item.ID, "deny")
		time.Sleep(1250 * time.Millisecond)
		if events := page.told(t); len(events) != 1 || !strings.Contains(events[0].Rows, "Nothing waits for a decision") {
			t.Errorf("it is decided, and the page is told %+v", events)
		}
	})
}

// What is gone from the state is gone from the page, also where nothing else is in it.
func TestTheInboxFollowsToTheEnd(t *testing.T) {
	following(t, func(t *testing.T, s *site, _ *looked) {
		s.asked(nil)
		page := s.person("eve").follow("/")
		defer page.close()
		time.Sleep(2 * time.Second)
		entries, err := s.store.List(t.Context(), "approve/", "", 9)
		if err != nil || len(entries) != 1 {
			t.Fatal(entries, err)
		}
		if err := s.store.Delete(t.Context(), entries[0].Key, entries[0].Version); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if events := page.told(t); len(events) != 1 || events[0].Title != "Waiting: 0" {
			t.Errorf("the page is told %+v", events)
		}
	})
}

// The inbox follows the clock as well: an item is urgent a minute before its end, and gone with it.
func TestTheInboxFollowsTheClock(t *testing.T) {
	following(t, func(t *testing.T, s *site, _ *looked) {
		s.asked(func(q *approve.Question) { q.Lifetime = 97 * time.Second })
		page := s.person("eve").follow("/")
		defer page.close()
		for _, step := range []struct {
			after time.Duration
			says  string
		}{{38 * time.Second, "Urgent"}, {60 * time.Second, "Nothing waits for a decision"}} {
			time.Sleep(step.after)
			if events := page.told(t); len(events) != 1 || !strings.Contains(events[0].Rows, step.says) {
				t.Errorf("%s later the page is told %+v", step.after, events)
			}
		}
	})
}

// A page shows what its filter leaves, and is told of nothing else but the number.
func TestFilteredPagesFollow(t *testing.T) {
	following(t, func(t *testing.T, s *site, _ *looked) {
		page := s.person("eve").follow("/?operation=share_note")
		defer page.close()
		s.asked(nil)
		time.Sleep(2 * time.Second)
		events := page.told(t)
		if len(events) != 1 || events[0].Title != "Waiting: 1" || strings.Contains(events[0].Rows, "delete_note") {
			t.Errorf("the page is told %+v", events)
		}
	})
}

// The page of an item, in whose form somebody may be writing, is told that it has changed, and nothing else.
func TestItemsFollow(t *testing.T) {
	for name, change := range map[string]func(*site, approve.Item){
		"decided": func(s *site, item approve.Item) { s.person("bob").decide(item.ID, "deny") },
		"expired": func(*site, approve.Item) { time.Sleep(5 * time.Minute) },
	} {
		t.Run(name, func(t *testing.T) {
			following(t, func(t *testing.T, s *site, _ *looked) {
				item := s.asked(nil)
				page := s.person("eve").follow("/items/" + item.ID)
				defer page.close()
				s.asked(func(q *approve.Question) { q.Binding[0] = 1 })
				time.Sleep(2 * time.Second)
				if events := page.told(t); events != nil {
					t.Errorf("another item came, and the page is told %+v", events)
				}
				change(s, item)
				time.Sleep(2 * time.Second)
				if events := page.told(t); len(events) != 1 || events[0].Rows != "" {
					t.Errorf("the page is told %+v", events)
				}
			})
		})
	}
}

// While no page is open nobody looks at the inbox, and all that are open share one look a second.
func TestLooksAreShared(t *testing.T) {
	following(t, func(t *testing.T, s *site, looks *looked) {
		eve := s.person("eve")
		before := looks.lists.Load()
		time.Sleep(time.Minute)
		if n := looks.lists.Load() - before; n != 0 {
			t.Errorf("no page is open, and somebody looks %d times", n)
		}
		var pages []*followed
		for range 10 {
			pages = append(pages, eve.follow("/"))
		}
		synctest.Wait()
		before = looks.lists.Load()
		time.Sleep(time.Minute)
		if n := looks.lists.Load() - before; n < 50 || n > 61 {
			t.Errorf("ten pages are open for a minute, with %d looks", n)
		}
		for _, page := range pages {
			page.close()
		}
		synctest.Wait()
		before = looks.lists.Load()
		time.Sleep(time.Minute)
		if n := looks.lists.Load() - before; n != 0 {
			t.Errorf("the pages are closed, and somebody looks %d times", n)
		}
	})
}

// However much happens, a page is told four times a second at most.
func TestManyChangesAreFewEvents(t *testing.T) {
	following(t, func(t *testing.T, s *site, _ *looked) {
		page := s.person("eve").follow("/")
		defer page.close()
		synctest.Wait()
		for i := range 100 {
			s.asked(func(q *approve.Question) { q.Binding[0] = byte(i) })
			time.Sleep(10 * time.Millisecond)
		}
		time.Sleep(time.Second)
		events := page.told(t)
		if len(events) > 5 || len(events) == 0 || events[len(events)-1].Title != "Waiting: 100" {
			t.Errorf("of 100 changes in a second the page is told %d times: %+v", len(events), events)
		}
	})
}

// A page that is open keeps no session: after half an hour without another one the person is logged out, and the page
// is told so.
func TestFollowingKeepsNoSession(t *testing.T) {
	following(t, func(t *testing.T, s *site, _ *looked) {
		page := s.person("eve").follow("/")
		defer page.close()
		time.Sleep(31 * time.Minute)
		synctest.Wait()
		page.mu.Lock()
		defer page.mu.Unlock()
		if !strings.Contains(page.text.String(), "event: ended\n") {
			t.Errorf("the page is told %s", page.text.String())
		}
	})
}

// Events are for pages of the console, of people who are known, and of a limited number.
func TestWhoMayFollow(t *testing.T) {
	following(t, func(t *testing.T, s *site, _ *looked) {
		eve := s.person("eve")
		if code := s.browser().get("/events").Code; code != http.StatusUnauthorized {
			t.Errorf("nobody is answered with %d", code)
		}
		from := func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }
		if code := eve.get("/events", from).Code; code != http.StatusForbidden {
			t.Errorf("another port of the machine is answered with %d", code)
		}
		for range 64 {
			defer eve.follow("/").close()
		}
		synctest.Wait()
		if code := eve.get("/events").Code; code != http.StatusTooManyRequests {
			t.Errorf("one page more is answered with %d", code)
		}
	})
}

// While nothing happens a page hears every 15 seconds that it follows, with the time of the console.
func TestPagesHearABeat(t *testing.T) {
	following(t, func(t *testing.T, s *site, _ *looked) {
		page := s.person("eve").follow("/")
		defer page.close()
		time.Sleep(time.Minute)
		synctest.Wait()
		page.mu.Lock()
		defer page.mu.Unlock()
		beat := "event: beat\ndata: " + time.Now().UTC().Format(time.RFC3339) + "\n\n"
		if text := page.text.String(); strings.Count(text, "event: beat\n") != 5 || !strings.HasSuffix(text, beat) {
			t.Errorf("in a minute the page is told %q", text)
		}
	})
}
