package aql

import (
	"fmt"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/google/go-cmp/cmp"
)

func newStageDecoder(tool string) *decoder {
	get := stageOperation("get_note", "read", gen.Param{Name: "id", Type: "string", Required: true},
		gen.Param{Name: "n", Type: "any"})
	drop := stageOperation("drop_note", "delete", gen.Param{Name: "id", Type: "string"})
	return &decoder{tool: tool, limits: Limits{RequestSize: 200, StringLength: 50, ArrayElements: 10, NestingDepth: 4},
		directory: &directory{
			operations: map[string]*operation{"get_note": get, "drop_note": drop},
			names:      []string{"get_note", "drop_note"},
			families:   map[string]string{"read": "read", "any": ""},
		}}
}

// describeRequest tells what was decoded of one request.
func describeRequest(q *request) string {
	if q.operation == nil {
		return "nothing"
	}
	out := q.operation.definition.Name + "(" + strings.Join(q.call.(*textCall).given, " ") + ")"
	if q.tokens.Token != "" || q.tokens.Continuation != "" || q.tokens.Conflict {
		out += fmt.Sprintf(" token=%s continuation=%s conflict=%t", q.tokens.Token, q.tokens.Continuation, q.tokens.Conflict)
	}
	return out
}

// What a single message asks for, wherever its members are.
func TestDecodeRequest(t *testing.T) {
	for _, tt := range []struct{ name, data, want, id string }{
		{"parameters in params", `{"operation":"get_note","params":{"id":"a"}}`, `get_note(id="a")`, ""},
		{"params before the operation", `{"params":{"id":"a"},"operation":"get_note"}`, `get_note(id="a")`, ""},
		{"parameters at the top level", `{"operation":"get_note","id":"a"}`, `get_note(id="a")`, ""},
		{"params win over the top level", `{"id":"b","operation":"get_note","params":{"id":"a"},"n":1}`,
			`get_note(id="a" n=1)`, ""},
		{"metadata", `{"operation":"get_note","_request_id":"r1","_x":1,"params":{"id":"a","_y":2}}`, `get_note(id="a")`,
			"r1"},
		{"REQ-CT-05 a token", `{"operation":"get_note","params":{"id":"a","confirmation_token":"t"}}`,
			`get_note(id="a") token=t continuation= conflict=false`, ""},
		{"REQ-CT-05 its other spelling, at the top level", `{"operation":"get_note","params":{"id":"a"},"_confirmation":"t"}`,
			`get_note(id="a") token=t continuation= conflict=false`, ""},
		{"two different tokens", `{"operation":"get_note","params":{"id":"a","confirmation_token":"t","_confirmation":"u"}}`,
			`get_note(id="a") token=u continuation= conflict=true`, ""},
		{"an empty token counts as none", `{"operation":"get_note","params":{"id":"a","confirmation_token":""}}`,
			`get_note(id="a")`, ""},
		{"a token to go on with", `{"operation":"get_note","params":{"id":"a","_quota_continue":"c"}}`,
			`get_note(id="a") token= continuation=c conflict=false`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var m message
			if failed := newStageDecoder("any").decode([]byte(tt.data), &m); failed != nil {
				t.Fatal(failed)
			}
			checkText(t, "decoded", tt.want, describeRequest(&m.request))
			checkText(t, "label", tt.id, m.id)
			if m.size != len(tt.data) || m.batch != nil {
				t.Errorf("size %d, batch %v", m.size, m.batch)
			}
		})
	}
}

