package operator_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/operator"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/store"
)

// The callers of a test, and who vouches for them.
var (
	ann  = identity.Caller{Subject: "ann", Issuer: "stdio"}
	bob  = identity.Caller{Subject: "bob", Issuer: "idp"}
	carl = identity.Caller{Subject: "carl\x1b[2J", Issuer: "idp"}
	zoe  = identity.Caller{Subject: "zoe", Issuer: "idp"}
)

// bill is an adapter that counts, and the desk of who operates it.
type bill struct {
	*desk
	adapter *aql.Adapter
}

// newBill returns an adapter whose quotas pause each caller at 3 requests a day, and warn of 2 EUR an hour of all.
func newBill(t *testing.T) *bill {
	t.Helper()
	b := &bill{desk: newDesk("")}
	b.State = new(store.Memory)
	b.Kept, b.Inbox = b.State, approve.New(b.State)
	b.Quota = quota.Options{
		Limits: []quota.Limit{{Limit: 100, Window: quota.Day}},
		Quotas: []quota.Quota{
			{Metric: quota.RequestsPerDay, Warn: 2, Pause: 3, HardStop: 5},
			{Metric: quota.CostPerHour, Warn: 2, Pause: 4, Currency: "EUR", Shared: true},
		},
		Prices: []quota.Price{{PerCall: 0.5}},
	}
	var err error
	b.adapter, err = aql.New(gen.NewRegistry([]gen.Handler{{
		Name: "look", Category: gen.Read, Danger: gen.Safe, DangerSource: gen.DangerFromTag, Description: "Looks.",
		Request: (*struct{})(nil), Call: func(context.Context, []any, any) (any, error) { return nil, nil },
	}}, nil), aql.Options{
		Name: "notes", State: b.State, Quota: b.Quota, Now: b.Now, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// calls has a caller send so many requests.
func (b *bill) calls(t *testing.T, who identity.Caller, times int) {
	t.Helper()
	session := b.adapter.NewSession()
	for range times {
		reply := session.Call(aql.WithCaller(t.Context(), who), b.adapter.Tool("look"), []byte(`{"operation":"look"}`))
		if !strings.Contains(string(reply.JSON), `"success":true`) {
			t.Fatalf("%s: %s", who.Subject, reply.JSON)
		}
	}
}

// begins has a caller start an execution.
func (b *bill) begins(t *testing.T, who identity.Caller) {
	t.Helper()
	engine, err := execution.New(execution.Options{
		Store: b.Kept, Name: "notes", Now: b.Now, Logger: slog.New(slog.DiscardHandler),
		Operations: map[string]*execution.Operation{"import": {Durable: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	caller, err := json.Marshal(who)
	if err == nil {
		_, err = engine.Start(t.Context(), execution.Start{Operation: "import", CallerKey: who.Key(), Caller: caller})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// records has a file say that a caller did something.
func (b *bill) records(t *testing.T, who identity.Caller) {
	t.Helper()
	b.AuditFile = filepath.Join(t.TempDir(), "audit.log")
	file, err := audit.OpenFile(t.Context(), b.AuditFile, audit.FileOptions{})
	if err == nil {
		err = errors.Join(file.Write(t.Context(), []audit.Record{
			{Time: start, Event: audit.OperationAllowed, Operation: "look", Outcome: audit.Allowed, Caller: who},
		}), file.Close())
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (b *bill) says(t *testing.T, want int, flags operator.Flags) string {
	t.Helper()
	b.stdout.Reset()
	b.stderr.Reset()
	if code := b.run(t, flags, "quotas"); code != want {
		t.Errorf("code %d, want %d: %s%s", code, want, &b.stdout, &b.stderr)
	}
	return b.stdout.String() + b.stderr.String()
}

// everybody has a request of ann wait, an execution of carl, a record of bob, and nothing of zoe.
func (b *bill) everybody(t *testing.T) {
	t.Helper()
	b.calls(t, ann, 3)
	b.calls(t, bob, 1)
	b.calls(t, carl, 2)
	b.calls(t, zoe, 1)
	b.ask(t, nil)
	b.begins(t, carl)
	b.records(t, bob)
}
