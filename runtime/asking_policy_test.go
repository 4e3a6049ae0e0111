package aql_test

import (
	"context"
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
		because  string
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
			"eve, bob", "fine; well",
		},
		"a rule about other parameters": {
			[]policy.Rule{two}, `{"target":"test"}`, approve.Needs{}, "", []string{"why"}, 24 * time.Hour,
			[]vote{{"ann", "", "", 0, nil}}, "ann", "",
		},
		"a rule that has people authenticate anew": {
			[]policy.Rule{{
				Name: "anew", Effect: policy.Confirm, Operations: []string{"build"}, Reauthenticate: true,
				Approvers: new(policy.Approvers),
			}}, `{"target":"live"}`,
			approve.Needs{Factors: []approve.Factor{{Count: 1}}, Reauthenticate: true}, "anew", []string{"why"}, 24 * time.Hour,
			[]vote{{"eve", "", "", time.Minute, approve.ErrNotAnew}, {"eve", "anew", "", 0, nil}}, "eve", "",
		},
		"a rule without approvers": {
			[]policy.Rule{{Name: "any", Effect: policy.Confirm, Operations: []string{"build"}}}, `{"target":"live"}`,
			approve.Needs{}, "", []string{"why"}, 24 * time.Hour, []vote{{"ann", "", "", 0, nil}}, "ann", "",
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
						Approve: true, Reason: v.reason, At: time.Now(), Authenticated: v.group == "anew",
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
				if ended.Data.Status != "completed" || len(s.decisions) != 1 || s.decisions[0].By != tt.by ||
					s.decisions[0].Reason != tt.because {
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

// Where the policy denies the call by now, what its execution asks is refused and nobody is asked: a rule that denies
// does not make anybody of those who must approve.
func TestDeniedExecutionsAskNobody(t *testing.T) {
	two := policy.Rule{
		Name: "two", Effect: policy.Confirm, Operations: []string{"build"}, Approvers: &policy.Approvers{Count: 2},
	}
	rule := func(effect policy.Effect, change func(*policy.Rule)) policy.Rule {
		r := policy.Rule{Name: "rule", Effect: effect, Operations: []string{"build"}}
		change(&r)
		return r
	}
	for name, tt := range map[string]struct {
		policy policy.Policy
		want   string // the failure; empty: two are asked
	}{
		"a rule denies, too": {
			policy.Policy{Rules: []policy.Rule{two, rule(policy.Deny, func(r *policy.Rule) { r.Reason = "A freeze" })}},
			"Permission denied: 'A freeze'",
		},
		"the default denies": {
			policy.Policy{Default: policy.Deny, Rules: []policy.Rule{
				rule(policy.Allow, func(r *policy.Rule) { r.Operations = []string{"*_execution"} }),
			}},
			"Permission denied: 'the policy of this adapter does not allow this operation with these parameters'",
		},
		"a rule denies another caller": {
			policy.Policy{Rules: []policy.Rule{two, rule(policy.Deny, func(r *policy.Rule) { r.Callers = []string{"joe"} })}},
			"",
		},
		"a rule denies other parameters": {
			policy.Policy{Rules: []policy.Rule{two, rule(policy.Deny, func(r *policy.Rule) {
				r.When = []policy.Condition{{Param: "target", Equals: "live"}}
			})}},
			"",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				state := new(store.Memory)
				s := &asker{inbox: approve.New(state)}
				ask := s.askOnce(aql.Approval{Message: "May I?"})
				s.shop = newShop(t, aql.Options{
					Name: "shop", State: state, Executions: rarely, Confirmation: aql.Confirmation{Inbox: approve.New},
				}, longOperation("build", gen.Lifecycle{Durable: true, Asks: true, Retry: 3},
					func(ctx context.Context, receivers []any, request any, run *aql.Run) (any, error) {
						if _, err := run.Wait(ctx, "go"); err != nil {
							return nil, err
						}
						return ask(ctx, receivers, request, run)
					}))
				defer func() { s.stop() }()
				id := s.call("ann", "build", `{"target":"x"}`).Data.ExecutionID
				synctest.Wait()
				if err := s.adapter.SetPolicy(&tt.policy); err != nil {
					t.Fatal(err)
				}
				s.call("ann", "answer_execution", `{"execution_id":"`+id+`","name":"go","value":1}`)
				time.Sleep(2 * time.Hour)
				synctest.Wait()
				if tt.want == "" {
					if item := s.item(); len(item.Needs.Factors) != 1 || item.Needs.Factors[0].Count != 2 {
						t.Errorf("needs %+v", item.Needs)
					}
					return
				}
				got := s.end("ann", id)
				items, err := s.inbox.List(t.Context())
				if err != nil || len(items) > 0 || len(s.decisions) > 0 {
					t.Errorf("%+v, %+v: %v", items, s.decisions, err)
				}
				if failed := got.Data.Error; got.Data.Status != "failed" || failed == nil || failed.Code != "PERMISSION_DENIED" ||
					failed.Message != tt.want || s.tries() != 1 {
					t.Errorf("%s: %+v after %d attempts", got.Data.Status, failed, s.tries())
				}
			})
		})
	}
}

// The author has people authenticate anew for questions from a danger level on, whatever the policy says of the
// operation.
func TestQuestionsOfADangerLevelTakeWhoAuthenticatesAnew(t *testing.T) {
	for danger, want := range map[gen.Danger]bool{gen.Reversible: false, gen.Destructive: true, gen.Dangerous: true} {
		for name, p := range map[string]*policy.Policy{
			"without rules": nil, "with a rule that allows": rules(
				policy.Rule{Name: "free", Effect: policy.Allow, Operations: []string{"build"}}),
		} {
			t.Run(string(danger)+" "+name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					state := new(store.Memory)
					s := &asker{inbox: approve.New(state)}
					s.shop = newShop(t, aql.Options{
						Name: "shop", State: state, Executions: rarely, Policy: p,
						Confirmation: aql.Confirmation{Inbox: approve.New, ReauthenticateFrom: gen.Destructive},
					}, longOperation("build", gen.Lifecycle{Durable: true, Asks: true},
						s.askOnce(aql.Approval{Message: "May I?", Danger: danger})))
					defer s.stop()
					s.call("ann", "build", `{"target":"live"}`)
					synctest.Wait()
					if got := s.item().Needs.Reauthenticate; got != want {
						t.Errorf("who decides authenticates anew: %v, want %v", got, want)
					}
				})
			})
		}
	}
}
