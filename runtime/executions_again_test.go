package aql_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/store"
)

// failing is an operation whose executions fail, with something to ask before it runs.
func failing(attempts *int) gen.Handler {
	h := longOperation("build", gen.Lifecycle{Durable: true, Retry: 5},
		func(context.Context, []any, any, *aql.Run) (any, error) {
			*attempts++
			return nil, aql.NotFound("target", "x")
		})
	h.Confirm, h.Reasons = "Build {target} for everybody?", []string{"It replaces what is there"}
	h.Params[1].Sensitive = true
	return h
}

// askedToRetry is what people are asked who decide whether a build of failing is started again.
const askedToRetry = "Start operation 'build' (danger: reversible) again?\nBuild “all of it” for everybody?\n" +
	"Why it is dangerous: It replaces what is there"

func paramsOfRetry(id string) string {
	return `{"execution_id":"` + id + `","build.target":"all of it","build.key":"***"}`
}

// into makes an inbox that tests reach.
func into(inbox *approve.Inbox) func(store.Store) approve.Inbox {
	return func(state store.Store) approve.Inbox {
		*inbox = approve.New(state)
		return *inbox
	}
}

// Whoever decides in the inbox about starting an execution again is shown what it runs, and approves that once.
func TestItemsOfRetriesShowWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var inbox approve.Inbox
		attempts, state := 0, new(store.Memory)
		s := newShop(t, aql.Options{
			Name: "shop", State: state, StateKey: []byte(strings.Repeat("k", 32)),
			Confirmation: aql.Confirmation{HumanOnly: true, Inbox: into(&inbox)},
		}, failing(&attempts))
		defer s.stop()
		id := s.call("ann", "build", `{"target":"all of it","key":"secret"}`).Data.ExecutionID
		s.end("ann", id)
		if err := s.adapter.SetPolicy(rules(policy.Rule{
			Name: "people", Effect: policy.Confirm, Operations: []string{"build", "retry_execution"},
		})); err != nil {
			t.Fatal(err)
		}
		for want := 2; want <= 3; want++ {
			held := s.call("ann", "retry_execution", `{"execution_id":"`+id+`"}`)
			item, _ := held.Error.Details["approval_id"].(string)
			got, err := inbox.Get(t.Context(), item)
			if err != nil {
				t.Fatalf("%v: %+v", err, held)
			}
			if got.Message != askedToRetry || got.Params != paramsOfRetry(id) {
				t.Errorf("people are asked %q about %s", got.Message, got.Params)
			}
			if _, err := inbox.Vote(t.Context(), item, approve.Vote{
				By: aql.Caller{Subject: "eve"}, Channel: "test", Approve: true, At: time.Now(),
			}); err != nil {
				t.Fatal(err)
			}
			if again := s.call("ann", "retry_execution", `{"execution_id":"`+id+`"}`); !again.Success {
				t.Errorf("%+v", again.Error)
			}
			s.end("ann", id)
			if attempts != want {
				t.Errorf("%d attempts, not %d", attempts, want)
			}
		}
	})
}

// The user of a client who decides about it is shown the same, and so is the agent that has to ask.
func TestQuestionsOfRetriesShowWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		s := newShop(t, aql.Options{Name: "shop"}, failing(&attempts))
		defer s.stop()
		id := s.call("ann", "build", `{"target":"all of it","key":"secret"}`).Data.ExecutionID
		s.end("ann", id)
		if err := s.adapter.SetPolicy(rules(policy.Rule{
			Name: "people", Effect: policy.Confirm, Operations: []string{"build", "retry_execution"},
		})); err != nil {
			t.Fatal(err)
		}
		ctx := aql.WithCaller(t.Context(), aql.Caller{Subject: "ann", Issuer: "test"})
		reply := s.session.Call(ctx, s.adapter.Tool("retry_execution"),
			[]byte(`{"operation":"retry_execution","params":{"execution_id":"`+id+`"}}`))
		if q := reply.Question; q == nil || q.Message != askedToRetry || q.Params != paramsOfRetry(id) {
			t.Errorf("the user is asked %+v", q)
		}
		told := s.call("ann", "retry_execution", `{"execution_id":"`+id+`"}`).Error.Details["confirmation_message"]
		if told != askedToRetry {
			t.Errorf("the agent is told %q", told)
		}
	})
}

// An approval of what starts nothing counts for nothing that the same request starts later.
func TestApprovalsOfRetriesAreOfWhatRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var inbox approve.Inbox
		attempts, state := 0, new(store.Memory)
		both := rules(policy.Rule{
			Name: "people", Effect: policy.Confirm, Operations: []string{"build", "retry_execution"},
		})
		options := aql.Options{Name: "shop", State: state, StateKey: []byte(strings.Repeat("k", 32)), Policy: both}
		s := newShop(t, options, failing(&attempts))
		id := s.byToken("ann", "build", `"target":"all of it"`).Data.ExecutionID
		s.end("ann", id)
		s.stop()
		options.Available = aql.Available{Operations: []string{"!build"}} // so that nobody is told what it runs
		options.Confirmation = aql.Confirmation{HumanOnly: true, Inbox: into(&inbox)}
		other := longOperation("other", gen.Lifecycle{Durable: true, Retry: 5}, build)
		s = newShop(t, options, failing(&attempts), other)
		item, _ := s.call("ann", "retry_execution", `{"execution_id":"`+id+`"}`).Error.Details["approval_id"].(string)
		if _, err := inbox.Vote(t.Context(), item, approve.Vote{
			By: aql.Caller{Subject: "eve"}, Channel: "test", Approve: true, At: time.Now(),
		}); err != nil {
			t.Fatal(err)
		}
		s.stop()
		options.Available = aql.Available{}
		s = newShop(t, options, failing(&attempts), other)
		defer s.stop()
		again := s.call("ann", "retry_execution", `{"execution_id":"`+id+`"}`)
		if now, _ := again.Error.Details["approval_id"].(string); again.Success || now == "" || now == item {
			t.Errorf("%+v", again.Error)
		}
	})
}
