package gate

import (
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/trust"
	"github.com/google/go-cmp/cmp"
)

// What holds nothing costs nothing, however much is configured for others.
func TestAnIdleGateAllocatesNothing(t *testing.T) {
	g, err := New(Options{
		Store: new(store.Memory), Trust: &trust.Options{Standing: trust.Standing{Level: trust.Certified}},
		Quota: quota.Options{Limits: []quota.Limit{{Operation: "delete_*", Limit: 1, Window: quota.Minute}}},
	}, &notes)
	if err != nil {
		t.Fatal(err)
	}
	p := &policy.Policy{Rules: []policy.Rule{{Name: "stop", Effect: policy.Deny, Operations: []string{"delete_*"}}}}
	bound, err := p.Bind(&notes)
	if err != nil {
		t.Fatal(err)
	}
	g = g.WithPolicy(bound)
	r := &Request{Operation: g.Operation("get_note"), Session: g.NewSession()}
	if !r.Operation.Ungated() || g.Operation("delete_note").Ungated() || g.Operation("introspect") != nil {
		t.Fatal("the wrong operations are ungated")
	}
	if n := testing.AllocsPerRun(100, func() {
		if _, refusal := g.Admit(t.Context(), r); refusal != nil {
			t.Error(refusal)
		}
	}); n > 0 {
		t.Errorf("%g allocations", n)
	}
}

func TestOptionsAreChecked(t *testing.T) {
	_, err := New(Options{
		StoreTimeout: time.Hour, Trust: &trust.Options{ConfirmBelow: "high"},
		Confirmation: Confirmation{
			Scope: "world", Lifetime: time.Hour, LifetimeForbidden: 6 * time.Minute, ClockSkew: -1, ReauthenticateFrom: "bad",
			Cooldown: map[gen.Danger]time.Duration{gen.Forbidden: 6 * time.Minute},
		},
	}, &notes)
	want := `token lifetime of 1h0m0s: it is between 1s and 15m0s
token lifetime for level forbidden of 6m0s: it is between 1s and 5m0s
clock skew of -1ns: it is between 0 and 5m0s
store timeout of 1h0m0s: it is between 0 and 1m0s
cooldown for forbidden of 6m0s: it is between 0 and 5m59s
token scope "world" is none of session, caller
"bad", from which on callers authenticate once more, is no danger level
trust level "high" is none of untested, generated, validated, community_reviewed, certified`
	if err == nil {
		t.Fatal("nothing was refused")
	}
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(err.Error(), "\n")); diff != "" {
		t.Error(diff)
	}
	for _, c := range []Confirmation{
		{Cooldown: map[gen.Danger]time.Duration{"mild": time.Second}},
		{Cooldown: map[gen.Danger]time.Duration{gen.Destructive: 5 * time.Minute}},
		{Lifetime: 300}, // C12: nanoseconds, where seconds were meant
		{Lifetime: -time.Minute},
	} {
		if _, err := New(Options{Confirmation: c}, &notes); err == nil {
			t.Errorf("%+v was not refused", c)
		}
	}
}
