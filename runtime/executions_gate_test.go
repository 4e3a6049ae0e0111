package aql_test

import (
	"cmp"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/store"
)

// text calls an operation and returns the answer as it is.
func (s *shop) text(caller, operation, params string) string {
	ctx := aql.WithCaller(s.t.Context(), aql.Caller{Subject: caller, Issuer: "test"})
	return string(s.session.Call(ctx, s.adapter.Tool(operation),
		[]byte(`{"operation":"`+operation+`","params":`+params+`}`)).JSON)
}

// An operation that a caller may not see, or that is switched off, is in no answer about executions.
func TestExecutionsHideOperations(t *testing.T) {
	denied := aql.Options{Name: "shop", HideDenied: true, Policy: &policy.Policy{Rules: []policy.Rule{
		{Name: "no", Effect: policy.Deny, Operations: []string{"build_secret"}},
	}}}
	off := aql.Options{Name: "shop", Available: aql.Available{Operations: []string{"!build_secret"}}}
	for name, options := range map[string]aql.Options{"denied": denied, "off": off} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newShop(t, options, longOperation("build", gen.Lifecycle{Durable: true}, build),
					longOperation("build_secret", gen.Lifecycle{Durable: true}, build))
				defer s.stop()
				for _, query := range []string{
					`{"query":"operations"}`, `{"query":"operations","name":"list_executions"}`, `{"query":"types"}`,
				} {
					if answer := s.text("ann", "introspect", query); strings.Contains(answer, "build_secret") {
						t.Errorf("%s: %s", query, answer)
					}
				}
				for _, operation := range []string{"zzz", "build_secret"} {
					answer := s.text("ann", "list_executions", `{"operation":"`+operation+`"}`)
					if !strings.Contains(answer, `"items":[]`) || strings.Contains(answer, "build_secret") {
						t.Errorf("%s: %s", operation, answer)
					}
				}
			})
		})
	}
}

// A process in which an operation is switched off leaves its executions to others.
func TestExecutionsOfOperationsThatAreOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := new(store.Memory)
		slow := longOperation("build", gen.Lifecycle{Durable: true},
			func(ctx context.Context, _ []any, _ any, run *aql.Run) (any, error) {
				return &built{}, run.Sleep(ctx, "nap", time.Minute)
			})
		look := gen.Handler{
			Name: "look", Category: gen.Read, Danger: gen.Safe, Request: (*struct{})(nil),
			Call: func(context.Context, []any, any) (any, error) { return nil, nil },
		}
		reads := newShop(t, aql.Options{
			Name: "shop", State: state, Available: aql.Available{ReadOnly: true},
		}, slow, look)
		defer reads.stop()
		runs := newShop(t, aql.Options{Name: "shop", State: state}, slow, look)
		first := runs.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
		time.Sleep(10 * time.Second)
		runs.stop()
		time.Sleep(time.Hour)
		if got := reads.call("ann", "get_execution", `{"execution_id":"`+first+`"}`); got.Data.Status != "running" {
			t.Errorf("%+v", got.Data)
		}
		runs = newShop(t, aql.Options{Name: "shop", State: state}, slow, look)
		defer runs.stop()
		ids := []string{first}
		for range 20 {
			ids = append(ids, runs.call("ann", "build", `{"target":"x"}`).Data.ExecutionID)
		}
		for _, id := range ids {
			if ended := runs.end("ann", id); ended.Data.Status != "completed" {
				t.Errorf("%+v", ended.Data)
			}
		}
	})
}

// A failed execution that is started again counts as a call of its operation.
func TestRetryCounts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		s := newShop(t, aql.Options{Name: "shop", Quota: quota.Options{
			Limits: []quota.Limit{{Operation: "build", Limit: 2, Window: quota.Hour}},
		}}, longOperation("build", gen.Lifecycle{Durable: true, Retry: 5},
			func(context.Context, []any, any, *aql.Run) (any, error) {
				attempts++
				return nil, aql.NotFound("target", "x")
			}))
		defer s.stop()
		id := s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
		s.end("ann", id)
		for i, code := range []string{"", "RATE_LIMIT_EXCEEDED", "RATE_LIMIT_EXCEEDED"} {
			again := s.call("ann", "retry_execution", `{"execution_id":"`+id+`"}`)
			if again.Success != (code == "") || again.Error.Code != code {
				t.Errorf("%d: %+v", i, again.Error)
			}
			s.end("ann", id)
		}
		if attempts != 2 {
			t.Errorf("%d attempts", attempts)
		}
	})
}

// What attempts report to have used counts in the quotas of the caller.
func TestAttemptsAreCharged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, aql.Options{Name: "shop", Quota: quota.Options{
			Quotas: []quota.Quota{{Metric: quota.CostPerDay, Currency: "EUR", HardStop: 5}},
		}}, longOperation("build", gen.Lifecycle{Durable: true},
			func(ctx context.Context, _ []any, _ any, _ *aql.Run) (any, error) {
				aql.ReportUsage(ctx, aql.Usage{Cost: 3})
				return &built{}, nil
			}))
		defer s.stop()
		for i := range 3 {
			started := s.call("ann", "build", `{"target":"x"}`)
			if started.Success != (i < 2) {
				t.Fatalf("%d: %+v", i, started)
			}
			if i < 2 {
				s.end("ann", started.Data.ExecutionID)
			}
		}
	})
}

