package aql_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/observe"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/google/go-cmp/cmp"
)

type decisionsKey struct{}

// Each request that comes to the gate is one decision, also where the gate decides only because it has to be on record,
// and where it finds an execution in place of starting one. What is not valid is none, and neither is an attempt.
func TestEachRequestIsDecidedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var effects []string
		log := audit.New(audit.Options{Sinks: []audit.Sink{new(kept)}, Wait: true})
		defer func() { _ = log.Close(t.Context()) }()
		s, inbox := confirmedShop(t, aql.Options{Audit: log, Observe: &observe.Hooks{
			Operation: func(ctx context.Context, o observe.Operation) (context.Context, func(observe.OperationEnd)) {
				decisions := new(int)
				return context.WithValue(ctx, decisionsKey{}, decisions), func(e observe.OperationEnd) {
					want := 1
					if strings.HasPrefix(e.Code, "VALIDATION") {
						want = 0
					}
					if o.Category == string(gen.Execute) && *decisions != want || *decisions > want {
						t.Errorf("%s, which ends %q: %d decisions", o.Name, e.Code, *decisions)
					}
				}
			},
			Gate: func(ctx context.Context, d observe.Decision) {
				if decisions, ok := ctx.Value(decisionsKey{}).(*int); ok {
					*decisions++
				} else {
					t.Errorf("%+v is about no request", d)
				}
				if d.Operation == "build" {
					effects = append(effects, string(d.Effect))
				}
			},
		}}, gen.Lifecycle{Durable: true}, byToken)
		defer s.stop()
		const params = `{"target":"x","key":"k"}`
		first := s.confirmed(inbox, "build", params)
		s.end("ann", first.Data.ExecutionID)
		s.call("ann", "build", params) // finds it
		s.call("ann", "build", `{"target":1}`)
		s.call("ann", "cancel_execution", `{"execution_id":"`+first.Data.ExecutionID+`"}`)
		for _, p := range []*policy.Policy{
			{Rules: []policy.Rule{{Name: "closed", Effect: policy.Deny, Operations: []string{"build"}}}}, {},
		} {
			if err := s.adapter.SetPolicy(p); err != nil {
				t.Fatal(err)
			}
			s.call("ann", "build", `{"target":"y","key":"other"}`)
		}
		want := []string{"held", "confirmed", "allowed", "denied", "allowed"}
		if diff := cmp.Diff(want, effects); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}
