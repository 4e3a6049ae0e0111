package gate

import (
	"testing"

	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/store"
)

// Judge decides as Admit does, and counts nothing; Count counts, and decides nothing else.
func TestJudgeAndCount(t *testing.T) {
	g, err := New(Options{
		Store: new(store.Memory),
		Quota: quota.Options{Limits: []quota.Limit{{Operation: "get_note", Limit: 1, Window: quota.Hour}}},
	}, &notes)
	if err != nil {
		t.Fatal(err)
	}
	asked := func(operation string) *Request {
		return &Request{Operation: g.Operation(operation), Session: g.NewSession(), Params: given("{}")}
	}
	for range 3 {
		if refused := g.Judge(asked("get_note")); refused != nil {
			t.Fatalf("%+v", refused)
		}
	}
	pass, refused := g.Count(t.Context(), asked("get_note"))
	if refused != nil {
		t.Fatalf("%+v", refused)
	}
	g.Finish(t.Context(), asked("get_note"), &pass, quota.Usage{}, "")
	if _, refused := g.Count(t.Context(), asked("get_note")); refused == nil || refused.Reason != RateLimited {
		t.Errorf("a second call in an hour: %+v", refused)
	}
	if refused := g.Judge(asked("delete_note")); refused == nil || refused.Reason != ConfirmationNeeded ||
		refused.Ticket.Token != "" {
		t.Errorf("a call that needs a confirmation: %+v", refused)
	}
	p := &policy.Policy{Rules: []policy.Rule{{Name: "stop", Effect: policy.Deny, Operations: []string{"get_note"}}}}
	bound, err := p.Bind(&notes)
	if err != nil {
		t.Fatal(err)
	}
	g = g.WithPolicy(bound)
	if refused := g.Judge(asked("get_note")); refused == nil || refused.Reason != DeniedByPolicy || refused.Rule == nil {
		t.Errorf("a call that the policy denies: %+v", refused)
	}
}
