package browser

import (
	"context"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	aql "github.com/aqltag/aqltag/runtime"
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
