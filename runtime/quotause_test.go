package aql_test

import (
	"context"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/quota"
)

// F63: who looks after an adapter sees what each caller has used, and what all have together; looking counts nothing.
func TestQuotaUse(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC) // neither the day nor the hour ends meanwhile
	adapter, err := aql.New(gen.NewRegistry([]gen.Handler{noteHandler()}, nil), aql.Options{
		Name: "notes", Now: func() time.Time { return now }, Quota: quota.Options{
			Limits: []quota.Limit{{Limit: 100, Window: quota.Hour}},
			Quotas: []quota.Quota{
				{Metric: quota.RequestsPerDay, Warn: 2, HardStop: 4},
				{Metric: quota.RequestsPerHour, HardStop: 50, Shared: true},
			},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	session := adapter.NewSession()
	for _, name := range []string{"ann", "ann", "bob"} {
		ctx := aql.WithCaller(t.Context(), aql.Caller{Subject: name, Issuer: "test"})
		session.Call(ctx, adapter.Tool("look"), []byte(`{"operation":"look","params":{}}`))
	}
	for range 2 {
		for name, want := range map[string]struct {
			used   float64
			status string
		}{"ann": {2, "warn"}, "bob": {1, "ok"}, "eve": {0, "ok"}} {
			use, err := adapter.QuotaUse(t.Context(), aql.Caller{Subject: name, Issuer: "test"})
			if err != nil || len(use.Quotas) != 2 || len(use.Limits) != 1 {
				t.Fatalf("%+v, %v", use, err)
			}
			own, shared := use.Quotas[0], use.Quotas[1]
			if own.Used != want.used || own.Status != want.status || own.Warn != 2 || own.Pause != 0 || own.HardStop != 4 ||
				own.Shared || own.Resets.IsZero() {
				t.Errorf("%s: %+v", name, own)
			}
			if shared.Used != 3 || !shared.Shared || use.Limits[0].Remaining != 97 || use.Limits[0].Scope != "global" {
				t.Errorf("all: %+v, %+v", shared, use.Limits)
			}
		}
	}
}

// noteHandler is an operation that reads.
func noteHandler() gen.Handler {
	return gen.Handler{
		Name: "look", Category: gen.Read, Danger: gen.Safe, DangerSource: gen.DangerFromTag, Description: "Looks.",
		Request: (*struct{})(nil), Call: func(context.Context, []any, any) (any, error) { return nil, nil },
	}
}
