package console_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/observe"
)

// goesOn are executions that change while pages are open. It counts the looks at them.
type goesOn struct {
	begun
	mu    sync.Mutex
	looks int
}

func (g *goesOn) Executions(ctx context.Context, q execution.Query) ([]aql.Overseen, string, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.looks++
	return g.begun.Executions(ctx, q)
}

// Execution returns an execution as it is now.
func (g *goesOn) Execution(ctx context.Context, id string) (aql.Overseen, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.looks++
	return g.begun.Execution(ctx, id)
}

// put has an execution in a state from now on.
func (g *goesOn) put(at int, state execution.State) {
	g.change(at, func(of *aql.Overseen) { of.State = state })
}

// change has an execution be as running makes it, but for a change.
func (g *goesOn) change(at int, change func(*aql.Overseen)) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all[at] = running(g.all[at].ID, change)
}

// counted returns how many looks there were since the last call.
func (g *goesOn) counted() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	looks := g.looks
	g.looks = 0
	return looks
}

// atWork runs a test of a console with executions, on the clock of the bubble.
func atWork(t *testing.T, test func(t *testing.T, b *browser, work *goesOn)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		work := &goesOn{begun: begun{all: []aql.Overseen{running("exec_1", nil), running("exec_2", nil)}}}
		s := newSite(t, func(o *console.Options) { o.Now, o.Executions = time.Now, work })
		s.store.Now = nil
		test(t, s.person("eve"), work)
	})
}

// The first page of executions follows what becomes of them, within two seconds, and says nothing while nothing does.
func TestExecutionsFollow(t *testing.T) {
	atWork(t, func(t *testing.T, b *browser, work *goesOn) {
		page := b.follow("/executions")
		defer page.close()
		time.Sleep(5 * time.Second)
		if events := page.told(t); events != nil {
			t.Errorf("nothing has happened, and the page is told %+v", events)
		}
		work.put(1, execution.Failed)
		time.Sleep(2 * time.Second)
		events := page.told(t)
		if len(events) != 1 || events[0].Title != "Executions" || !strings.Contains(events[0].Count, "00:00:0") ||
			!strings.Contains(events[0].Rows, `<b class="bad">failed</b>`) || strings.Contains(events[0].Rows, "<main") {
			t.Errorf("of an execution that has failed the page is told %+v", events)
		}
	})
}

// A page with a filter is told of what it shows, and of nothing else.
func TestFilteredExecutionsFollow(t *testing.T) {
	atWork(t, func(t *testing.T, b *browser, work *goesOn) {
		paused, failed := b.follow("/executions?state=paused"), b.follow("/executions?state=failed")
		defer paused.close()
		defer failed.close()
		work.put(0, execution.Failed)
		time.Sleep(2 * time.Second)
		if events := paused.told(t); events != nil {
			t.Errorf("the page of those that are paused is told %+v", events)
		}
		if events := failed.told(t); len(events) != 1 || !strings.Contains(events[0].Rows, "exec_1") ||
			strings.Contains(events[0].Rows, "exec_2") {
			t.Errorf("the page of those that have failed is told %+v", events)
		}
	})
}

// However many pages are open, there is one look a second for all that show the same; and none when they are closed.
func TestLooksAtExecutionsAreShared(t *testing.T) {
	atWork(t, func(t *testing.T, b *browser, work *goesOn) {
		var pages []*followed
		for range 20 {
			pages = append(pages, b.follow("/executions"))
		}
		synctest.Wait()
		work.counted()
		time.Sleep(10 * time.Second)
		if looks := work.counted(); looks < 9 || looks > 11 {
			t.Errorf("for 20 pages there were %d looks in ten seconds", looks)
		}
		for _, page := range pages {
			page.close()
		}
		work.counted()
		time.Sleep(10 * time.Second)
		if looks := work.counted(); looks != 0 {
			t.Errorf("when all are closed there were %d looks", looks)
		}
	})
}

