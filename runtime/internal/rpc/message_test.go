package rpc

import (
	"bytes"
	"encoding/json"
	"math"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"
	"weak"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

func parsed(t testing.TB, text string) (Message, *Fault) {
	t.Helper()
	var m Message
	fault := new(Parser).Parse([]byte(text), &m)
	return m, fault
}

// D8: what is no message is answered with the code and the id that JSON-RPC has for it.
func TestFaults(t *testing.T) {
	deep := strings.Repeat("[", 1000) + strings.Repeat("]", 1000)
	for _, tt := range []struct {
		name, text string
		code       int
		id         string
	}{
		{"garbage", `garbage`, ParseError, ""},
		{"cut off", `{"jsonrpc":"2.0",`, ParseError, ""},
		{"two values", `{"jsonrpc":"2.0","id":1,"method":"ping"}{}`, ParseError, ""},
		{"a control character in a string", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"p\x01\"}", ParseError, ""},
		{"malformed arguments", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":{a}}}`, ParseError, ""},
		{"a scalar", `7`, InvalidRequest, ""},
		{"a batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`, InvalidRequest, ""},
		{"a malformed batch", `[{"jsonrpc":"2.0","id":1,"method":"ping"]`, ParseError, ""},
		{"another version", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, InvalidRequest, "1"},
		{"a version that is a number", `{"jsonrpc":2.0,"id":1,"method":"ping"}`, InvalidRequest, "1"},
		{"no version", `{"id":1,"method":"ping"}`, InvalidRequest, "1"},
		{"no method", `{"jsonrpc":"2.0","id":"a"}`, InvalidRequest, `"a"`},
		{"a method that is null", `{"jsonrpc":"2.0","id":1,"method":null}`, InvalidRequest, "1"},
		{"a request with an id of null", `{"jsonrpc":"2.0","id":null,"method":"ping"}`, InvalidRequest, ""},
		{"a method that is no string", `{"jsonrpc":"2.0","id":1,"method":5}`, InvalidRequest, "1"},
		{"a fraction as id", `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`, InvalidRequest, ""},
		{"an exponent in the id", `{"jsonrpc":"2.0","id":1e2,"method":"ping"}`, InvalidRequest, ""},
		{"an object as id", `{"jsonrpc":"2.0","id":{},"method":"ping"}`, InvalidRequest, ""},
		{"an id that not all hold", `{"jsonrpc":"2.0","id":9007199254740992,"method":"ping"}`, InvalidRequest, ""},
		{"an id of too many digits", `{"jsonrpc":"2.0","id":12345678901234567890,"method":"ping"}`, InvalidRequest, ""},
		{"an error that is a number", `{"jsonrpc":"2.0","id":1,"method":"ping","error":1}`, InvalidRequest, "1"},
		{"an id that is not UTF-8", "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}", InvalidRequest, ""},
		{"params that are a string", `{"jsonrpc":"2.0","id":1,"method":"ping","params":"x"}`, InvalidRequest, "1"},
		{"two ids", `{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}`, InvalidRequest, "1"},
		{"two methods, one with escapes", `{"jsonrpc":"2.0","id":1,"method":"a","m\u0065thod":"b"}`, InvalidRequest, "1"},
		{"two names", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"name":"a","name":"b"}}`, InvalidRequest, "1"},
		{
			"two arguments", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"arguments":{},"arguments":{}}}`,
			InvalidRequest, "1",
		},
		{"nested too deeply", `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":` + deep + `}}`, InvalidRequest, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, fault := parsed(t, tt.text)
			if fault == nil || fault.Code != tt.code || fault.ID != tt.id {
				t.Fatalf("fault %+v, want code %d for id %q", fault, tt.code, tt.id)
			}
			var response struct {
				JSONRPC string
				ID      json.RawMessage
				Error   struct {
					Code    int
					Message string
				}
			}
			if err := json.Unmarshal(fault.Response(), &response); err != nil {
				t.Fatal(err)
			}
			id := tt.id
			if id == "" {
				id = "null"
			}
			if response.JSONRPC != "2.0" || string(response.ID) != id || response.Error.Code != tt.code ||
				response.Error.Message != fault.Message || fault.Message == "" {
				t.Errorf("response %s", fault.Response())
			}
		})
	}
}

