package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/policy/policyfile"
	"github.com/aqltag/aqltag/runtime/quota"
	"github.com/aqltag/aqltag/runtime/store/sqlite"
	"github.com/aqltag/aqltag/runtime/trust"
)

// BenchmarkGate is what the gate costs. Idle: an operation that nothing holds, in an adapter without and with everything
// configured for others. Counted: the same under a limit. Confirmed: the call with a token, beside the one that asks for it.
func BenchmarkGate(b *testing.B) {
	b.Run("idle/bare", func(b *testing.B) { benchmarkRead(b, aql.Options{}) })
	b.Run("idle/configured", func(b *testing.B) { benchmarkRead(b, configured(b)) })
	b.Run("counted/memory", func(b *testing.B) {
		benchmarkRead(b, aql.Options{Quota: quota.Options{Limits: []quota.Limit{{Limit: 1 << 40, Window: quota.Minute}}}})
	})
	b.Run("asked/memory", func(b *testing.B) { benchmarkAsked(b, aql.Options{}) })
	b.Run("confirmed/memory", func(b *testing.B) { benchmarkConfirmed(b, aql.Options{}) })
	b.Run("asked/sqlite", func(b *testing.B) { benchmarkAsked(b, aql.Options{State: openSQLite(b)}) })
	b.Run("confirmed/sqlite", func(b *testing.B) { benchmarkConfirmed(b, aql.Options{State: openSQLite(b)}) })
	b.Run("put/sqlite", benchmarkPut) // the floor of both: one durable change
}

type thing struct{ ID string }

func things(b *testing.B, options aql.Options) *aql.Session {
	b.Helper()
	operation := func(name string, category gen.Category, danger gen.Danger) gen.Handler {
		return gen.Handler{
			Name: name, Category: category, Danger: danger, Params: []gen.Field{{Name: "id", Go: "ID", Type: "string", Required: true}}, Returns: "Nothing",
			Request: (*thing)(nil), Call: func(context.Context, []any, any) (any, error) { return nil, nil },
		}
	}
	registry := gen.NewRegistry([]gen.Handler{
		operation("get_thing", gen.Read, gen.Safe), operation("delete_thing", gen.Delete, gen.Destructive),
	}, []gen.WireType{{Name: "Nothing", Kind: gen.KindScalar}})
	options.Name, options.Confirmation.IssuesPerMinute = "bench", -1
	adapter, err := aql.New(registry, options)
	if err != nil {
		b.Fatal(err)
	}
	return adapter.NewSession()
}

// configured is an adapter with trust, a policy about another operation and an audit log.
func configured(b *testing.B) aql.Options {
	b.Helper()
	rules, err := policyfile.Parse("policy.yaml", []byte("version: 1\nrules:\n  - {name: stop, effect: deny, operations: [delete_thing], scopes: [guest]}\n"))
	if err != nil {
		b.Fatal(err)
	}
	file, err := audit.OpenFile(b.Context(), filepath.Join(b.TempDir(), "audit.log"), audit.FileOptions{})
	if err != nil {
		b.Fatal(err)
	}
	log := audit.New(audit.Options{Sinks: []audit.Sink{file}})
	b.Cleanup(func() {
		if err := log.Close(context.WithoutCancel(b.Context())); err != nil {
			b.Error(err)
		}
	})
	return aql.Options{Policy: rules, Audit: log, Trust: &trust.Options{Standing: trust.Standing{Level: trust.Certified}}}
}

func benchmarkRead(b *testing.B, options aql.Options) {
	session := things(b, options)
	request := []byte(`{"operation":"get_thing","params":{"id":"t1"}}`)
	b.ReportAllocs()
	for b.Loop() {
		if reply := session.Call(b.Context(), "mcp_aql_read", request); reply.JSON[11] != 't' {
			b.Fatalf("%s", reply.JSON)
		}
	}
}

func ask(b *testing.B, session *aql.Session, i int) []byte {
	reply := session.Call(b.Context(), "mcp_aql_delete", fmt.Appendf(nil, `{"operation":"delete_thing","params":{"id":"t%d"}}`, i))
	const tokenLength = 48
	for at := range reply.JSON {
		if reply.JSON[at] == 'c' && len(reply.JSON) > at+tokenLength && string(reply.JSON[at:at+5]) == "conf_" {
			return reply.JSON[at : at+tokenLength]
		}
	}
	b.Fatalf("%s", reply.JSON)
	return nil
}

func benchmarkAsked(b *testing.B, options aql.Options) {
	session := things(b, options)
	b.ReportAllocs()
	for b.Loop() {
		ask(b, session, 1)
	}
}

func benchmarkConfirmed(b *testing.B, options aql.Options) {
	session := things(b, options)
	requests := make([][]byte, b.N)
	for i := range requests {
		requests[i] = fmt.Appendf(nil, `{"operation":"delete_thing","params":{"id":"t%d","confirmation_token":"%s"}}`, i, ask(b, session, i))
	}
	b.ReportAllocs()
	b.ResetTimer()
	for _, request := range requests {
		if reply := session.Call(b.Context(), "mcp_aql_delete", request); reply.JSON[11] != 't' {
			b.Fatalf("%s", reply.JSON)
		}
	}
}

func openSQLite(b *testing.B) *sqlite.Store {
	b.Helper()
	state, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "state.db"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { state.Close() })
	return state
}

func benchmarkPut(b *testing.B) {
	state := openSQLite(b)
	value := make([]byte, 150)
	i := 0
	for b.Loop() {
		if _, err := state.Put(b.Context(), fmt.Sprint(i), value, 0, 0); err != nil {
			b.Fatal(err)
		}
		i++
	}
}
