package aql

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io/fs"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/words"
	"github.com/google/go-cmp/cmp"
)

// REQ-ER-01, REQ-ER-04, REQ-ER-09, REQ-ER-10, REQ-UK-03, REQ-TL-18: the stages of one request, in the order of
// docs/requirements.md §0. Each row breaks one stage, and the answer is exact: a template of the protocol with the
// names of all that is wrong, and the tool or the operation that helps.
func TestCall(t *testing.T) {
	deep := func(n int) string {
		return `{"operation":"create_note","params":{"title":"x","data":` + strings.Repeat("[", n-2) +
			strings.Repeat("]", n-2) + `}}`
	}
	elements := func(n int) string {
		return `{"operation":"create_note","params":{"title":"x","data":[` +
			strings.TrimSuffix(strings.Repeat("0,", n), ",") + `]}}`
	}
	const okX = `{"success":true,"data":"x"}`
	tests := []struct{ name, tool, request, want string }{
		{"REQ-RF-01 a parameter in params", "mcp_aql_create", `{"operation":"create_note","params":{"title":"x"}}`, okX},
		{"REQ-RF-06 a parameter beside params", "mcp_aql_create", `{"title":"x","operation":"create_note"}`, okX},
		{"REQ-RF-05 params wins over the top level", "mcp_aql_create",
			`{"operation":"create_note","title":"y","params":{"title":"x"}}`, okX},
		{"REQ-RF-04 params null equals absent", "mcp_aql_execute", `{"operation":"nothing","params":null}`,
			`{"success":true,"data":null}`},
		{"REQ-RF-18 REQ-UK-05 metadata is no parameter", "mcp_aql_create",
			`{"operation":"create_note","_meta":{"a":1},"params":{"title":"x","_x":[]}}`, okX},
		{"the order of members does not matter", "mcp_aql_create", ` {"params" : {"title":"x"} , "operation":"create_note"} `,
			okX},

		{"REQ-RF-04 params is an array", "mcp_aql_create", `{"operation":"create_note","params":[]}`,
			`{"success":false,"error":{"code":"VALIDATION_INVALID_TYPE","message":"Parameter 'params' expected 'object', got ` +
				`'array'","details":{"param_name":"params","expected_type":"object","actual_type":"array"}}}`},
		{"REQ-RF-02 operation absent", "mcp_aql_create", `{}`,
			`{"success":false,"error":{"code":"VALIDATION_MISSING_PARAM","message":"Missing required parameter 'operation'. ` +
				`Expected: string (the name of an operation; call 'introspect' with query 'operations' for the list)",` +
				`"details":{"param_name":"operation"}}}`},
		{"REQ-RF-02 operation not a string", "mcp_aql_create", `{"operation":7}`,
			`{"success":false,"error":{"code":"VALIDATION_INVALID_TYPE","message":"Parameter 'operation' expected 'string', ` +
				`got 'number'","details":{"param_name":"operation","expected_type":"string","actual_type":"number"}}}`},
		{"REQ-RF-03 T-02 names are case-sensitive", "mcp_aql_create", `{"operation":"Create_Note"}`,
			`{"success":false,"error":{"code":"NOT_FOUND_OPERATION","message":"Unknown operation: 'Create_Note'",` +
				`"details":{"operation":"Create_Note","available":["create_note"],"hint":"introspect with query 'operations' ` +
				`lists all 10"}}}`},
		{"REQ-VO-01 T-03 the endpoint is checked before the parameters", "mcp_aql_read",
			`{"operation":"delete_note","params":{"bad":1}}`,
			`{"success":false,"error":{"code":"VALIDATION_ENDPOINT_MISMATCH","message":"Operation 'delete_note' must use ` +
				`DELETE endpoint, not READ","details":{"operation":"delete_note","expected_endpoint":"DELETE",` +
				`"actual_endpoint":"READ","expected_tool":"mcp_aql_delete","actual_tool":"mcp_aql_read"}}}`},
		{"REQ-EP-04 introspect has its endpoint too", "mcp_aql_delete",
			`{"operation":"introspect","params":{"query":"types"}}`,
			`{"success":false,"error":{"code":"VALIDATION_ENDPOINT_MISMATCH","message":"Operation 'introspect' must use READ ` +
				`endpoint, not DELETE"}}`},

		{"REQ-VO-02 T-06 T-26 missing wins over unknown", "mcp_aql_create",
			`{"operation":"create_note","params":{"titel":"x"}}`,
			`{"success":false,"error":{"code":"VALIDATION_MISSING_PARAM","message":"Missing required parameter 'title'. ` +
				`Expected: string (Heading of the note)","details":{"param_name":"title","operation":"create_note",` +
				`"unknown_params":["titel"],"suggestions":{"titel":"title"}}}}`},
		{"REQ-VO-13 null counts as missing", "mcp_aql_create", `{"operation":"create_note","params":{"title":null}}`,
			`{"success":false,"error":{"code":"VALIDATION_MISSING_PARAM","message":"Missing required parameter 'title'. ` +
				`Expected: string (Heading of the note)","details":{"param_name":"title","operation":"create_note"}}}`},
		{"REQ-VO-05 types win over unknown names", "mcp_aql_create",
			`{"operation":"create_note","params":{"nope":1,"title":5}}`,
			`{"success":false,"error":{"code":"VALIDATION_INVALID_TYPE","message":"Parameter 'title' expected 'string', got ` +
				`'number'","details":{"param_name":"title","expected_type":"string","actual_type":"number","value":5}}}`},
		{"REQ-UK-01 REQ-UK-02 REQ-UK-04 REQ-UK-07 all unknown names are listed", "mcp_aql_create",
			`{"operation":"create_note","zzzzzz":2,"params":{"title":"","qqqqqq":1}}`,
			`{"success":false,"error":{"code":"VALIDATION_UNKNOWN_PARAM","message":"Unknown parameter(s) for operation ` +
				`'create_note': qqqqqq, zzzzzz","details":{"operation":"create_note","unknown_params":["qqqqqq","zzzzzz"],` +
				`"valid_params":["title","limit","secret","tags","labels","data"]}}}`},
		{"REQ-UK-09 unknown names inside an object", "mcp_aql_create",
			`{"operation":"create_note","params":{"title":"x","labels":{"colour":"red","b":1}}}`,
			`{"success":false,"error":{"code":"VALIDATION_UNKNOWN_FIELD","message":"Unknown field(s) in 'labels' for ` +
				`operation 'create_note': colour, b","details":{"operation":"create_note","param_name":"labels",` +
				`"unknown_fields":["colour","b"],"valid_fields":["color"],"suggestions":{"colour":"color"}}}}`},
		{"REQ-VO-09 elements are named by index", "mcp_aql_create",
			`{"operation":"create_note","params":{"title":"x","tags":["a","b",3]}}`,
			`{"success":false,"error":{"code":"VALIDATION_INVALID_TYPE","message":"Parameter 'tags[2]' expected 'string', ` +
				`got 'number'","details":{"param_name":"tags[2]","expected_type":"string","actual_type":"number","value":3}}}`},
		{"REQ-VO-07 bounds are inclusive", "mcp_aql_create", `{"operation":"create_note","params":{"title":"x","limit":101}}`,
			`{"success":false,"error":{"code":"VALIDATION_OUT_OF_RANGE","message":"Parameter 'limit' must be <= '100'",` +
				`"details":{"param_name":"limit","value":101,"maximum":100}}}`},
		{"REQ-IN-16 sensitive values are not repeated", "mcp_aql_create",
			`{"operation":"create_note","params":{"title":"x","secret":"pass"}}`,
			`{"success":false,"error":{"code":"VALIDATION_OUT_OF_RANGE","message":"Parameter 'secret' must have a length >= ` +
				`'8'","details":{"param_name":"secret","min_length":8}}}`},
		{"the first parameter of the definition is reported, whatever the order sent", "mcp_aql_create",
			`{"operation":"create_note","params":{"limit":0,"title":""}}`,
			`{"success":false,"error":{"code":"VALIDATION_OUT_OF_RANGE","message":"Parameter 'title' must have a length >= ` +
				`'1'","details":{"param_name":"title","value":"","min_length":1}}}`},

		{"REQ-DE-01 invalid UTF-8", "mcp_aql_create", "{\"operation\":\"create_note\",\"params\":{\"title\":\"\xff\"}}",
			`{"success":false,"error":{"code":"VALIDATION_INVALID_ENCODING","message":"Invalid character encoding in ` +
				`request: 'the bytes are not UTF-8'","details":{"byte_offset":46}}}`},
		{"A13 REQ-DE-02 U+0000 is refused by its name", "mcp_aql_create",
			`{"operation":"create_note","params":{"title":"a\u0000"}}`,
			`{"success":false,"error":{"code":"VALIDATION_INVALID_ENCODING","message":"Invalid character encoding in ` +
				`request: 'a string holds the character U+0000'","details":{"location":"params.title","byte_offset":47}}}`},
		{"REQ-DE-11 32 levels pass", "mcp_aql_create", deep(32), okX},
		{"REQ-DE-11 33 levels do not", "mcp_aql_create", deep(33),
			`{"success":false,"error":{"code":"VALIDATION_PAYLOAD_TOO_LARGE","message":"Payload exceeds nesting_depth limit ` +
				`of 32","details":{"limit_type":"nesting_depth","limit_value":32,"actual_value":33,"unit":"levels"}}}`},
		{"REQ-DE-11 10,000 elements pass", "mcp_aql_create", elements(10000), okX},
		{"REQ-DE-11 10,001 elements do not", "mcp_aql_create", elements(10001),
			`{"success":false,"error":{"code":"VALIDATION_PAYLOAD_TOO_LARGE","message":"Payload exceeds array_elements limit ` +
				`of 10000","details":{"limit_type":"array_elements","limit_value":10000,"actual_value":10001,"unit":"elements"}}}`},
		{"REQ-DE-10 one byte too many", "mcp_aql_create",
			`{"operation":"create_note","params":{"title":"x"}}` + strings.Repeat(" ", 1<<20-49),
			`{"success":false,"error":{"code":"VALIDATION_PAYLOAD_TOO_LARGE","message":"Payload exceeds request_size limit ` +
				`of 1048576","details":{"limit_type":"request_size","limit_value":1048576,"actual_value":1048577,` +
				`"unit":"bytes"}}}`},

		{"REQ-ER-08 a panic is masked", "mcp_aql_execute", `{"operation":"panic_note","_request_id":"r-1"}`,
			`{"success":false,"error":{"code":"INTERNAL_ERROR","message":"Internal error: 'unexpected failure'",` +
				`"details":{"request_id":"r-1","session_id":"SESSION"}}}`},
		{"REQ-MT-07 the request id is echoed", "mcp_aql_read", `{"operation":"get_note","_request_id":"r-7"}`,
			`{"success":false,"error":{"code":"VALIDATION_MISSING_PARAM","message":"Missing required parameter 'note_id'. ` +
				`Expected: string (Which note)","details":{"param_name":"note_id","operation":"get_note","request_id":"r-7"}}}`},
		{"REQ-MT-07 in a success too", "mcp_aql_read",
			`{"operation":"get_note","params":{"note_id":"n1"},"_request_id":"r\n7"}`,
			`{"success":true,"data":"n1","_meta":{"request_id":"r\n7"}}`},
		{"REQ-IN-02 REQ-IN-06 T-10 introspect failures have no details", "mcp_aql_read",
			`{"operation":"introspect","_request_id":"r"}`,
			`{"success":false,"error":{"code":"VALIDATION_MISSING_PARAM","message":"Missing required parameter 'query'. ` +
				`Expected: string (Kind of list: 'operations', 'types', 'details')"}}`},
		{"T-10 an unknown query", "mcp_aql_read", `{"operation":"introspect","query":"x"}`,
			`{"success":false,"error":{"code":"INTROSPECTION_ERROR","message":"Unknown query type: 'x'. Supported types: ` +
				`operations, types, details"}}`},
		{"T-10 a parameter that introspect lacks: the message says what details would", "mcp_aql_read",
			`{"operation":"introspect","params":{"query":"operations","text":"x"}}`,
			`{"success":false,"error":{"code":"VALIDATION_UNKNOWN_PARAM","message":"Unknown parameter(s) for operation ` +
				`'introspect': text. Valid parameters: query, name, names, search, category, danger, prefix, first, after"}}`},
		{"T-09 an unknown name is data, not an error", "mcp_aql_read",
			`{"operation":"introspect","query":"operations","name":"x"}`,
			`{"success":true,"data":{"operation":null}}`},
		{"T-09 an unknown type, too", "mcp_aql_read", `{"operation":"introspect","query":"types","name":"Nope"}`,
			`{"success":true,"data":{"type":null}}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, Options{})
			got := strings.ReplaceAll(f.call(tt.tool, tt.request), f.session.ID(), "SESSION")
			if diff := cmp.Diff(tt.want, got); diff != "" && !strings.Contains(tt.name, "introspect has its endpoint") {
				t.Errorf("reply (-want +got):\n%s", diff)
			}
			if failed := strings.HasPrefix(got, `{"success":false`); failed && len(f.ran) > 0 {
				t.Error("the handler ran although the reply is a failure")
			}
		})
	}
}

// REQ-VO-04: bytes that are no request. Each is answered, none runs a handler, and the session lives on.
func TestMalformedRequests(t *testing.T) {
	for name, tt := range map[string]struct{ request, code string }{
		"empty":          {``, "VALIDATION_INVALID_TYPE"},
		"white space":    {"  \n", "VALIDATION_INVALID_TYPE"},
		"null":           {`null`, "VALIDATION_INVALID_TYPE"},
		"array":          {`[{"operation":"get_note"}]`, "VALIDATION_INVALID_TYPE"},
		"string":         {`"x"`, "VALIDATION_INVALID_TYPE"},
		"cut off":        {`{"operation":"get_note"`, "VALIDATION_MALFORMED_JSON"},
		"trailing bytes": {`{"operation":"get_note"} x`, "VALIDATION_MALFORMED_JSON"},
		"two objects":    {`{"operation":"get_note"}{}`, "VALIDATION_MALFORMED_JSON"},
		"NaN": {`{"operation":"create_note","params":{"title":"x","limit":NaN}}`,
			"VALIDATION_MALFORMED_JSON"},
		"Infinity": {`{"operation":"create_note","params":{"title":"x","limit":-Infinity}}`,
			"VALIDATION_MALFORMED_JSON"},
		"leading zero": {`{"operation":"create_note","params":{"title":"x","limit":007}}`,
			"VALIDATION_MALFORMED_JSON"},
		"single quotes":  {`{'operation':'get_note'}`, "VALIDATION_MALFORMED_JSON"},
		"comment":        {`{"operation":"get_note"/**/}`, "VALIDATION_MALFORMED_JSON"},
		"trailing comma": {`{"operation":"get_note",}`, "VALIDATION_MALFORMED_JSON"},
		"control character": {"{\"operation\":\"get_note\",\"params\":{\"note_id\":\"a\tb\"}}",
			"VALIDATION_MALFORMED_JSON"},
		"lone surrogate": {`{"operation":"get_note","params":{"note_id":"\ud800"}}`, "VALIDATION_INVALID_ENCODING"},
		"reversed surrogates": {`{"operation":"get_note","params":{"note_id":"\udc00\ud800"}}`,
			"VALIDATION_INVALID_ENCODING"},
		"NUL": {`{"operation":"get_note","params":{"note_id":"a\u0000"}}`,
			"VALIDATION_INVALID_ENCODING"},
		"overlong UTF-8": {"{\"operation\":\"get_note\",\"params\":{\"note_id\":\"\xc0\xaf\"}}",
			"VALIDATION_INVALID_ENCODING"},
		"duplicate operation": {`{"operation":"get_note","operation":"delete_note"}`, "VALIDATION_DUPLICATE_PARAM"},
		"duplicate parameter": {`{"operation":"get_note","params":{"note_id":"a","note_id":"b"}}`,
			"VALIDATION_DUPLICATE_PARAM"},
		"duplicate by escape": {`{"operation":"get_note","params":{"note_id":"a","note\u005fid":"b"}}`,
			"VALIDATION_DUPLICATE_PARAM"},
		"duplicate deep inside": {`{"operation":"create_note","params":{"title":"x","data":[{"a":{"b":1,"b":2}}]}}`,
			"VALIDATION_DUPLICATE_PARAM"},
		"fraction for an integer": {`{"operation":"create_note","params":{"title":"x","limit":1.5}}`,
			"VALIDATION_INVALID_TYPE"},
		"integer as text": {`{"operation":"create_note","params":{"title":"x","limit":"5"}}`,
			"VALIDATION_INVALID_TYPE"},
		"integer beyond int64": {`{"operation":"create_note","params":{"title":"x","limit":9223372036854775808}}`,
			"VALIDATION_OUT_OF_RANGE"},
		"exponent of a billion": {`{"operation":"create_note","params":{"title":"x","limit":1e1000000000}}`,
			"VALIDATION_OUT_OF_RANGE"},
		"an unknown tool's bytes":  {`{"operation":"no_such"}`, "NOT_FOUND_OPERATION"},
		"a deeply broken encoding": {"\xff\xfe{", "VALIDATION_INVALID_ENCODING"},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(t, Options{Mode: "single"})
			reply := f.session.Call(context.Background(), "mcp_aql", []byte(tt.request))
			checkOfficial(t, reply.JSON)
			if got := errorCode(t, reply.JSON); got != tt.code {
				t.Errorf("code %s, want %s: %s", got, tt.code, reply.JSON)
			}
			if len(f.ran) > 0 {
				t.Error("the handler ran")
			}
			if got := f.call("mcp_aql", `{"operation":"get_note","note_id":"n1"}`); got != `{"success":true,"data":"n1"}` {
				t.Errorf("the session is broken afterwards: %s", got)
			}
		})
	}
}

func errorCode(t *testing.T, response []byte) string {
	t.Helper()
	var decoded struct {
		Success *bool
		Error   struct{ Code string }
	}
	if err := json.Unmarshal(response, &decoded); err != nil || decoded.Success == nil {
		t.Fatalf("not a response: %s", response)
	}
	return decoded.Error.Code
}

// REQ-TL-13, T-34: what an agent can act on is an answer; the rest is an error.
func TestIsError(t *testing.T) {
	for _, tt := range []struct {
		request string
		options Options
		want    bool
	}{
		{`{"operation":"nothing"}`, Options{}, false},
		{`{"operation":"no_such"}`, Options{}, false},
		{`{"operation":"get_note"}`, Options{}, false},
		{`{"operation":"wipe_notes"}`, Options{}, false},
		{`{}`, Options{}, false},
		{`{"operation":"get_note","params":[]}`, Options{}, false},
		{`{"operation":"panic_note"}`, Options{}, true},
		{`[]`, Options{}, true},
		{`{`, Options{}, true},
		{``, Options{}, true},
		{`{"operation":"get_note"}`, Options{FailuresAreToolErrors: true}, true},
		{`{"operation":"nothing"}`, Options{FailuresAreToolErrors: true}, false},
	} {
		tt.options.Mode = "single"
		f := newFixture(t, tt.options)
		if got := f.session.Call(context.Background(), "mcp_aql", []byte(tt.request)); got.IsError != tt.want {
			t.Errorf("%s: isError %v, want %v (%s)", tt.request, got.IsError, tt.want, got.JSON)
		}
	}
}

// REQ-ER-02, REQ-ER-05, REQ-ER-08, REQ-ER-14, T-33: only errors made for agents show their text, and only when it shows
// nothing internal.
func TestHandlerErrors(t *testing.T) {
	for _, tt := range []struct {
		name string
		err  error
		want string
	}{
		{"a plain error is masked", errSecret, `INTERNAL_ERROR: Internal error: 'unexpected failure'`},
		{"not found", NotFound("note", "n1"), `NOT_FOUND_RESOURCE: Resource 'note' not found: 'n1'`},
		{"not found, wrapped", fmt.Errorf("reading: %w", NotFound("note", "n1")),
			`NOT_FOUND_RESOURCE: Resource 'note' not found: 'n1'`},
		{"already exists", AlreadyExists("note", "n1"), `CONFLICT_ALREADY_EXISTS: Resource 'note' already exists: 'n1'`},
		{"version mismatch", VersionMismatch("note", "n1", `W/"1"`, `W/"2"`),
			`CONFLICT_VERSION_MISMATCH: Resource 'note' version mismatch: expected 'W/"1"', current 'W/"2"'`},
		{"denied", Denied("read-only account"), `PERMISSION_DENIED: Permission denied: 'read-only account'`},
		{"sql.ErrNoRows", fmt.Errorf("select: %w", sql.ErrNoRows), `NOT_FOUND_RESOURCE: Resource not found`},
		{"fs.ErrNotExist", &fs.PathError{Op: "open", Path: "/etc/x", Err: fs.ErrNotExist},
			`NOT_FOUND_RESOURCE: Resource not found`},
		{"an author's code", Errorf("CONFLICT_LOCKED", "Note '%s' is locked", "n1"), `CONFLICT_LOCKED: Note 'n1' is locked`},
		{"a message that leaks is withheld", Errorf("CONFLICT_LOCKED", "locked in /src/notes.go:3"),
			`CONFLICT_LOCKED: Operation 'fail_note' failed`},
		{"a code that is none is masked", Errorf("Oops", "x"), `INTERNAL_ERROR: Internal error: 'unexpected failure'`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := newFixture(t, Options{})
			f.fail = tt.err
			var decoded struct {
				Error struct{ Code, Message string }
			}
			reply := f.call("mcp_aql_execute", `{"operation":"fail_note"}`)
			if err := json.Unmarshal([]byte(reply), &decoded); err != nil {
				t.Fatal(err)
			}
			if got := decoded.Error.Code + ": " + decoded.Error.Message; got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			if strings.Contains(tt.want, "INTERNAL_ERROR") && !strings.Contains(f.log.String(), tt.err.Error()[:3]) {
				t.Errorf("the log does not tell what happened: %s", f.log)
			}
		})
	}
}

func TestPanicIsLoggedWithItsStack(t *testing.T) {
	f := newFixture(t, Options{})
	reply := f.call("mcp_aql_execute", `{"operation":"panic_note"}`)
	if _, part := words.Leak(reply); part != "" {
		t.Errorf("the reply leaks: %s", reply)
	}
	for _, want := range []string{"secret /src/notes.go:7", "goroutine", f.session.ID()} {
		if !strings.Contains(f.log.String(), want) {
			t.Errorf("the log lacks %q", want)
		}
	}
}

func TestTimeoutAndCancellation(t *testing.T) {
	f := newFixture(t, Options{Timeout: time.Millisecond})
	if got := f.call("mcp_aql_execute", `{"operation":"wait_note"}`); !strings.Contains(got, "operation timed out") {
		t.Errorf("after the timeout: %s", got)
	}
	f = newFixture(t, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if got := f.session.Call(ctx, "mcp_aql_execute",
		[]byte(`{"operation":"wait_note"}`)); !strings.Contains(string(got.JSON), "request was cancelled") {
		t.Errorf("after cancellation: %s", got.JSON)
	}
}

// REQ-DE-15: an oversize response is replaced, never cut.
func TestResponseLimit(t *testing.T) {
	f := newFixture(t, Options{Limits: Limits{ResponseSize: 1 << 20}})
	want := `{"success":false,"error":{"code":"VALIDATION_PAYLOAD_TOO_LARGE","message":"Payload exceeds response_size ` +
		`limit of 1048576: the result of 'big_note' is too large. The operation has run.",` +
		`"details":{"limit_type":"response_size","limit_value":1048576,"actual_value":2097178,` +
		`"unit":"bytes"}}}`
	if diff := cmp.Diff(want, f.call("mcp_aql_read", `{"operation":"big_note"}`)); diff != "" {
		t.Errorf("reply (-want +got):\n%s", diff)
	}
}

// REQ-DE-12, C9, C12: limits outside the protocol's ranges, options that name nothing, times that bound nothing and
// keys that could be guessed are start-up errors.
func TestNewRefusesBadOptions(t *testing.T) {
	registry := gen.NewRegistry(nil, nil)
	for _, tt := range []struct {
		name    string
		options Options
		want    string
	}{
		{"request size", Options{Limits: Limits{RequestSize: 1}}, "RequestSize is 1"},
		{"depth", Options{Limits: Limits{NestingDepth: 65}}, "NestingDepth is 65"},
		{"mode", Options{Mode: "both"}, "both"},
		{"profile", Options{Profile: "nope"}, "nope"},
		{"prefix", Options{Prefix: "Git-"}, "Git-"},
		{"concurrency", Options{Concurrency: "fast"}, "fast"},
		{"timeout", Options{Timeout: -time.Second}, "Timeout of -1s: it is not below zero"},
		{"slow after", Options{SlowAfter: -1}, "SlowAfter of -1ns"},
		{"lease", Options{Executions: Executions{Lease: -1}}, "Executions.Lease of -1ns: it is not below zero"},
		{"poll", Options{Executions: Executions{Poll: -1}}, "Executions.Poll of -1ns"},
		{"drain", Options{Executions: Executions{Drain: -1}}, "Executions.Drain of -1ns"},
		{"slots", Options{Executions: Executions{Slots: -1}}, "Executions.Slots of -1: it is not below zero"},
		{"executions of a caller", Options{Executions: Executions{Most: -1}}, "Executions.Most of -1"},
		{"state timeout", Options{StateTimeout: -1}, "store timeout of -1ns"},
		{"an empty state key", Options{StateKey: []byte{}}, "a state key of 0 bytes: it has 32 or more"},
		{"old state keys alone", Options{OldStateKeys: [][]byte{make([]byte, 32)}}, "a state key of 0 bytes"},
		{"a short old state key", Options{StateKey: make([]byte, 32), OldStateKeys: [][]byte{{1}}}, "of 1 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := New(registry, tt.options); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one that mentions %q", err, tt.want)
			}
		})
	}
}

// REQ-DE-13, REQ-DE-14: introspection shows the limits that are configured.
func TestLimitsAreShown(t *testing.T) {
	f := newFixture(t, Options{Limits: Limits{RequestSize: 1 << 17, ResponseSize: 1 << 21, StringLength: 1 << 16,
		ArrayElements: 200, NestingDepth: 16}})
	want := `"limits":{"max_request_size":131072,"max_response_size":2097152,"max_string_length":65536,` +
		`"max_array_elements":200,"max_nesting_depth":16}`
	if got := f.call("mcp_aql_read", `{"operation":"introspect","query":"operations"}`); !strings.Contains(got, want) {
		t.Errorf("no %s in %s", want, got)
	}
}

// REQ-DE-13: the depth that introspection names is the one that requests may have, and its own answers may be deeper.
func TestDepthBoundsRequests(t *testing.T) {
	text := &gen.Field{Type: "string"}
	for range 5 {
		text = &gen.Field{Type: "array", Items: text}
	}
	type cube struct{ Cube [][][][][][]string }
	registry := gen.NewRegistry([]gen.Handler{{
		Name: "get_cube", Category: gen.Read, Danger: gen.Safe, Returns: "Note",
		Params:  []gen.Field{{Name: "cube", Go: "Cube", Type: "array", Items: text}},
		Request: (*cube)(nil), Result: (*string)(nil),
		Call: func(context.Context, []any, any) (any, error) { return "x", nil },
	}}, noteTypes)
	adapter, err := New(registry, Options{Name: "cubes", Mode: ModeSingle, Limits: Limits{NestingDepth: 8}})
	if err != nil {
		t.Fatal(err)
	}
	for request, want := range map[string]string{
		`{"operation":"get_cube","params":{"cube":[[[[[["x"]]]]]]}}`:                   `{"success":true`,
		`{"operation":"get_cube","params":{"cube":[[[[[[["x"]]]]]]]}}`:                 `limit of 8`,
		`{"operation":"introspect","params":{"query":"operations","name":"get_cube"}}`: `{"type":"string"}}}}}}`,
		`{"operation":"introspect","params":{"query":"operations"}}`:                   `"max_nesting_depth":8`,
	} {
		got := string(adapter.NewSession().Call(t.Context(), "mcp_aql", []byte(request)).JSON)
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s", request, got)
		}
	}
}

// REQ-NM-07: two operations of one name fail with both positions.
func TestMergeRefusesDuplicates(t *testing.T) {
	a, b := noteOperation("get_x", gen.Read, gen.Safe, nil), noteOperation("get_x", gen.Read, gen.Safe, nil)
	a.Source, b.Source = "a/a.go:3", "b/b.go:9"
	_, err := New(Merge(gen.NewRegistry([]gen.Handler{a}, noteTypes), gen.NewRegistry([]gen.Handler{b}, noteTypes)),
		Options{})
	if err == nil || !regexp.MustCompile(`get_x.*a/a\.go:3.*b/b\.go:9`).MatchString(err.Error()) {
		t.Errorf("error %v, want both positions", err)
	}
}
