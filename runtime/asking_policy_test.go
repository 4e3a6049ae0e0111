package aql_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/google/go-cmp/cmp"
)

// F61: who must approve a call by the policy must approve what its execution asks.
func TestThePolicySaysWhoAnswersQuestions(t *testing.T) {
	two := policy.Rule{
		Name: "two", Effect: policy.Confirm, Operations: []string{"build"}, Reason: "It costs money",
		When: []policy.Condition{{Param: "target", Equals: "live"}}, Cooldown: time.Minute,
		Approvers: &policy.Approvers{
			Count: 2, Groups: []string{"ops"}, NotRequester: true, ReasonRequired: true, Within: time.Hour,
		},
	}
	type vote struct {
		who, group, reason string
		after              time.Duration
		want               error
	}
	for name, tt := range map[string]struct {
		rules    []policy.Rule
		params   string
		needs    approve.Needs
		rule     string
		reasons  []string
		lifetime time.Duration
		votes    []vote
		by       string
	}{
		"two of a group": {
			[]policy.Rule{two}, `{"target":"live"}`,
			approve.Needs{Factors: []approve.Factor{{Count: 2, Groups: []string{"ops"}}}, NotRequester: true, Reason: true},
			"two", []string{"why", "It costs money"}, time.Hour,
			[]vote{
				{"eve", "ops", "fine", 0, approve.ErrTooEarly}, {"ann", "ops", "mine", time.Minute, approve.ErrRequester},
				{"joe", "sales", "fine", 0, approve.ErrNotApprover}, {"eve", "ops", "", 0, approve.ErrNoReason},
				{"eve", "ops", "fine", 0, nil}, {"eve", "ops", "again", 0, approve.ErrVoted}, {"bob", "ops", "well", 0, nil},
			},
			"eve, bob",
		},
		"a rule about other parameters": {
			[]policy.Rule{two}, `{"target":"test"}`, approve.Needs{}, "", []string{"why"}, 24 * time.Hour,
			[]vote{{"ann", "", "", 0, nil}}, "ann",
		},
		"a rule without approvers": {
			[]policy.Rule{{Name: "any", Effect: policy.Confirm, Operations: []string{"build"}}}, `{"target":"live"}`,
			approve.Needs{}, "", []string{"why"}, 24 * time.Hour, []vote{{"ann", "", "", 0, nil}}, "ann",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newAsker(t, gen.Lifecycle{Durable: true}, aql.Approval{Message: "May I?", Reasons: []string{"why"}})
				defer func() { s.stop() }()
				if err := s.adapter.SetPolicy(&policy.Policy{Rules: tt.rules}); err != nil {
					t.Fatal(err)
				}
				cast := func(item approve.Item, v vote) {
					t.Helper()
					time.Sleep(v.after)
					_, err := s.inbox.Vote(t.Context(), item.ID, approve.Vote{
						By: identity.Caller{Subject: v.who, Issuer: "test"}, Groups: []string{v.group}, Channel: "test",
						Approve: true, Reason: v.reason, At: time.Now(),
					})
					if !errors.Is(err, v.want) {
						t.Errorf("%+v: %v", v, err)
					}
				}
				started := s.call("ann", "build", tt.params)
				if id, held := started.Error.Details["approval_id"].(string); held {
					item, err := s.inbox.Get(t.Context(), id)
					if err != nil {
						t.Fatal(err)
					}
					for _, v := range tt.votes {
						cast(item, v)
					}
					started = s.call("ann", "build", tt.params)
				} else if token, held := started.Error.Details["confirmation_token"].(string); held {
					started = s.call("ann", "build", tt.params[:len(tt.params)-1]+`,"_confirmation":"`+token+`"}`)
				}
				synctest.Wait()
				items, err := s.inbox.List(t.Context())
				if err != nil || len(items) == 0 {
					t.Fatalf("%+v, %v: %+v", items, err, started)
				}
				item := items[len(items)-1]
				if diff := cmp.Diff(tt.needs, item.Needs); diff != "" || item.Kind != approve.Enquiry || item.Rule != tt.rule ||
					!cmp.Equal(item.Reasons, tt.reasons) || item.Lifetime != tt.lifetime {
					t.Errorf("%s%+v", diff, item)
				}
				for _, v := range tt.votes {
					cast(item, v)
				}
				ended := s.end("ann", started.Data.ExecutionID)
				if ended.Data.Status != "completed" || len(s.decisions) != 1 || s.decisions[0].By != tt.by {
					t.Errorf("%+v, %+v", ended.Data, s.decisions)
				}
			})
		})
	}
}

// Where the policy changes between a question and an attempt that a kill has made necessary, those are asked whom it
// demands now, and what others have approved meanwhile counts for nothing.
func TestANewPolicyAsksAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		state := new(store.Memory)
		s := &asker{inbox: approve.New(state)}
		process := func(of store.Store, p *policy.Policy) {
			s.shop = newShop(t, aql.Options{
				Name: "shop", State: of, Executions: aql.Executions{Lease: time.Second}, Policy: p,
				Confirmation: aql.Confirmation{Inbox: approve.New},
			}, longOperation("build", gen.Lifecycle{Durable: true, Asks: true}, s.askOnce(aql.Approval{Message: "May I?"})))
		}
		process(killOnPut(state, "/p/"), nil)
		id := s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
		synctest.Wait()
		s.stop()
		s.vote(true, "")
		first := s.item()
		time.Sleep(time.Minute)
		process(state, &policy.Policy{Rules: []policy.Rule{{
			Name: "two", Effect: policy.Confirm, Operations: []string{"build"}, Approvers: &policy.Approvers{Count: 2},
		}}})
		defer func() { s.stop() }()
		time.Sleep(time.Minute)
		got := s.call("ann", "get_execution", `{"execution_id":"`+id+`"}`)
		if item := s.item(); item.ID == first.ID || item.State != approve.Open || got.Data.Status != "paused" {
			t.Errorf("%+v: %+v", item, got.Data)
		}
	})
}