// D1, D8: one pass finds the members of a message and of a call, in any order, with blanks, and leaves alone what
// others check.
func TestMessages(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       Message
		request    bool
	}{
		{
			"a call", `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"read","arguments":{"a":[1,{}]}}}`,
			Message{
				ID: "7", Key: "7", Method: "tools/call", Params: `{"name":"read","arguments":{"a":[1,{}]}}`,
				Call: Call{Name: "read", Arguments: `{"a":[1,{}]}`, Plain: true},
			}, true,
		},
		{
			"in another order, with metadata and blanks",
			" {\"params\" : {\"_meta\":{ \"x\":1 },\"name\":\"r\\u0065ad\" } ,\"method\":\"tools/call\",\"id\":\"a\"," +
				"\"jsonrpc\":\"2.0\"} \t\r",
			Message{
				ID: `"a"`, Key: `"a"`, Method: "tools/call", Params: `{"_meta":{ "x":1 },"name":"r\u0065ad" }`,
				Call: Call{Name: "read", Plain: true},
			}, true,
		},
		{
			"the metadata that MCP defines", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"name":"x","_meta":{` +
				`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x"},` +
				`"progressToken":"a","io.modelcontextprotocol/clientCapabilities":{ },"trace":1}}}`,
			Message{
				ID: "1", Key: "1", Method: "x", Params: `{"name":"x","_meta":{` +
					`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"x"},` +
					`"progressToken":"a","io.modelcontextprotocol/clientCapabilities":{ },"trace":1}}`,
				Call: Call{Name: "x", Plain: true, Meta: Meta{
					Version: "2026-07-28", ClientInfo: `{"name":"x"}`, Capabilities: "{ }", ProgressToken: `"a"`,
				}},
			}, true,
		},
		{
			"where the trace of a client is", `{"jsonrpc":"2.0","id":1,"method":"x","params":{"name":"x","_meta":{` +
				`"traceparent":"00-\u0061","tracestate":"b=1","baggage":"c=2"}}}`,
			Message{
				ID: "1", Key: "1", Method: "x",
				Params: `{"name":"x","_meta":{"traceparent":"00-\u0061","tracestate":"b=1","baggage":"c=2"}}`,
				Call:   Call{Name: "x", Plain: true, Meta: Meta{TraceParent: "00-a", TraceState: "b=1"}},
			}, true,
		},
		{
			"traces of another type",
			`{"jsonrpc":"2.0","id":1,"method":"x","params":{"name":"x","_meta":{"traceparent":1,"tracestate":[]}}}`,
			Message{
				ID: "1", Key: "1", Method: "x", Params: `{"name":"x","_meta":{"traceparent":1,"tracestate":[]}}`,
				Call: Call{Name: "x", Plain: true},
			}, true,
		},
		{
			"a trace that stands twice",
			`{"jsonrpc":"2.0","id":1,"method":"x","params":{"name":"x","_meta":{"traceparent":"a","traceparent":"b"}}}`,
			Message{
				ID: "1", Key: "1", Method: "x", Params: `{"name":"x","_meta":{"traceparent":"a","traceparent":"b"}}`,
				Call: Call{Name: "x", Meta: Meta{TraceParent: "b"}},
			}, true,
		},
		{
			"metadata of another type",
			`{"jsonrpc":"2.0","id":1,"method":"x","params":{"name":"x","_meta":{"progressToken":[]}}}`,
			Message{
				ID: "1", Key: "1", Method: "x", Params: `{"name":"x","_meta":{"progressToken":[]}}`,
				Call: Call{Name: "x", Meta: Meta{ProgressToken: "[]"}},
			}, true,
		},
		{
			"a member of params more", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","requestState":"s"}}`,
			Message{
				ID: "1", Key: "1", Method: "tools/call", Params: `{"name":"x","requestState":"s"}`, Call: Call{Name: "x"},
			}, true,
		},
		{
			"what the adapter refuses in arguments",
			"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":" +
				"{\"name\":\"x\",\"arguments\":{\"a\":\"\xff\\u0000\\ud800\",\"a\":1}}}",
			Message{
				ID: "1", Key: "1", Method: "x", Params: "{\"name\":\"x\",\"arguments\":{\"a\":\"\xff\\u0000\\ud800\",\"a\":1}}",
				Call: Call{Name: "x", Arguments: "{\"a\":\"\xff\\u0000\\ud800\",\"a\":1}", Plain: true},
			}, true,
		},
		{
			"an id with an escape", `{"jsonrpc":"2.0","id":"\u0061","method":"ping"}`,
			Message{ID: `"\u0061"`, Key: `"a"`, Method: "ping"}, true,
		},
		{"a notification", `{"jsonrpc":"2.0","method":"x"}`, Message{Method: "x"}, true},
		{
			"a notification with an id of null", `{"jsonrpc":"2.0","id":null,"method":"notifications/x"}`,
			Message{Method: "notifications/x"}, true,
		},
		{
			"a cancellation", `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"\u0061"}}`,
			Message{
				Method: "notifications/cancelled", Params: `{"requestId":"\u0061"}`, Call: Call{RequestID: `"a"`},
			}, true,
		},
		{
			"the cancellation of an integer in another spelling",
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6.0}}`,
			Message{Method: "notifications/cancelled", Params: `{"requestId":6.0}`, Call: Call{RequestID: "6"}}, true,
		},
		{
			"a token for progress that is not UTF-8",
			"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":{\"name\":\"x\",\"_meta\":{\"progressToken\":\"\xff\"}}}",
			Message{
				ID: "1", Key: "1", Method: "x", Params: "{\"name\":\"x\",\"_meta\":{\"progressToken\":\"\xff\"}}",
				Call: Call{Name: "x", Meta: Meta{ProgressToken: "\"\xff\""}},
			}, true,
		},
		{"params in a list", `{"jsonrpc":"2.0","id":1,"method":"x","params":[]}`,
			Message{ID: "1", Key: "1", Method: "x", Params: "[]"}, true},
		{
			"a response", `{"jsonrpc":"2.0","id":1,"result":{"a":1}}`,
			Message{ID: "1", Key: "1", Result: `{"a":1}`}, false,
		},
		{
			"an error", `{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"x"},"other":1}`,
			Message{Error: `{"code":-1,"message":"x"}`}, false,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, fault := parsed(t, tt.text)
			if fault != nil {
				t.Fatal(fault.Message)
			}
			if diff := cmp.Diff(tt.want, got, cmpopts.IgnoreUnexported(Message{})); diff != "" {
				t.Error(diff)
			}
			if got.IsRequest() != tt.request {
				t.Errorf("request: %v", got.IsRequest())
			}
		})
	}
}

// A parser takes no memory for a call.
func TestParseAllocates(t *testing.T) {
	text := []byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call",` +
		`"params":{"name":"read","arguments":{"a":[1,{}]},"_meta":{}}}`)
	var p Parser
	var m Message
	if n := testing.AllocsPerRun(100, func() { p.Parse(text, &m) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

// What Parse takes for a message, the SDK reads the same from the same bytes; what it refuses is no JSON, is ambiguous,
// or breaks a rule of JSON-RPC that the table above names. D8.
func FuzzMessage(f *testing.F) {
	for _, seed := range []string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":1},"_meta":{}}}`,
		`{"jsonrpc":"2.0","id":"a\"b","result":{}} `, `{"jsonrpc":"2.0","method":"x","params":null}`,
		`{"jsonrpc":"2.0","id":1e5,"method":"x"}`, "\xff", "[1]", "{}", `{"jsonrpc":"2.0","id":-0,"method":"\ud800"}`,
		`{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"m"}}`, "{\"jsonrpc\":\"2.0\",\"method\":\"\x8a\"}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var m Message
		fault := new(Parser).Parse(bytes.Clone(text), &m)
		if fault != nil {
			if fault.Code == ParseError && json.Valid(text) {
				t.Fatalf("%q is JSON, and refused: %s", text, fault.Message)
			}
			if !json.Valid(fault.Response()) {
				t.Fatalf("%q is answered with %q", text, fault.Response())
			}
			return
		}
		if !json.Valid(text) {
			t.Fatalf("%q is not JSON, and accepted", text)
		}
		message, err := jsonrpc.DecodeMessage(text)
		if err != nil {
			if m.Error == "" && (m.IsRequest() || m.ID != "") {
				t.Fatalf("%q is accepted; the SDK: %v", text, err)
			}
			return
		}
		id, err := jsonrpc.MakeID(m.SDKID())
		if err != nil {
			t.Fatal(err)
		}
		switch message := message.(type) {
		case *jsonrpc.Request:
			if !utf8.ValidString(m.Method) { // of which the SDK replaces bytes; there is no such method
				m.Method = message.Method
			}
			if !m.IsRequest() && m.Result == "" && m.Error == "" || m.IsRequest() && m.Method != message.Method ||
				id != message.ID || m.Params != string(message.Params) {
				t.Fatalf("%q\nhere %+v\nSDK  %+v", text, m, message)
			}
		case *jsonrpc.Response:
			if m.IsRequest() || id != message.ID || m.Result != string(message.Result) {
				t.Fatalf("%q\nhere %+v\nSDK  %+v", text, m, message)
			}
		}
		if number, ok := m.SDKID().(float64); ok && number != math.Trunc(number) {
			t.Fatalf("%q: id %v", text, number)
		}
	})
}

