package aql

import (
	"context"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/gen"
)

// blockRequest has values that can be spelled in several ways.
type blockRequest struct {
	Host   net.IP
	Ports  map[int]string
	Secret masked
}

func newBlocker(t *testing.T, options Options) (*Session, *[]blockRequest) {
	t.Helper()
	var ran []blockRequest
	options.Name = "notes"
	adapter, err := New(gen.NewRegistry([]gen.Handler{{
		Name: "block_host", Category: gen.Delete, Danger: gen.Dangerous, Returns: "Nothing",
		Confirm: "Block '{host}' with {ports} and {secret}?", Params: []gen.Field{
			{Name: "host", Go: "Host", Type: "string"},
			{Name: "ports", Go: "Ports", Type: "object", Keys: &gen.Field{Type: "integer"}, Items: &gen.Field{Type: "string"}},
			{Name: "secret", Go: "Secret", Type: "string"},
		},
		Request: (*blockRequest)(nil),
		Call: func(_ context.Context, _ []any, request any) (any, error) {
			ran = append(ran, *request.(*blockRequest))
			return nil, nil
		},
	}}, []gen.WireType{{Name: "Nothing", Kind: gen.KindScalar}}), options)
	if err != nil {
		t.Fatal(err)
	}
	return adapter.NewSession(), &ran
}

// A10: a person who confirms sees the values that the handler will see, and the text that was sent where nothing tells
// what the handler makes of it. The record has what was sent.
func TestPeopleSeeWhatTheHandlerSees(t *testing.T) {
	var records recorder
	log := audit.New(audit.Options{Sinks: []audit.Sink{&records}})
	s, _ := newBlocker(t, Options{Audit: log})
	reply := s.Call(t.Context(), "mcp_aql_delete", []byte(`{"operation":"block_host","params":{"host":"::ffff:127.0.0.1",`+
		`"ports":{"80":"web"},"secret":"x"}}`))
	const message = `Block '127.0.0.1' with {\"80\":\"web\"} and x?`
	if !strings.Contains(string(reply.JSON), message) {
		t.Errorf("%s, want %s", reply.JSON, message)
	}
	const params = `{"host":"127.0.0.1","ports":{"80":"web"},"secret":"x"}`
	if reply.Question == nil || reply.Question.Params != params {
		t.Errorf("question: %+v, want %s", reply.Question, params)
	}
	if err := log.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(records.records, func(r audit.Record) bool {
		return strings.Contains(string(r.Parameters), `"host":"::ffff:127.0.0.1"`)
	}) {
		t.Errorf("records: %+v", records.records)
	}
}

// A10, REQ-CT-03: a token is for one JSON value of the parameters. The same value in another spelling of JSON is the
// same request, and the handler sees the same. A text that a type reads as the same value is another request.
func TestTokensAreForOneJSONValue(t *testing.T) {
	for name, tt := range map[string]struct {
		params string // of the second request
		runs   bool
	}{
		"as it was":                 {`"host":"127.0.0.1","ports":{"80":"web","81":"x"}`, true},
		"in another order":          {`"ports":{"81":"x","80":"web"},"host":"127.0.0.1"`, true},
		"with escapes and blanks":   {`"host":"127.0.0.\u0031", "ports":{ "8\u0030":"web","81":"x"}`, true},
		"a text that means as much": {`"host":"::ffff:127.0.0.1","ports":{"80":"web","81":"x"}`, false},
		"another value":             {`"host":"127.0.0.2","ports":{"80":"web","81":"x"}`, false},
	} {
		s, ran := newBlocker(t, Options{})
		token := tokenIn(t, string(s.Call(t.Context(), "mcp_aql_delete",
			[]byte(`{"operation":"block_host","params":{"host":"127.0.0.1","ports":{"80":"web","81":"x"}}}`)).JSON))
		answer := string(s.Call(t.Context(), "mcp_aql_delete",
			[]byte(`{"operation":"block_host","params":{`+tt.params+`,"_confirmation":"`+token+`"}}`)).JSON)
		if tt.runs && (len(*ran) != 1 || (*ran)[0].Host.String() != "127.0.0.1") ||
			!tt.runs && !strings.Contains(answer, "TOKEN_SCOPE_MISMATCH") {
			t.Errorf("%s: ran %v: %s", name, *ran, answer)
		}
	}
}
