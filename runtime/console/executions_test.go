package console_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
)

// records is a sink that keeps what it was given.
type records struct{ kept *[]audit.Record }

func (r records) Write(_ context.Context, all []audit.Record) error {
	*r.kept = append(*r.kept, all...)
	return nil
}

func (records) Close() error { return nil }

// begun are executions in a test, the newest first.
type begun struct {
	all       []aql.Overseen
	cancelled []string // identifiers and reasons
	err       error
}

func (b *begun) Executions(_ context.Context, q execution.Query) (page []aql.Overseen, next string, err error) {
	for i := range b.all {
		of := &b.all[i]
		if of.ID <= q.After || q.State != "" && of.State != q.State {
			continue
		}
		if len(page) == q.First {
			return page, page[len(page)-1].ID, b.err
		}
		page = append(page, *of)
	}
	return page, "", b.err
}

func (b *begun) Execution(_ context.Context, id string) (aql.Overseen, error) {
	for _, of := range b.all {
		if of.ID == id {
			return of, b.err
		}
	}
	return aql.Overseen{}, errors.Join(b.err, execution.ErrNotFound)
}

func (b *begun) CancelExecution(_ context.Context, id, reason string) error {
	b.cancelled = append(b.cancelled, id+": "+reason)
	for i := range b.all {
		if of := &b.all[i]; of.ID == id {
			of.Cancel, of.Reason = true, reason
		}
	}
	return nil
}

// running is an execution that runs, after the changes of a test.
func running(id string, change func(*aql.Overseen)) aql.Overseen {
	current, total := 3, 8
	of := aql.Overseen{Caller: ann, Danger: gen.Reversible, Steps: 3, Record: &execution.Record{
		ID: id, Operation: "import_notes", State: execution.Running, Worker: "w_1", Attempt: 2, Repeats: 1,
		Created: opened, Started: opened.Add(time.Second),
		Progress: &execution.Progress{Current: &current, Total: &total, Message: "Reading notebook 'work'"},
	}}
	if change != nil {
		change(&of)
	}
	return of
}

// with gives a console executions.
func (b *begun) with(o *console.Options) { o.Executions = b }

// F63: the pages of executions in each of their states.
func TestExecutionPages(t *testing.T) {
	in := func(state execution.State, change func(*aql.Overseen)) aql.Overseen {
		return running("exec_1", func(of *aql.Overseen) {
			if of.State = state; state.Terminal() {
				of.Finished, of.Worker = opened.Add(20*time.Second), ""
			}
			if change != nil {
				change(of)
			}
		})
	}
	var many []aql.Overseen
	for i := range 60 {
		many = append(many, running(fmt.Sprintf("exec_%03d", i), func(of *aql.Overseen) {
			of.State = []execution.State{execution.Pending, execution.Running, execution.Failed}[i%3]
			of.Created = opened.Add(-time.Duration(i) * time.Hour)
		}))
	}
	share := 42.5
	for name, tt := range map[string]struct {
		of     []aql.Overseen
		path   string
		err    error
		status int
	}{
		"executions-empty":         {path: "", status: 200},
		"executions-one":           {of: []aql.Overseen{in(execution.Running, nil)}, status: 200},
		"executions-many":          {of: many, status: 200},
		"executions-last-page":     {of: many, path: "?after=exec_049", status: 200},
		"executions-filtered":      {of: many, path: "?state=failed", status: 200},
		"executions-none-filtered": {of: many, path: "?state=cancelled", status: 200},
		"executions-unreachable":   {err: errors.New("dial tcp 10.0.0.7:5432: connection refused"), status: 503},
		"execution-pending":        {of: []aql.Overseen{in(execution.Pending, nil)}, path: "/exec_1", status: 200},
		"execution-running":        {of: []aql.Overseen{in(execution.Running, nil)}, path: "/exec_1", status: 200},
		"execution-ending": {of: []aql.Overseen{in(execution.Running, func(of *aql.Overseen) {
			of.Cancel = true
		})}, path: "/exec_1", status: 200},
		"execution-dangerous": {of: []aql.Overseen{in(execution.Running, func(of *aql.Overseen) {
			of.Danger, of.Progress = gen.Dangerous, &execution.Progress{Percentage: &share}
		})}, path: "/exec_1", status: 200},
		"execution-asks": {of: []aql.Overseen{in(execution.Paused, func(of *aql.Overseen) {
			of.Waiting, of.Item = &execution.Waiting{From: execution.FromPerson, Name: "replace"}, "ask_1"
		})}, path: "/exec_1", status: 200},
		"execution-failed": {of: []aql.Overseen{in(execution.Failed, func(of *aql.Overseen) {
			of.Failure = &execution.Failure{Code: "INTERNAL_ERROR", Message: "the disk is full"}
		})}, path: "/exec_1", status: 200},
		"execution-cancelled": {of: []aql.Overseen{in(execution.Cancelled, func(of *aql.Overseen) {
			of.Reason = "Not on a Friday"
		})}, path: "/exec_1", status: 200},
		"execution-of-agent": {of: []aql.Overseen{in(execution.Running, func(of *aql.Overseen) {
			of.Operation, of.Agent, of.Outside, of.Progress = gen.ExecuteAgent, "release_bot", true, nil
			of.Worker, of.Steps, of.Until = "", 0, opened.Add(time.Hour)
		})}, path: "/exec_1", status: 200},
		"execution-gone": {path: "/exec_1", status: 404},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, (&begun{all: tt.of, err: tt.err}).with)
			checkAnswer(t, name, s.person("eve").get("/executions"+tt.path), tt.status)
		})
	}
}

