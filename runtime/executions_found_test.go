package aql_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/store"
)

// confirmedShop is a shop whose builds have a key, and are confirmed as a rule says.
func confirmedShop(t *testing.T, o aql.Options, l gen.Lifecycle, rules ...policy.Rule) (*shop, approve.Inbox) {
	t.Helper()
	state := new(store.Memory)
	o.Name, o.State, o.Confirmation.Inbox = "shop", state, approve.New
	o.Policy = &policy.Policy{Rules: rules}
	l.Once = "key"
	return newShop(t, o, longOperation("build", l, build)), approve.New(state)
}

// confirmed is a call that is confirmed where it has to be, by a token or by people.
func (s *shop) confirmed(inbox approve.Inbox, operation, params string) executionOf {
	s.t.Helper()
	held := s.call("ann", operation, params)
	if held.Error.Code != "CONFIRMATION_REQUIRED" {
		return held
	}
	if token, ok := held.Error.Details["confirmation_token"].(string); ok {
		return s.call("ann", operation, params[:len(params)-1]+`,"_confirmation":"`+token+`"}`)
	}
	id, ok := held.Error.Details["approval_id"].(string)
	if !ok {
		s.t.Fatalf("it is not to be confirmed: %+v", held)
	}
	if _, err := inbox.Vote(s.t.Context(), id, approve.Vote{
		By: identity.Caller{Subject: "eve"}, Channel: "test", Approve: true, At: time.Now(),
	}); err != nil {
		s.t.Fatal(err)
	}
	return s.call("ann", operation, params)
}

var byToken = policy.Rule{Name: "sure", Effect: policy.Confirm, Operations: []string{"build"}}

var byPeople = policy.Rule{
	Name: "people", Effect: policy.Confirm, Operations: []string{"build"}, Approvers: &policy.Approvers{Count: 1},
}

// A call with a key whose execution is there returns that, and asks nobody again.
func TestAKeyFindsItsExecutionWithoutConfirmation(t *testing.T) {
	for name, rule := range map[string]policy.Rule{"a token": byToken, "people": byPeople} {
		for _, l := range []gen.Lifecycle{{Durable: true}, {}} {
			t.Run(fmt.Sprintf("%s, durable %v", name, l.Durable), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s, inbox := confirmedShop(t, aql.Options{}, l, rule)
					defer s.stop()
					const params = `{"target":"x","key":"k"}`
					first := s.confirmed(inbox, "build", params)
					if !first.Success {
						t.Fatalf("%+v", first.Error)
					}
					for range 2 { // while it runs, and when it has ended
						again := s.call("ann", "build", params)
						if !again.Success || again.Data.ExecutionID != first.Data.ExecutionID {
							t.Errorf("%+v", again)
						}
						s.end("ann", first.Data.ExecutionID)
					}
					other := s.call("ann", "build", `{"target":"y","key":"k"}`)
					if other.Error.Code != "CONFLICT_ALREADY_EXISTS" ||
						other.Error.Details["execution_id"] != first.Data.ExecutionID {
						t.Errorf("other parameters: %+v", other)
					}
					for who, params := range map[string]string{"ann": `{"target":"x","key":"other"}`, "bob": params} {
						if held := s.call(who, "build", params); held.Error.Code != "CONFIRMATION_REQUIRED" {
							t.Errorf("%s, who has not started this one: %+v", who, held)
						}
					}
				})
			})
		}
	}
}

// What a key finds uses up no token, no approval and no run; it counts as what it is, a look at the execution.
func TestWhatAKeyFindsIsRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var records kept
		log := audit.New(audit.Options{Sinks: []audit.Sink{&records}, Wait: true})
		defer func() { _ = log.Close(t.Context()) }()
		s, inbox := confirmedShop(t, aql.Options{
			Audit: log, Quota: quota.Options{Limits: []quota.Limit{
				{Operation: "build", Limit: 1, Window: quota.Hour}, {Operation: "get_execution", Limit: 3, Window: quota.Hour},
			}},
		}, gen.Lifecycle{Durable: true}, byPeople)
		defer s.stop()
		const params = `{"target":"x","key":"k"}`
		first := s.confirmed(inbox, "build", params)
		before := len(records)
		for i := range 3 {
			again := s.call("ann", "build", params)
			if again.Data.ExecutionID != first.Data.ExecutionID {
				t.Errorf("%d: %+v", i, again)
			}
		}
		for _, operation := range []string{"build", "get_execution"} {
			p := params
			if operation == "get_execution" {
				p = `{"execution_id":"` + first.Data.ExecutionID + `"}`
			}
			if limited := s.call("ann", operation, p); limited.Error.Code != "RATE_LIMIT_EXCEEDED" {
				t.Errorf("%s: %+v", operation, limited)
			}
		}
		found := 0
		for _, r := range records[before:] {
			if r.Operation == "build" && r.Event == audit.OperationAllowed &&
				r.Reason == "found execution "+first.Data.ExecutionID {
				found++
			}
			if r.Event == audit.ConfirmationGranted || strings.HasPrefix(string(r.Event), "approval") {
				t.Errorf("a confirmation: %+v", r)
			}
		}
		if found != 3 {
			t.Errorf("%d on record: %+v", found, records[before:])
		}
	})
}

