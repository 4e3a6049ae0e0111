package browser

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/execution"
)

// atWork is an execution that goes on while its page is open.
type atWork struct {
	begun
	mu sync.Mutex
	of execution.Record
}

func (a *atWork) now() begun {
	a.mu.Lock()
	defer a.mu.Unlock()
	of := a.of
	return begun{{Caller: ann, Record: &of}}
}

func (a *atWork) Executions(ctx context.Context, q execution.Query) ([]aql.Overseen, string, error) {
	return a.now().Executions(ctx, q)
}

func (a *atWork) Execution(ctx context.Context, id string) (aql.Overseen, error) {
	return a.now().Execution(ctx, id)
}

func (a *atWork) become(state execution.State, says string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.of.State, a.of.Progress = state, &execution.Progress{Message: says}
}

// Pages of executions follow them. What somebody types into the form of one stays, and the page says when the form is
// about a state in which it is no more.
func TestFollowingExecutions(t *testing.T) {
	work := &atWork{of: execution.Record{ID: "exec_1", Operation: "import_notes", State: execution.Running}}
	s, b := newSite(t, func(o *console.Options) { o.Executions = work }), open(t)
	s.logIn(b, "eve")
	b.visit(s.url + "executions")
	work.become(execution.Running, "Reading the second notebook")
	b.waitForText("Reading the second notebook")
	b.visit(s.url + "executions/exec_1")
	b.types("#reason", "It is the wrong one")
	work.become(execution.Running, "Reading the third notebook")
	b.waitForText("Reading the third notebook")
	work.become(execution.Completed, "All are read")
	b.waitForText("Its state has changed since you have opened this page.")
	if kept := run(b, chromedp.Value(chromedp.CSS("#reason"))); kept != "It is the wrong one" {
		t.Errorf("the reason is now %q", kept)
	}
}

// A page says how far away times are in the words of the console, and goes on saying it while nothing else happens: by
// the clock of the console, whatever that of the browser is. What somebody has selected stays.
func TestTimesGoOn(t *testing.T) {
	began := time.Now().UTC().Truncate(time.Second)
	var later atomic.Int64 // nanoseconds
	s := newSite(t, func(o *console.Options) {
		o.Now = func() time.Time { return began.Add(time.Duration(later.Load())) }
	})
	for _, ago := range []time.Duration{
		0, time.Second, 59 * time.Second, time.Minute, 90 * time.Second, 599 * time.Second, 10 * time.Minute,
		3599 * time.Second, time.Hour, 90 * time.Minute, 47*time.Hour + 59*time.Minute, 48 * time.Hour, 100 * time.Hour,
	} {
		s.ask(func(q *approve.Question) { q.At, q.Lifetime = began.Add(-ago), ago+30*time.Minute })
	}
	b := open(t)
	s.logIn(b, "eve")
	others := run(b, chromedp.Evaluate[string](`(async () => {
  const page = new DOMParser().parseFromString(written.createHTML(await (await fetch('/')).text()), 'text/html');
  const served = Date.parse(page.getElementById('main').dataset.now), times = [...page.querySelectorAll('time[title]')];
  const others = times.filter((time) => span(Math.abs(Date.parse(time.dateTime) - served)) !== time.textContent);
  return [times.length, ...others.map((time) => time.outerHTML)].join(' ');
})()`, awaited))
	if others != "26" {
		t.Errorf("of how many times the page says what the console does not say: %s", others)
	}
	later.Store(int64(20*time.Minute + time.Second))
	const first = `document.querySelector('#rows time')`
	run(b, chromedp.Evaluate[any](`getSelection().selectAllChildren(`+first+`); source.close(); open()`))
	b.waitForText("20 min ago")
	if kept := run(b, chromedp.Evaluate[string](first+`.textContent`)); kept != "4 days" {
		t.Errorf("what was selected says %q", kept)
	}
	const until = `[...document.querySelectorAll('#rows .until')].pop().textContent`
	if says := run(b, chromedp.Evaluate[string](until)); !strings.HasPrefix(says, "expires in 9 min ") {
		t.Errorf("the last item, which has ten minutes, %s", says)
	}
	over := `set('` + began.Add(time.Hour).Format(time.RFC3339) + `'); tick(); ` + until
	if says := run(b, chromedp.Evaluate[string](over)); !strings.HasPrefix(says, "expires in a moment, at ") {
		t.Errorf("what has expired in a page that hears nothing %s", says)
	}
}
