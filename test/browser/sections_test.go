package browser

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/quota"
)

// begun are executions in a test.
type begun []aql.Overseen

func (b begun) Executions(_ context.Context, q execution.Query) (page []aql.Overseen, next string, err error) {
	for _, of := range b {
		if (q.State == "" || of.State == q.State) && (q.Operation == "" || of.Operation == q.Operation) {
			page = append(page, of)
		}
	}
	if len(page) > q.First {
		page, next = page[:q.First], "more"
	}
	return page, next, nil
}

func (b begun) Execution(_ context.Context, id string) (aql.Overseen, error) {
	for _, of := range b {
		if of.ID == id {
			return of, nil
		}
	}
	return aql.Overseen{}, execution.ErrNotFound
}

func (b begun) CancelExecution(_ context.Context, id, reason string) error {
	for _, of := range b {
		if of.ID == id {
			of.Cancel, of.Reason = true, reason
		}
	}
	return nil
}

// manyExecutions are executions in all states, the newest first.
func manyExecutions() (all begun) {
	states := []execution.State{
		execution.Running, execution.Pending, execution.Paused, execution.Retrying, execution.Completed, execution.Failed,
		execution.Cancelled,
	}
	for i := range 60 {
		current, total := i, 60
		of := aql.Overseen{Caller: ann, Danger: gen.Dangers()[i%4+1], Steps: i, Record: &execution.Record{
			ID: fmt.Sprintf("exec_%d", i), Operation: []string{"import_notes", "export_notebook"}[i%2],
			State: states[i%len(states)], Attempt: 1 + i%3, Worker: "w_1",
			Created:  time.Now().Add(-time.Duration(i) * time.Hour),
			Progress: &execution.Progress{Current: &current, Total: &total, Message: "Reading notebook 'work'"},
		}}
		if of.State == execution.Failed {
			of.Failure = &execution.Failure{Code: "INTERNAL_ERROR", Message: strings.Repeat("W", 300)}
		}
		if i%10 == 0 {
			of.Operation, of.Agent, of.Outside = gen.ExecuteAgent, []string{"release_bot", "import_bot"}[i/10%2], true
		}
		all = append(all, of)
	}
	return all
}