// A caller who may not call the operation any more does not find its executions by calling it, and one who may not look
// at executions does not look at one in this way.
func TestThePolicyDecidesWhatAKeyFinds(t *testing.T) {
	for name, tt := range map[string]struct{ denied, params, want string }{
		"the operation":    {"build", `{"target":"x","key":"k"}`, "PERMISSION_DENIED"},
		"its other values": {"build", `{"target":"y","key":"k"}`, "PERMISSION_DENIED"},
		"get_execution":    {"get_execution", `{"target":"x","key":"k"}`, "CONFIRMATION_REQUIRED"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, inbox := confirmedShop(t, aql.Options{}, gen.Lifecycle{Durable: true}, byToken)
				defer s.stop()
				s.confirmed(inbox, "build", `{"target":"x","key":"k"}`)
				if err := s.adapter.SetPolicy(&policy.Policy{Rules: []policy.Rule{
					{Name: "no", Effect: policy.Deny, Operations: []string{tt.denied}}, byToken,
				}}); err != nil {
					t.Fatal(err)
				}
				if got := s.call("ann", "build", tt.params); got.Error.Code != tt.want {
					t.Errorf("%+v, want %s", got, tt.want)
				}
			})
		})
	}
}

// What failed is started again only where the confirmation counts for its operation: never where people approve each
// call of that, or type a value. The refusal says what to do instead.
func TestRetryOfWhatIsConfirmed(t *testing.T) {
	anew := "operation \"build\" asks for a confirmation; start it anew"
	key := anew + " with another \"key\", since this one finds the execution that has failed"
	people, token := byPeople, byToken
	people.Operations = []string{"build", "retry_execution"}
	token.Operations = people.Operations
	for name, tt := range map[string]struct {
		rules  []policy.Rule
		danger gen.Danger
		params string
		want   string // the reason of the refusal; empty: it is started again
	}{
		"a token for the operation":        {[]policy.Rule{byToken}, gen.Reversible, `{"target":"x"}`, anew},
		"with a key":                       {[]policy.Rule{byToken}, gen.Reversible, `{"target":"x","key":"k"}`, key},
		"a token for both":                 {[]policy.Rule{token}, gen.Reversible, `{"target":"x","key":"k"}`, ""},
		"a token, because of its danger":   {nil, gen.Destructive, `{"target":"x"}`, ""},
		"people for the operation":         {[]policy.Rule{byPeople}, gen.Reversible, `{"target":"x","key":"k"}`, key},
		"people, and a token for a retry":  {[]policy.Rule{byPeople}, gen.Destructive, `{"target":"x"}`, anew},
		"people who approve retries alike": {[]policy.Rule{people}, gen.Reversible, `{"target":"x"}`, anew},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				state := new(store.Memory)
				failing := longOperation("build", gen.Lifecycle{Durable: true, Retry: 1, Once: "key"},
					func(context.Context, []any, any, *aql.Run) (any, error) { return nil, aql.NotFound("target", "x") })
				failing.Danger = tt.danger
				s := newShop(t, aql.Options{
					Name: "shop", State: state, Policy: &policy.Policy{Rules: tt.rules},
					Confirmation: aql.Confirmation{Inbox: approve.New},
				}, failing)
				defer s.stop()
				inbox := approve.New(state)
				id := s.confirmed(inbox, "build", tt.params).Data.ExecutionID
				if ended := s.end("ann", id); ended.Data.Status != "failed" {
					t.Fatalf("%+v", ended)
				}
				again := s.confirmed(inbox, "retry_execution", `{"execution_id":"`+id+`"}`)
				if reason, _ := again.Error.Details["reason"].(string); again.Success != (tt.want == "") || reason != tt.want {
					t.Errorf("%+v, want %q", again, tt.want)
				}
			})
		})
	}
}