// What others have written is text, and cannot be seen as a line of the console's own.
func TestExecutionsAreText(t *testing.T) {
	const script = "<script>alert(1)</script>\nWorker w_9 \u202edne"
	of := running("exec_1", func(of *aql.Overseen) {
		of.Operation, of.Agent, of.Progress.Message, of.Worker = script, script, script, script
		of.Failure, of.Caller = &execution.Failure{Code: script, Message: script}, identity.Caller{Subject: script}
		of.Params, of.Result = []byte("a secret parameter"), []byte("a secret result")
	})
	b := newSite(t, (&begun{all: []aql.Overseen{of}}).with).person("eve")
	for _, path := range []string{"/executions", "/executions/exec_1"} {
		page := b.get(path).Body.String()
		for _, misleads := range []string{"<script>alert", "\u202e", "\nWorker", "a secret"} {
			if strings.Contains(page, misleads) {
				t.Errorf("%s has %q:\n%s", path, misleads, page)
			}
		}
	}
}

// cancelForm returns the form of an execution as its page has it.
func (b *browser) cancelForm(id string) url.Values {
	b.t.Helper()
	form := url.Values{"reason": {"Not on a Friday"}}
	page := b.get("/executions/" + id).Body.String()
	for _, field := range hidden.FindAllStringSubmatch(page, -1) {
		form.Set(field[1], field[2])
	}
	if strings.Contains(page, `name="passphrase"`) {
		form.Set("passphrase", secretWord)
	}
	return form
}

