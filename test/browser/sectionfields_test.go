package browser

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"reflect"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/observe"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/verify"
)

// hostileQuotas are quotas with hostile texts in all fields.
type hostileQuotas struct{ use aql.QuotaUse }

func (q hostileQuotas) QuotaUse(context.Context, aql.Caller) (aql.QuotaUse, error) { return q.use, nil }

// The same of quotas, and of the caller whose quotas somebody asks for.
func TestScriptInEveryFieldOfQuotas(t *testing.T) {
	use := aql.QuotaUse{Limits: []aql.LimitUsed{{Resets: time.Now()}}, Quotas: []aql.QuotaUsed{{Used: 1, Warn: 1}}}
	b := newPlanted(t)
	b.plants(plant(reflect.ValueOf(&use), "", nil))
	b.plants([]string{"item", "issuer"})
	s := newSite(t, func(o *console.Options) { o.Quotas = hostileQuotas{use} })
	s.ask(func(q *approve.Question) {
		q.Caller = identity.Caller{Subject: hostile("item"), Issuer: hostile("issuer")}
	})
	s.logIn(b.tab, "eve")
	asked := url.Values{"caller": {hostile("caller")}, "issuer": {hostile("of")}}
	for _, query := range []string{"", "?" + asked.Encode()} {
		b.visit(s.url + "quotas" + query)
		b.check("quotas" + query)
	}
	b.onlyHidden()
}

// The same of agents that run, are held and wait.
func TestScriptInEveryFieldOfAgents(t *testing.T) {
	b := newPlanted(t)
	of := aql.Overseen{
		Agent: hostile("agent"), Caller: identity.Caller{Subject: hostile("caller"), Issuer: hostile("issuer")},
		Record: &execution.Record{ID: "exec_1", Operation: gen.ExecuteAgent, State: execution.Running, Created: time.Now()},
	}
	s := newSite(t, func(o *console.Options) { o.Executions, o.Agents = begun{of}, true })
	s.hold(func(held *verify.Subject) {
		held.Agent, held.Reasons, held.Says = hostile("held"), []string{hostile("reason")}, hostile("says")
	})
	b.plants([]string{"agent", "caller", "issuer", "held", "reason"})
	s.logIn(b.tab, "eve")
	for _, at := range []string{"agents", "agents/" + url.PathEscape(hostile("agent")), "agents/" +
		url.PathEscape(hostile("held"))} {
		b.visit(s.url + at)
		b.check(at)
	}
	b.onlyHidden()
}

// hostilePolicy is a policy with hostile texts.
type hostilePolicy struct {
	rules     *policy.Policy
	explained aql.Explained
}

func (p hostilePolicy) Policy() *policy.Policy   { return p.rules }
func (p hostilePolicy) OperationNames() []string { return []string{hostile("name")} }

func (p hostilePolicy) Explain(context.Context, string, aql.Caller, []byte) (aql.Explained, error) {
	return p.explained, nil
}

// The same of the policy, of what is wrong with its file, and of why it decides.
func TestScriptInEveryFieldOfThePolicy(t *testing.T) {
	b := newPlanted(t)
	explained := aql.Explained{Explanation: policy.Explanation{
		Scopes: []string{""}, Approvers: []string{""}, Rules: []policy.Match{{Matched: true, Decided: true}, {}},
	}}
	b.plants(plant(reflect.ValueOf(&explained), "", nil))
	rules := &policy.Policy{Rules: []policy.Rule{{
		Name: hostile("rule"), Effect: policy.Deny, Operations: []string{hostile("operation")},
		Callers: []string{hostile("caller")}, Reason: hostile("reason"),
	}}, Loop: &policy.Loop{LoopLimits: policy.LoopLimits{Deny: []string{hostile("deny")}}}}
	b.plants([]string{"rule", "operation", "caller", "reason", "deny", "name", "mistake"})
	s := newSite(t, func(o *console.Options) {
		o.Policy = hostilePolicy{rules, explained}
		o.Reloaded = func() setup.Reload { return setup.Reload{At: time.Now(), Err: errors.New(hostile("mistake"))} }
	})
	s.logIn(b.tab, "eve")
	b.visit(s.url + "policy")
	b.check("the policy")
	b.click(".box .buttons button")
	b.waitFor(".box [role=status]")
	b.check("why it decides")
	b.onlyHidden(".Explanation.Caller", ".Explanation.Category", ".Explanation.Danger", ".Explanation.Issuer",
		".Explanation.Operation", ".Explanation.Rule", ".Explanation.SafetyLoop", ".Explanation.Scopes")
}

// The same of calls, of this process and of another one.
func TestScriptInEveryFieldOfCalls(t *testing.T) {
	s, b := newSite(t), newPlanted(t)
	who := identity.Caller{Subject: hostile("caller"), Issuer: hostile("issuer")}
	ctx := context.WithValue(t.Context(), callerKey{}, who)
	ctx, end := s.hooks.Operation(ctx, observe.Operation{Name: hostile("operation"), Danger: hostile("danger")})
	s.hooks.Gate(ctx, observe.Decision{Operation: hostile("decided"), Effect: observe.Effect(hostile("effect"))})
	end(observe.OperationEnd{Code: hostile("code")})
	other, err := json.Marshal(map[string]any{
		"host": hostile("host"), "process": 1, "since": time.Now(), "calls": []map[string]any{{
			"n": 1, "at": time.Now(), "subject": hostile("other caller"), "issuer": hostile("other issuer"),
			"operation": hostile("other operation"), "danger": hostile("other danger"), "effect": hostile("other effect"),
			"code": hostile("other code"),
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.state.Put(t.Context(), "console/live/other", other, 0, 0); err != nil {
		t.Fatal(err)
	}
	b.plants([]string{"operation", "other operation"})
	s.logIn(b.tab, "eve")
	for _, at := range []string{"calls", "health"} {
		b.visit(s.url + at)
		b.check(at)
	}
	b.onlyHidden()
}
