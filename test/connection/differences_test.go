package connection

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// codes of JSON-RPC.
const (
	parseError     = -32700
	invalidRequest = -32600
)

// difference is a row of the table of what our server does in another way than a plain one, on purpose.
type difference struct {
	name, reason string
	// example is a line to which the row applies. A test sends it to both and expects that they differ.
	example string
	// apply returns what a plain server is sent in place of a line, "" for nothing, and what our server answers in
	// addition to what the plain one does.
	apply func(line string, p *plain) (instead string, answers []string, applies bool)
}

// byMiddleware is apply of a row for which the plain server has a middleware, see newTheirs.
func byMiddleware(line string, _ *plain) (string, []string, bool) { return line, nil, false }

// plain is what is known of the session with the plain server.
type plain struct {
	endsSession func(line string) bool
	// waits reports whether a request with an id is not answered yet.
	waits func(id string) bool
}

// refusing is a row for lines that our server refuses.
func refusing(code int, applies func(line string, m message) bool) func(string, *plain) (string, []string, bool) {
	return func(line string, _ *plain) (string, []string, bool) {
		m, ok := messageOf(line)
		if !ok || !applies(line, m) {
			return line, nil, false
		}
		return "", []string{refused(code)}, true
	}
}

// sessionless is the metadata of a request without a session.
const sessionless = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientCapabilities":{}}`