// recorded returns the path of a file with records.
func recorded(t *testing.T, count int) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "audit.jsonl")
	file, err := audit.OpenFile(t.Context(), path, audit.FileOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range count {
		r := audit.Record{
			Time: time.Now().Add(-time.Duration(count-i) * time.Minute), Event: audit.OperationAllowed, Operation: "delete_note",
			Outcome: audit.Allowed, Caller: ann, Agent: "release_bot",
			Parameters: []byte(`{"note_id":"n1","force":true,"notebook":"work"}`),
		}
		if i%3 == 0 {
			r.Event, r.Outcome, r.Reason = audit.OperationDenied, audit.Denied, "Removing is not for machines"
		}
		if err := file.Write(t.Context(), []audit.Record{r}); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// deciding returns the adapter of notes, with a policy.
func deciding(t *testing.T, p *policy.Policy) *aql.Adapter {
	t.Helper()
	adapter, err := aql.New(gen.NewRegistry([]gen.Handler{{
		Name: "delete_note", Category: gen.Delete, Danger: gen.Destructive, DangerSource: gen.DangerFromTag,
		Description: "Deletes a note.", Request: (*struct{})(nil),
		Call: func(context.Context, []any, any) (any, error) { return nil, nil },
	}}, nil), aql.Options{Name: "notes", Policy: p})
	if err != nil {
		t.Fatal(err)
	}
	return adapter
}

// manyRules are a policy with many rules.
func manyRules() *policy.Policy {
	p := new(policy.Policy)
	for i := range 40 {
		p.Rules = append(p.Rules, policy.Rule{
			Name: fmt.Sprintf("rule-%d", i), Effect: policy.Effects()[i%3], Operations: []string{"delete_*"},
			Callers: []string{"ci-*"}, Reason: "Removing is not for machines, and this is the reason of a rule.",
		})
	}
	return p
}

// used are quotas of which every caller has used some.
type used struct{}

func (used) QuotaUse(context.Context, aql.Caller) (use aql.QuotaUse, err error) {
	for i, metric := range quota.Metrics() {
		use.Quotas = append(use.Quotas, aql.QuotaUsed{
			Metric: metric, Used: float64(100 * i), Warn: 200, Pause: 400, HardStop: 800, Shared: i%3 == 2,
			Status: []string{"ok", "warn", "paused", "exhausted"}[i/3], Resets: time.Now().Add(time.Hour),
		})
	}
	use.Limits = []aql.LimitUsed{{Scope: "global", Limit: 1000, Remaining: 1, Window: quota.Hour, Resets: time.Now()}}
	return use, nil
}

// sections returns the pages that show what an adapter has besides the inbox: where there is nothing, and much.
func sections(t *testing.T) (without, with []state) {
	t.Helper()
	empty := newSite(t, func(o *console.Options) {
		o.Executions, o.AuditFile, o.Policy, o.Agents = begun(nil), recorded(t, 0), deciding(t, nil), true
	})
	full := newSite(t, func(o *console.Options) {
		o.Executions, o.AuditFile, o.Policy, o.Agents = manyExecutions(), recorded(t, 120), deciding(t, manyRules()), true
		o.Quotas = used{}
		o.Reloaded = func() setup.Reload {
			return setup.Reload{At: time.Now(), Err: errors.New("policy.yaml:3: a rule has no name")}
		}
	})
	held := full.hold(nil)
	full.ask(nil)
	at := func(s *site, path string) func(*tab) { return func(b *tab) { b.visit(s.url + path) } }
	without = []state{
		{"sections-login-empty", func(b *tab) { empty.logIn(b, "eve") }},
		{"executions-empty", at(empty, "executions")},
		{"agents-empty", at(empty, "agents")},
		{"agent-unknown", at(empty, "agents/release_bot")},
		{"execution-gone", at(empty, "executions/exec_1")},
		{"audit-empty", at(empty, "audit")},
		{"policy-none", at(empty, "policy")},
	}
	with = []state{
		{"sections-login", func(b *tab) { full.logIn(b, "eve") }},
		{"agents", at(full, "agents")},
		{"agent", at(full, "agents/release_bot")},
		{"item-of-an-agent", at(full, "items/"+held)},
		{"executions", at(full, "executions")},
		{"executions-filtered", at(full, "executions?state=failed")},
		{"execution", at(full, "executions/exec_0")},
		{"execution-failed", at(full, "executions/exec_5")},
		{"audit", at(full, "audit")},
		{"quotas", at(full, "quotas")},
		{"policy", at(full, "policy")},
		{"policy-explained", func(b *tab) {
			b.types("#caller", "ci-1")
			b.click(`form[action$="/policy"] button`)
			b.waitFor("#others")
		}},
		{"audit-found", at(full, "audit?caller=ann&from=2026-01-01T00:00")},
	}
	return without, with
}

// Without script, a person finds an execution by its state, ends it, and looks for what is on record.
func TestSectionsWithoutScript(t *testing.T) {
	b := open(t)
	s := newSite(t, func(o *console.Options) {
		o.Executions, o.AuditFile, o.Policy = manyExecutions(), recorded(t, 30), deciding(t, manyRules())
	})
	if err := b.WithoutScript(); err != nil {
		t.Fatal(err)
	}
	s.logIn(b, "eve")
	b.click(`nav a[href="/executions"]`)
	b.do(chromedp.SendKeys("#f-state", "paused"))
	b.click(".filters button")
	b.waitForText("Executions that are paused")
	b.click("tbody th a")
	b.types("#reason", "Not on a Friday")
	if strings.Contains(b.source(), `id="passphrase"`) {
		b.types("#passphrase", secretWord)
	}
	b.click(".decide button")
	b.waitForText("Was asked to end")

	b.click(`nav a[href="/audit"]`)
	b.types("#f-operation", "delete")
	b.click(".filters button")
	b.waitForText("Records that match")
	b.types("#f-operation", "nothing")
	b.click(".filters button")
	b.waitForText("No record is like that")
}