// A parser that waits for the next message keeps nothing of the last one alive.
func TestParserKeepsNoText(t *testing.T) {
	p := new(Parser)
	parse := func() weak.Pointer[byte] {
		text := []byte(`{"jsonrpc":"2.0","id":1,"method":"x","params":"` + strings.Repeat("x", 1<<16) + `"}`)
		p.Parse(text, new(Message))
		return weak.Make(&text[0])
	}
	text := parse()
	runtime.GC()
	if text.Value() != nil {
		t.Error("the text of the message is still in memory")
	}
	runtime.KeepAlive(p)
}

// The members of a cancellation have the types and the spelling that the SDK reads, or else it cancels nothing.
func TestCancellations(t *testing.T) {
	for _, tt := range []struct{ params, want string }{
		{`{"requestId":7}`, "7"},
		{`{"requestId":7,"reason":"x","_meta":{}}`, "7"},
		{`{"requestId":7,"reason":null,"_meta":null}`, "7"},
		{`{"requestId":7,"Reason":5,"_Meta":5}`, "7"},
		{`{"requestId":7,"reason":5}`, ""},
		{`{"reason":5,"requestId":7,"reason":"x"}`, ""},
		{`{"requestId":7,"_meta":5}`, ""},
		{`{"requestID":7}`, ""},
	} {
		m, fault := parsed(t, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":`+tt.params+`}`)
		if fault != nil || m.Call.RequestID != tt.want {
			t.Errorf("%s: %q, %v, want %q", tt.params, m.Call.RequestID, fault, tt.want)
		}
	}
}