// waiting is a call that is not answered.
const waiting = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"mcp_aql_execute","arguments":` +
	`{"operation":"wait_thing","params":{"id":"w"}},"_meta":` + sessionless + `}}`

// onStdio is the table for stdio. Rows are applied one after the other.
var onStdio = []difference{
	{
		name:    "blanks around a message",
		reason:  "MCP ends a message at the end of its line; the SDK ends the session at the blank",
		example: `{"jsonrpc":"2.0","id":1,"method":"ping"} `,
		apply: func(line string, _ *plain) (string, []string, bool) {
			trimmed := strings.Trim(line, " \t\r\n")
			return trimmed, nil, trimmed != line
		},
	},
	{
		name:    "a message that is too long",
		reason:  "the SDK ends the session",
		example: `{"jsonrpc":"2.0","id":1,"method":"` + strings.Repeat("x", maxLine) + `"}`,
		apply: func(line string, _ *plain) (string, []string, bool) {
			return "", []string{refused(invalidRequest)}, len(line) >= maxLine
		},
	},
	{
		name:    "a batch",
		reason:  "batches were removed in version 2025-06-18; our server refuses them in older versions too",
		example: `[{"jsonrpc":"2.0","id":1,"method":"ping"}]`,
		apply: func(line string, _ *plain) (string, []string, bool) {
			return "", []string{refused(invalidRequest)}, strings.HasPrefix(line, "[") && json.Valid([]byte(line))
		},
	},
	{
		name:    "a method of what is not declared",
		reason:  "the SDK answers logging/setLevel though the server does not declare that it logs",
		example: `{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}`,
		apply:   byMiddleware,
	},
	{
		name:    "params of another form",
		reason:  "the SDK repeats them, and names Go types",
		example: `{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{"cursor":5,"_meta":` + sessionless + `}}`,
		apply:   byMiddleware,
	},
	{
		name:    "resources of the adapter",
		reason:  "our server shows the reference page and the manifest to people as resources",
		example: `{"jsonrpc":"2.0","id":1,"method":"resources/list","params":{"_meta":` + sessionless + `}}`,
		apply:   byMiddleware,
	},
	{
		name:    "a member that stands twice",
		reason:  "of two readers one might take the first for the message, and the other the last, as the SDK does",
		example: `{"jsonrpc":"2.0","id":1,"method":"ping","id":2}`,
		apply: refusing(invalidRequest, func(line string, _ message) bool {
			return repeats(line, "jsonrpc", "id", "method", "params", "result", "error")
		}),
	},
	{
		name:    "an id that is not UTF-8",
		reason:  "the SDK answers with another id",
		example: "{\"jsonrpc\":\"2.0\",\"id\":\"\xff\",\"method\":\"ping\"}",
		apply:   refusing(invalidRequest, func(_ string, m message) bool { return !utf8.ValidString(m.id) }),
	},
	{
		name:    "the id of a request that is not answered yet",
		reason:  "the SDK never answers the second request",
		example: waiting + "\n" + waiting,
		apply: func(line string, p *plain) (string, []string, bool) {
			m, ok := messageOf(line)
			return "", []string{refused(invalidRequest)}, ok && m.method != "" && p.waits(m.id)
		},
	},
	{
		name:    "nesting",
		reason:  "our server refuses a message as deep as 1000, the SDK ends the session at one that is deeper",
		example: `{"jsonrpc":"2.0","id":1,"method":"ping","params":` + nested(999) + `}`,
		apply: func(line string, _ *plain) (string, []string, bool) {
			return "", []string{refused(invalidRequest)}, strings.HasPrefix(line, "{") && depth([]byte(line)) >= 1000
		},
	},
	{
		name:    "a response without an id",
		reason:  "it answers nothing that was asked; ours drops it, the SDK ends the session",
		example: `{"jsonrpc":"2.0","id":null,"result":{}}`,
		apply: func(line string, _ *plain) (string, []string, bool) {
			m, ok := messageOf(line)
			failed := strings.HasPrefix(m.problem, "{")
			answers := failed || m.result != "" && (m.problem == "" || m.problem == "null")
			return "", nil, ok && m.version == `"2.0"` && (m.method == "" || m.method == "null") &&
				(m.id == "" || m.id == "null") && answers
		},
	},
	{
		name:    "what is no message",
		reason:  "one bad line ends the session with the SDK; ours answers it with an error, and the session goes on",
		example: `{"jsonrpc":"1.0","id":1,"method":"ping"}`,
		apply: func(line string, p *plain) (string, []string, bool) {
			if line == "" || isPlain(line) || !p.endsSession(line) {
				return line, nil, false
			}
			if !json.Valid([]byte(line)) {
				return "", []string{refused(parseError)}, true
			}
			return "", []string{refused(invalidRequest)}, true
		},
	},
	{
		name:    "an id that is no integer",
		reason:  "the SDK answers 1.5 with id 1, so the client takes the answer for that to another request",
		example: `{"jsonrpc":"2.0","id":1.5,"method":"ping"}`,
		apply: refusing(invalidRequest, func(_ string, m message) bool {
			return len(m.id) > 0 && strings.Contains("-0123456789", m.id[:1]) && strings.ContainsAny(m.id, ".eE")
		}),
	},
	{
		name:    "an id beyond 2^53",
		reason:  "the SDK answers with a rounded id",
		example: `{"jsonrpc":"2.0","id":9007199254740993,"method":"ping"}`,
		apply: refusing(invalidRequest, func(_ string, m message) bool {
			n, err := strconv.ParseInt(m.id, 10, 64)
			return m.number() && (err != nil || n >= 1<<53 || n <= -1<<53)
		}),
	},
	{
		name:    "a request whose id is null",
		reason:  "MCP forbids it; the SDK takes the request for a notification, which it never answers",
		example: `{"jsonrpc":"2.0","id":null,"method":"ping"}`,
		apply: refusing(invalidRequest, func(_ string, m message) bool {
			var method string
			isText := json.Unmarshal([]byte(m.method), &method) == nil && m.method != "null"
			return m.id == "null" && isText && !strings.HasPrefix(method, "notifications/")
		}),
	},
	{
		name:    "an error without a code of JSON-RPC",
		reason:  "the SDK answers a request before initialize, and a second initialize, with code 0",
		example: `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`,
		apply:   byMiddleware,
	},
	{
		name:    "parameters that are no object",
		reason:  "they are refused before the method is looked at",
		example: `{"jsonrpc":"2.0","id":1,"method":"ping","params":1}`,
		apply: refusing(invalidRequest, func(_ string, m message) bool {
			return m.params != "" && !strings.Contains("{[n", m.params[:1]) && strings.HasPrefix(m.method, `"`)
		}),
	},
	{
		name:    "a message without a method, a result and an error",
		reason:  "it is neither a request nor a response; the SDK ignores it, or takes null for a method",
		example: `{"jsonrpc":"2.0","id":1,"method":null}`,
		apply: refusing(invalidRequest, func(_ string, m message) bool {
			return (m.method == "" || m.method == "null") && m.result == "" && (m.problem == "" || m.problem == "null")
		}),
	},
}