// Why a message is not a request.
func TestDecodeFailures(t *testing.T) {
	for _, tt := range []struct{ name, tool, data, want string }{
		{"not an object", "any", `[]`, "VALIDATION_INVALID_TYPE: Parameter 'request' expected 'object', got 'array'"},
		{"nothing", "any", ` `, "VALIDATION_INVALID_TYPE: Parameter 'request' expected 'object', got 'nothing'"},
		{"not JSON", "any", `{"operation":`, "VALIDATION_MALFORMED_JSON"},
		{"too large", "any", strings.Repeat(" ", 201),
			"VALIDATION_PAYLOAD_TOO_LARGE: Payload exceeds request_size limit of 200"},
		{"too deep", "any", `{"operation":"get_note","params":{"n":[[[1]]]}}`,
			"VALIDATION_PAYLOAD_TOO_LARGE: Payload exceeds nesting_depth"},
		{"no operation", "any", `{"params":{}}`, "VALIDATION_MISSING_PARAM"},
		{"an operation of the wrong type", "any", `{"operation":1}`, "VALIDATION_INVALID_TYPE: Parameter 'operation'"},
		{"params of the wrong type", "any", `{"operation":"get_note","params":[]}`,
			"VALIDATION_INVALID_TYPE: Parameter 'params'"},
		{"an unknown operation", "any", `{"operation":"get_nots"}`, "NOT_FOUND_OPERATION: Unknown operation: 'get_nots'"},
		{"an unknown tool", "write", `{"operation":"get_note"}`, "NOT_FOUND_OPERATION: Unknown tool: 'write'"},
		{"the operation of another tool", "read", `{"operation":"drop_note"}`, "VALIDATION_ENDPOINT_MISMATCH"},
		{"a missing parameter", "any", `{"operation":"get_note"}`,
			"VALIDATION_MISSING_PARAM: Missing required parameter 'id'"},
		{"an unknown parameter", "any", `{"operation":"get_note","params":{"id":"a","idd":1}}`, "VALIDATION_UNKNOWN_PARAM"},
		{"a token that is not a string", "any", `{"operation":"get_note","params":{"id":"a","_confirmation":1}}`,
			"VALIDATION_INVALID_TYPE: Parameter 'confirmation_token'"},
		{"a fault wins over all of these", "any", `{"operation":"get_nots","params":{"a":1,"a":2}}`,
			"VALIDATION_DUPLICATE_PARAM"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var m message
			failed := newStageDecoder(tt.tool).decode([]byte(tt.data), &m)
			if failed == nil || !strings.HasPrefix(failed.Error(), tt.want) {
				t.Errorf("got %v, want %s", failed, tt.want)
			}
			if m.notAnObject != (tt.name == "not an object" || tt.name == "nothing") {
				t.Errorf("notAnObject is %t", m.notAnObject)
			}
		})
	}
}

// The operation that another tool reaches is remembered, since attempts at dangerous ones are recorded.
func TestDecodeMisrouted(t *testing.T) {
	var m message
	newStageDecoder("read").decode([]byte(`{"operation":"drop_note"}`), &m)
	if m.operation != nil || m.misrouted == nil || m.misrouted.definition.Name != "drop_note" {
		t.Errorf("operation %v, misrouted %v", m.operation, m.misrouted)
	}
}

// A batch is decoded item by item: one that is not valid does not spoil the others.
func TestDecodeBatch(t *testing.T) {
	var m message
	data := `{"operations":[{"operation":"get_note","params":{"id":"a"},"index":7},{"operation":"nope"},` +
		`{"operation":"get_note","_request_id":"inner"}],"_request_id":"outer"}`
	if failed := newStageDecoder("any").decode([]byte(data), &m); failed != nil {
		t.Fatal(failed)
	}
	var got []string
	for _, it := range m.batch.items {
		line := it.envelope.operation + " " + describeRequest(&it.request)
		if it.failed != nil {
			line = it.envelope.operation + " " + string(it.failed.Code)
		}
		got = append(got, line+" "+it.text)
	}
	want := []string{
		`get_note get_note(id="a") {"operation":"get_note","params":{"id":"a"},"index":7}`,
		`nope NOT_FOUND_OPERATION {"operation":"nope"}`,
		`get_note VALIDATION_MISSING_PARAM {"operation":"get_note","_request_id":"inner"}`,
	}
	if diff := cmp.Diff(want, got); diff != "" || m.id != "outer" {
		t.Errorf("label %q, items (-want +got):\n%s", m.id, diff)
	}
}

// A decoder that was reset knows nothing of the message before.
func TestDecoderReset(t *testing.T) {
	d := newStageDecoder("any")
	var m message
	d.decode([]byte(`{"operation":"get_note","params":{"idd":1}}`), &m)
	if len(d.unknown) != 1 || len(d.problems) != 1 {
		t.Fatalf("unknown %v, problems %v", d.unknown, d.problems)
	}
	d.reset()
	m.reset()
	unknown, problems := d.unknown[:cap(d.unknown)], d.problems[:cap(d.problems)]
	if len(d.unknown) > 0 || len(d.problems) > 0 || unknown[0] != "" || problems[0].Path != "" {
		t.Errorf("the memory holds %v, %v", unknown, problems)
	}
	if m.operation != nil || len(m.values) > 0 || m.size > 0 {
		t.Errorf("the message holds %+v", m.request)
	}
}

// Names are compared for the first unknown operations of a message only: it may have thousands.
func TestDirectoryComparesFewNames(t *testing.T) {
	d := directory{operations: map[string]*operation{}, names: []string{"a_note", "get_note"},
		families: map[string]string{"": ""}}
	searches := 0
	for i := range maxSearches + 1 {
		_, failed := d.find("", "get_nots", &searches)
		want := `{"code":"NOT_FOUND_OPERATION","message":"Unknown operation: 'get_nots'",` +
			`"details":{"operation":"get_nots","available":["get_note"],` +
			`"hint":"introspect with query 'operations' lists all 2"}}`
		if i == maxSearches {
			want, _, _ = strings.Cut(want, `["get_note"]`)
			want += `["a_note","get_note"]}}`
		}
		checkText(t, "failure", want, asJSON(failed))
	}
}
