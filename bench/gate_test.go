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

// BenchmarkGate measures calls through the gate.
//
//   - ungated: an operation to which no stage applies, in an adapter without settings, and in one that gates others
//   - counted: the same operation under a limit
//   - issued: a destructive call without a confirmation token, which is answered with one
//   - redeemed: the same call with its token
//   - put: one durable change, which issued and redeemed cost at least
func BenchmarkGate(b *testing.B) {
	b.Run("ungated/bare", func(b *testing.B) { benchmarkRead(b, aql.Options{}) })
	b.Run("ungated/configured", func(b *testing.B) { benchmarkRead(b, configured(b)) })
	b.Run("counted/memory", func(b *testing.B) {
		benchmarkRead(b, aql.Options{Quota: quota.Options{Limits: []quota.Limit{{Limit: 1 << 40, Window: quota.Minute}}}})
	})
	b.Run("issued/memory", func(b *testing.B) { benchmarkIssued(b, aql.Options{}) })
	b.Run("redeemed/memory", func(b *testing.B) { benchmarkRedeemed(b, aql.Options{}) })
	b.Run("issued/sqlite", func(b *testing.B) { benchmarkIssued(b, aql.Options{State: openSQLite(b)}) })
	b.Run("redeemed/sqlite", func(b *testing.B) { benchmarkRedeemed(b, aql.Options{State: openSQLite(b)}) })
	b.Run("put/sqlite", benchmarkPut)
}

type thing struct{ ID string }

// things returns a session of an adapter with the operations get_thing and delete_thing.
func things(b *testing.B, options aql.Options) *aql.Session {
	b.Helper()
	operation := func(name string, category gen.Category, danger gen.Danger) gen.Handler {
		return gen.Handler{
			Name: name, Category: category, Danger: danger, Returns: "Nothing",
			Params:  []gen.Field{{Name: "id", Go: "ID", Type: "string", Required: true}},
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

// configured returns options with trust levels, an audit log and a policy about delete_thing.
func configured(b *testing.B) aql.Options {
	b.Helper()
	const policy = "version: 1\nrules:\n  - {name: stop, effect: deny, operations: [delete_thing], scopes: [guest]}\n"
	rules, err := policyfile.Parse("policy.yaml", []byte(policy))
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

// issue calls delete_thing without a token and returns the token in the answer.
func issue(b *testing.B, session *aql.Session, i int) []byte {
	request := fmt.Appendf(nil, `{"operation":"delete_thing","params":{"id":"t%d"}}`, i)
	reply := session.Call(b.Context(), "mcp_aql_delete", request)
	const tokenLength = 48
	for at := range reply.JSON {
		if reply.JSON[at] == 'c' && len(reply.JSON) > at+tokenLength && string(reply.JSON[at:at+5]) == "conf_" {
			return reply.JSON[at : at+tokenLength]
		}
	}
	b.Fatalf("%s", reply.JSON)
	return nil
}

func benchmarkIssued(b *testing.B, options aql.Options) {
	session := things(b, options)
	b.ReportAllocs()
	for b.Loop() {
		issue(b, session, 1)
	}
}

func benchmarkRedeemed(b *testing.B, options aql.Options) {
	session := things(b, options)
	requests := make([][]byte, b.N)
	for i := range requests {
		const format = `{"operation":"delete_thing","params":{"id":"t%d","confirmation_token":"%s"}}`
		requests[i] = fmt.Appendf(nil, format, i, issue(b, session, i))
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