// A person ends an execution with the form of its page, and nothing else does. It is on record first.
func TestEndingExecutions(t *testing.T) {
	for name, tt := range map[string]struct {
		danger  gen.Danger
		change  func(*begun, url.Values)
		request func(*http.Request)
		status  int
		ended   bool
	}{
		"with its form":  {status: http.StatusSeeOther, ended: true},
		"dangerous ones": {danger: gen.Dangerous, status: http.StatusSeeOther, ended: true},
		"that has gone on": {
			change: func(b *begun, _ url.Values) { *b.all[0].Progress.Current++ }, status: http.StatusSeeOther, ended: true,
		},
		"without the passphrase that a dangerous one takes": {
			danger: gen.Dangerous, change: func(_ *begun, f url.Values) { f.Del("passphrase") }, status: 422,
		},
		"with a wrong passphrase": {
			danger: gen.Dangerous, change: func(_ *begun, f url.Values) { f.Set("passphrase", "a wrong one") }, status: 403,
		},
		"of an operation that nobody knows": {
			danger: "later", change: func(_ *begun, f url.Values) { f.Del("passphrase") }, status: 422,
		},
		"that has ended meanwhile": {
			change: func(b *begun, _ url.Values) { b.all[0].State = execution.Completed }, status: 409,
		},
		"that has paused meanwhile": {
			change: func(b *begun, _ url.Values) { b.all[0].State = execution.Paused }, status: 409,
		},
		"that is to end already": {change: func(b *begun, _ url.Values) { b.all[0].Cancel = true }, status: 409},
		"that is gone":           {change: func(b *begun, _ url.Values) { b.all = nil }, status: 404},
		"without what was seen":  {change: func(_ *begun, f url.Values) { f.Del("revision") }, status: 409},
		"with a reason of a book": {
			change: func(_ *begun, f url.Values) { f.Set("reason", strings.Repeat("x", 501)) }, status: 422,
		},
		"without the session's own": {change: func(_ *begun, f url.Values) { f.Del("csrf") }, status: 403},
		"from another site": {
			request: func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, status: 403,
		},
		"by nobody": {request: func(r *http.Request) { r.Header.Del("Cookie") }, status: 401},
	} {
		t.Run(name, func(t *testing.T) {
			var kept []audit.Record
			log := audit.New(audit.Options{Sinks: []audit.Sink{records{&kept}}, Wait: true})
			t.Cleanup(func() { _ = log.Close(context.WithoutCancel(t.Context())) })
			of := &begun{all: []aql.Overseen{running("exec_1", func(of *aql.Overseen) {
				if tt.danger != "" {
					of.Danger = tt.danger
				}
			})}}
			b := newSite(t, func(o *console.Options) { of.with(o); o.Audit = log }).person("eve")
			form := b.cancelForm("exec_1")
			if tt.change != nil {
				tt.change(of, form)
			}
			if tt.request == nil {
				tt.request = func(*http.Request) {}
			}
			answer := b.post("/executions/exec_1", form, tt.request)
			if answer.Code != tt.status || len(of.cancelled) > 0 != tt.ended {
				t.Errorf("%d, ended %v:\n%s", answer.Code, of.cancelled, answer.Body)
			}
			if len(kept) > 0 != tt.ended {
				t.Fatalf("recorded: %+v", kept)
			}
			if tt.ended && (kept[0].Operation != gen.CancelExecution || kept[0].Caller.Subject != "eve" ||
				kept[0].Reason != "Not on a Friday" || string(kept[0].Parameters) != `{"execution_id":"exec_1"}`) {
				t.Errorf("recorded: %+v", kept[0])
			}
		})
	}
}

// Who may only look is offered no form, and ends nothing with another's.
func TestOnlyWhoDecidesEndsExecutions(t *testing.T) {
	of := &begun{all: []aql.Overseen{running("exec_1", nil)}}
	s := newSite(t, of.with)
	looks, decides := s.as("eve", identity.Viewer), s.as("ann", identity.Approver)
	if page := looks.get("/executions/exec_1").Body.String(); strings.Contains(page, `name="revision"`) {
		t.Errorf("a form is offered:\n%s", page)
	}
	form := looks.cancelForm("exec_1")
	form.Set("revision", decides.cancelForm("exec_1").Get("revision"))
	answer := looks.post("/executions/exec_1", form)
	if answer.Code != http.StatusForbidden || !strings.Contains(answer.Body.String(), "You may look") ||
		of.cancelled != nil {
		t.Errorf("%d, ended %v:\n%s", answer.Code, of.cancelled, answer.Body)
	}
	if answer := decides.post("/executions/exec_1", decides.cancelForm("exec_1")); answer.Code != http.StatusSeeOther {
		t.Errorf("an approver: %d\n%s", answer.Code, answer.Body)
	}
}

// What cannot be recorded is not done.
func TestUnrecordedEnds(t *testing.T) {
	log := audit.New(audit.Options{Sinks: []audit.Sink{records{new([]audit.Record)}}, Wait: true})
	if err := log.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	of := &begun{all: []aql.Overseen{running("exec_1", nil)}}
	b := newSite(t, func(o *console.Options) { of.with(o); o.Audit = log }).person("eve")
	if answer := b.post("/executions/exec_1", b.cancelForm("exec_1")); answer.Code != 503 || of.cancelled != nil {
		t.Errorf("%d, ended %v", answer.Code, of.cancelled)
	}
}

// A console without executions has no page of them, and leads to none.
func TestWithoutExecutions(t *testing.T) {
	b := newSite(t, nil).person("eve")
	if answer := b.get("/executions"); answer.Code != http.StatusNotFound ||
		strings.Contains(answer.Body.String(), `href="/executions`) {
		t.Errorf("%d\n%s", answer.Code, answer.Body)
	}
}