// A page stays as it is while the executions cannot be looked at, and follows them again afterwards.
func TestExecutionsThatCannotBeLookedAt(t *testing.T) {
	atWork(t, func(t *testing.T, b *browser, work *goesOn) {
		page := b.follow("/executions")
		defer page.close()
		fails := func(err error) {
			work.mu.Lock()
			defer work.mu.Unlock()
			work.err = err
		}
		fails(errFails)
		work.put(0, execution.Failed)
		time.Sleep(5 * time.Second)
		if events := page.told(t); events != nil {
			t.Errorf("the page is told %+v", events)
		}
		fails(nil)
		time.Sleep(2 * time.Second)
		if events := page.told(t); len(events) != 1 {
			t.Errorf("then the page is told %+v", events)
		}
	})
}

// The page of an execution follows how far it is, keeps its form as it is, and says when that is about another state.
// When it has ended there is nothing more to follow.
func TestAnExecutionFollows(t *testing.T) {
	atWork(t, func(t *testing.T, b *browser, work *goesOn) {
		page := b.follow("/executions/exec_1")
		defer page.close()
		time.Sleep(5 * time.Second)
		if events := page.told(t); events != nil {
			t.Errorf("nothing has happened, and the page is told %+v", events)
		}
		const moved = "Its state has changed since you have opened this page."
		work.change(0, func(of *aql.Overseen) { *of.Progress.Current = 7 })
		time.Sleep(2 * time.Second)
		events := page.told(t)
		if len(events) != 1 || events[0].Title != "import_notes" || !strings.HasPrefix(events[0].Count, "asked for by ann") ||
			!strings.Contains(events[0].Rows, "7 of 8") || strings.Contains(events[0].Rows, "<form") ||
			strings.Contains(events[0].Rows, moved) {
			t.Errorf("of progress the page is told %+v", events)
		}
		work.put(0, execution.Completed)
		time.Sleep(2 * time.Second)
		if events := page.told(t); len(events) != 1 || !strings.Contains(events[0].Rows, moved) ||
			!strings.Contains(events[0].Rows, "Has done what it was started for.") {
			t.Errorf("of the end the page is told %+v", events)
		}
		if again := b.get("/executions/exec_1").Body.String(); strings.Contains(again, "data-live") ||
			strings.Contains(again, moved) {
			t.Errorf("loaded again, the page is\n%s", again)
		}
	})
}

// The page of health follows how the adapter is.
func TestHealthFollows(t *testing.T) {
	var hooks *observe.Hooks
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		is := well
		s := newSite(t, func(o *console.Options) {
			withCalls(&hooks)(o)
			o.Now, o.Health = time.Now, func(context.Context) setup.Health {
				mu.Lock()
				defer mu.Unlock()
				return is
			}
		})
		s.store.Now = nil
		page := s.person("eve").follow("/health")
		defer page.close()
		time.Sleep(5 * time.Second)
		if events := page.told(t); events != nil {
			t.Errorf("nothing has happened, and the page is told %+v", events)
		}
		mu.Lock()
		is = ill
		mu.Unlock()
		time.Sleep(2 * time.Second)
		events := page.told(t)
		if len(events) != 1 || events[0].Title != "Health" || !strings.HasPrefix(events[0].Count, "as of 00:00:0") ||
			!strings.Contains(events[0].Rows, "is not ready for calls") || strings.Contains(events[0].Rows, "<main") {
			t.Errorf("of an adapter that is not ready the page is told %+v", events)
		}
	})
}

// Nobody follows without a session, nor more pages than there are places.
func TestWhoMayFollowSections(t *testing.T) {
	atWork(t, func(t *testing.T, b *browser, _ *goesOn) {
		if code := b.site.browser().get("/executions/events").Code; code != http.StatusUnauthorized {
			t.Errorf("nobody follows with %d", code)
		}
		for range 64 {
			defer b.follow("/executions").close()
		}
		synctest.Wait()
		if code := b.get("/executions/events").Code; code != http.StatusTooManyRequests {
			t.Errorf("one page too many follows with %d", code)
		}
	})
}