// What cannot be started again is refused for that, before anything else is judged.
func TestRetryOfAttachedExecution(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShop(t, aql.Options{Name: "shop", Policy: &policy.Policy{Rules: []policy.Rule{
			{Name: "no", Effect: policy.Deny, Operations: []string{"watch_build"}, Callers: []string{"bob"}},
		}}}, longOperation("watch_build", gen.Lifecycle{}, func(context.Context, []any, any, *aql.Run) (any, error) {
			return nil, aql.NotFound("target", "x")
		}), longOperation("build", gen.Lifecycle{Durable: true, Retry: 1}, build))
		defer s.stop()
		id := s.call("ann", "watch_build", `{"target":"x"}`).Data.ExecutionID
		s.end("ann", id)
		again := s.call("ann", "retry_execution", `{"execution_id":"`+id+`"}`)
		if again.Error.Code != "CONFLICT_INVALID_STATE" {
			t.Errorf("%+v", again.Error)
		}
	})
}

// What would have to be confirmed at a start is started again where retry_execution was confirmed for the same reasons,
// as strictly, and nowhere else.
func TestRetryIsConfirmedAsAStartIs(t *testing.T) {
	confirm := func(name string, operations ...string) policy.Rule {
		return policy.Rule{Name: name, Effect: policy.Confirm, Operations: operations}
	}
	strict := func(r policy.Rule) policy.Rule {
		r.Cooldown, r.Reauthenticate = time.Minute, true
		return r
	}
	fallback := &policy.Policy{Default: policy.Confirm, Rules: []policy.Rule{
		{Name: "reads", Effect: policy.Allow, Categories: []gen.Category{gen.Read}},
	}}
	allowed := &policy.Policy{Default: policy.Confirm, Rules: append(fallback.Rules, policy.Rule{
		Name: "again", Effect: policy.Allow, Operations: []string{"retry_execution"},
	})}
	for _, test := range []struct {
		name     string
		danger   gen.Danger // of build
		policy   *policy.Policy
		cooldown map[gen.Danger]time.Duration
		again    bool
	}{
		{name: "no rule", again: true},
		{name: "a rule for both", policy: rules(confirm("both", "build", "retry_execution")), again: true},
		{name: "a strict rule for both", policy: rules(strict(confirm("both", "build", "retry_execution"))), again: true},
		{name: "a rule for the operation alone", policy: rules(confirm("build-alone", "build"))},
		{name: "a strict rule for the operation alone", policy: rules(strict(confirm("build-alone", "build")))},
		{name: "a rule for each", policy: rules(confirm("build-alone", "build"), confirm("again", "retry_execution"))},
		{
			name:   "one rule for both, and another for the operation alone",
			policy: rules(confirm("both", "build", "retry_execution"), strict(confirm("build-alone", "build"))),
		},
		{name: "the default", policy: fallback, again: true},
		{name: "the default, and retry_execution is allowed", policy: allowed},
		{name: "its danger level", danger: gen.Destructive, again: true},
		{name: "its danger level, and a rule for it alone", danger: gen.Destructive, policy: rules(confirm("it", "build"))},
		{
			name: "its danger level, with a cooldown that a higher one has not", danger: gen.Destructive,
			cooldown: map[gen.Danger]time.Duration{gen.Destructive: time.Minute},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				attempts := 0
				fails := func(context.Context, []any, any, *aql.Run) (any, error) {
					attempts++
					return nil, aql.NotFound("target", "x")
				}
				build := longOperation("build", gen.Lifecycle{Durable: true, Retry: 5}, fails)
				build.Danger = cmp.Or(test.danger, build.Danger)
				drop := longOperation("drop_all", gen.Lifecycle{Durable: true, Retry: 5}, fails)
				drop.Danger = gen.Forbidden // so that retry_execution has to be confirmed
				s := newShop(t, aql.Options{
					Name: "shop", Policy: test.policy, Confirmation: aql.Confirmation{
						Cooldown: test.cooldown, Reauthenticate: func(context.Context, aql.Caller, string) error { return nil },
					},
				}, build, drop)
				defer s.stop()
				id := s.byToken("ann", "build", `"target":"x"`).Data.ExecutionID
				s.end("ann", id)
				again := s.byToken("ann", "retry_execution", `"execution_id":"`+id+`"`)
				s.end("ann", id)
				if again.Success != test.again || attempts != map[bool]int{false: 1, true: 2}[test.again] {
					t.Errorf("%d attempts: %+v", attempts, again.Error)
				}
				if !test.again && !strings.Contains(again.Error.Message, "start it anew") {
					t.Errorf("%+v", again.Error)
				}
			})
		})
	}
}

func rules(list ...policy.Rule) *policy.Policy { return &policy.Policy{Rules: list} }

// byToken calls an operation, and where it is given a token again with that, after its cooldown. params are members.
func (s *shop) byToken(caller, operation, params string) executionOf {
	s.t.Helper()
	first := s.call(caller, operation, "{"+params+"}")
	token, asked := first.Error.Details["confirmation_token"].(string)
	if !asked {
		return first
	}
	time.Sleep(90 * time.Second)
	return s.call(caller, operation, "{"+params+`,"_confirmation":"`+token+`"}`)
}