// faultOf returns the code with which our server refuses a text that is no message, over HTTP as on stdio; 0: it is
// one.
func faultOf(text string) int {
	if strings.HasPrefix(text, "[") {
		return faultOfBatch(text)
	}
	if strings.HasPrefix(text, "{") && depth([]byte(text)) >= 1000 {
		return invalidRequest
	}
	if !json.Valid([]byte(text)) {
		return parseError
	}
	m, isObject := messageOf(text)
	version := ""
	if !isObject || json.Unmarshal([]byte(m.version), &version) != nil || version != "2.0" {
		return invalidRequest
	}
	for _, row := range onStdio {
		// Nothing ends a session over HTTP, and ids in flight are refused by both.
		p := &plain{endsSession: func(string) bool { return false }, waits: func(string) bool { return false }}
		_, answers, applies := row.apply(text, p)
		if applies && len(answers) > 0 && row.name != "a message that is too long" {
			return invalidRequest
		}
	}
	isText := func(member string) bool { return strings.HasPrefix(member, `"`) }
	switch {
	case m.id != "" && !isText(m.id) && !m.number() && m.id != "null",
		m.method != "" && m.method != "null" && !isText(m.method),
		m.problem != "" && m.problem != "null" && m.problem[0] != '{':
		return invalidRequest
	}
	return 0
}

// maxBatch is the number of messages that a batch may have over HTTP.
const maxBatch = 50

// faultOfBatch is faultOf for a batch, which over HTTP an older version of the protocol has.
func faultOfBatch(text string) int {
	var batch []json.RawMessage
	if json.Unmarshal([]byte(text), &batch) != nil {
		return parseError
	}
	if len(batch) == 0 || len(batch) > maxBatch {
		return invalidRequest
	}
	for _, element := range batch {
		if len(element) > 0 && element[0] == '[' {
			return invalidRequest
		}
		if code := faultOf(string(element)); code != 0 {
			return code
		}
	}
	return 0
}

// message is the members of a message as they are written, those that come last; "": it does not have the member.
type message struct{ version, id, method, params, result, problem string }

// number reports whether the id is one.
func (m message) number() bool { return m.id != "" && strings.Contains("-0123456789", m.id[:1]) }

func messageOf(line string) (message, bool) {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(line), &members) != nil {
		return message{}, false
	}
	of := func(name string) string { return string(members[name]) }
	return message{of("jsonrpc"), of("id"), of("method"), of("params"), of("result"), of("error")}, true
}

// depth returns the nesting of valid JSON.
func depth(text []byte) int {
	level, deepest := 0, 0
	for decoder := json.NewDecoder(bytes.NewReader(text)); ; {
		token, err := decoder.Token()
		if err != nil {
			return deepest
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			level++
			deepest = max(deepest, level)
		case json.Delim('}'), json.Delim(']'):
			level--
		}
	}
}

// isPlain reports whether nothing is odd about a message, so that no server ends a session at it.
func isPlain(line string) bool {
	m, ok := messageOf(line)
	if !ok || len(line) > 3000 || repeats(line) || m.result != "" || m.problem != "" || !strings.HasPrefix(m.method, `"`) {
		return false
	}
	if m.id != "" && m.id[0] != '"' {
		if _, err := strconv.Atoi(m.id); err != nil || len(m.id) > 15 {
			return false
		}
	}
	return m.version == `"2.0"` && (m.params == "" || m.params[0] == '{')
}

// repeats reports whether an object has two members of one name, of those names or, without names, of any.
func repeats(object string, names ...string) bool {
	decoder := json.NewDecoder(strings.NewReader(object))
	if first, err := decoder.Token(); err != nil || first != json.Delim('{') {
		return false
	}
	seen := make(map[string]bool)
	for decoder.More() {
		token, err := decoder.Token()
		name, isName := token.(string)
		if err != nil || !isName {
			return false
		}
		if seen[name] && (len(names) == 0 || slices.Contains(names, name)) {
			return true
		}
		seen[name] = true
		var value json.RawMessage
		if decoder.Decode(&value) != nil {
			return false
		}
		if name == "params" && repeats(string(value), "name", "arguments", "_meta", "requestId") {
			return true
		}
	}
	return false
}
