//go:build !race

// The race detector empties pools at random.

package collections_test

import (
	"bytes"
	"context"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/test/collections/parts"
)

// An operation without a query allocates as often beside collections as without, and as often as when there were none.
func TestOperationsWithoutQueryPayNothing(t *testing.T) {
	type titleRequest struct{ Title string }
	plain := gen.NewRegistry([]gen.Handler{{
		Name: "echo_title", Category: gen.Read, Danger: gen.Safe, Description: "Returns a title.",
		Params:  []gen.Field{{Name: "title", Go: "Title", Type: "string", Required: true, Description: "Any text"}},
		Returns: "String", Request: (*titleRequest)(nil), Result: (*string)(nil),
		Call: func(_ context.Context, _ []any, request any) (any, error) { return request.(*titleRequest).Title, nil },
	}}, []gen.WireType{{Name: "String", Kind: gen.KindScalar, Description: "A text."}})
	const before = 6 // allocations of such a call in front of the first collection
	request := []byte(`{"operation":"echo_title","params":{"title":"Buy milk"}}`)
	for name, registry := range map[string]*aql.Registry{
		"alone":              plain,
		"beside collections": aql.Merge(plain, parts.NewRegistry(new(parts.Store), new(parts.Tasks))),
	} {
		adapter, err := aql.New(registry, aql.Options{Name: "titles", Version: "1"})
		if err != nil {
			t.Fatal(err)
		}
		session, ctx := adapter.NewSession(), t.Context()
		got := testing.AllocsPerRun(1000, func() {
			if reply := session.Call(ctx, "mcp_aql_read", request); !bytes.Contains(reply.JSON, []byte("Buy milk")) {
				t.Fatalf("%s", reply.JSON)
			}
		})
		if got > before {
			t.Errorf("%s: %v allocations, more than %d", name, got, before)
		}
	}
}
