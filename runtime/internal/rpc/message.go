// Package rpc reads JSON-RPC messages in one pass over their bytes, and writes the errors that answer what is none.
package rpc

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// Deepest is the nesting at which a message is refused. The MCP SDK has the same bound.
const Deepest = 1000

// Message is a JSON-RPC message. Its members are texts of JSON that share the memory of what they were read from,
// except Method. What the message does not have is empty.
type Message struct {
	ID     string // a string or an integer; empty also where it is null
	Key    string // ID without escapes: equal for equal ids
	Method string
	Params string
	Result string
	Error  string
	Call   Call // the members of Params

	request bool // there is a method
}

// Call has the members of params that a call of a tool and the cancellation of a request have.
type Call struct {
	Name      string // without escapes
	Arguments string
	Meta      Meta
	RequestID string // the Key of the request to be cancelled; empty also where the SDK could not read it
	Plain     bool   // Name and Meta have their types, and there is nothing but Name, Arguments and Meta
}

// Meta has the members of the metadata of a call that MCP defines. Others may be there.
type Meta struct {
	Version       string // of the protocol, without escapes
	ClientInfo    string
	Capabilities  string // of the client
	ProgressToken string // a string or a number
	TraceParent   string // without escapes; empty also where it is no string, as TraceState
	TraceState    string
}

// IsRequest reports whether the message is a request or, without an ID, a notification. It is a response otherwise.
func (m *Message) IsRequest() bool { return m.request }

// Parser reads messages. The zero value is ready to use.
type Parser struct {
	reader wire.Reader
	m      *Message
	id     problem // with the id
	first  problem // with the rest of the message
	noID   bool    // the id is null
	v2     bool    // the version of JSON-RPC is 2.0
}

// problem is what is wrong with a message that is JSON.
type problem string

// Parse reads a message from text, which must not change while m is in use. It checks that text is JSON, and what
// JSON-RPC says of a message; what params, result and error have to hold, others check. A member that stands twice is a
// fault: of two readers, one might take the first for the message and the other the last.
func (p *Parser) Parse(text []byte, m *Message) *Fault {
	r := &p.reader
	r.ResetTolerant(text, wire.Limits{MaxDepth: Deepest - 1})
	*m = Message{}
	p.m, p.id, p.first, p.noID, p.v2 = m, "", "", false, false
	switch r.Kind() {
	case "object":
		p.readMessage()
	case "array":
		r.Span()
		p.note("the message is a JSON array; send each message by itself, as a JSON object")
	default:
		r.Span()
		p.note("the message is not a JSON object")
	}
	r.End()
	fault := p.fault()
	p.m = nil
	r.ResetTolerant(nil, wire.Limits{}) // a parser that waits keeps no text alive
	return fault
}

// ParseBatch reads the messages of a batch, of no more than so many, into m, and calls each after each. What is no
// message is the fault of the batch.
func (p *Parser) ParseBatch(text []byte, most int, m *Message, each func()) *Fault {
	var r wire.Reader
	r.ResetTolerant(text, wire.Limits{MaxDepth: Deepest})
	var elements [][]byte
	for r.Array(); r.NextElement(); {
		if len(elements) == most {
			return invalid("", problem(fmt.Sprintf("the batch has more than %d messages", most)))
		}
		length := len(r.Span())
		elements = append(elements, text[r.Offset()-length:r.Offset()])
	}
	r.End()
	switch {
	case r.Fault() != nil:
		return p.Parse(text, m) // says what is wrong with it
	case len(elements) == 0:
		return invalid("", "the batch is empty")
	}
	for _, element := range elements {
		if fault := p.Parse(element, m); fault != nil {
			return fault
		}
		each()
	}
	return nil
}

// note remembers the first problem.
func (p *Parser) note(what problem) {
	if p.first == "" {
		p.first = what
	}
}

// The members of a message, or of params, as bits of a set.
const (
	first = 1 << iota
	second
	third
	fourth
	fifth
	sixth
)

// once reports a member that is already in the set, and adds it.
func (p *Parser) once(set *uint8, member uint8) {
	if *set&member != 0 {
		p.note("a member of the message stands twice")
	}
	*set |= member
}

func (p *Parser) readMessage() {
	r, m := &p.reader, p.m
	var seen uint8
	for r.Object(); r.NextUnchecked(); {
		switch r.Name() {
		case "jsonrpc":
			p.once(&seen, first)
			version, ok := p.text()
			p.v2 = ok && version == "2.0"
		case "id":
			p.once(&seen, second)
			if m.ID, m.Key = p.identifier(); m.ID == "" {
				p.id = "the id is neither a string nor an integer below 2^53"
			} else if m.ID == "null" {
				m.ID, m.Key, p.noID = "", "", true
			}
		case "method":
			p.once(&seen, third)
			kind := r.Kind()
			if m.Method, m.request = p.text(); !m.request && kind != "null" {
				p.note("member 'method' is not a string")
			}
		case "params":
			p.once(&seen, fourth)
			p.readParams()
		case "result":
			p.once(&seen, fifth)
			m.Result = r.Span()
		case "error":
			p.once(&seen, sixth)
			kind := r.Kind()
			if m.Error = r.Span(); kind == "null" {
				m.Error = ""
			} else if kind != "object" {
				p.note("member 'error' is not an object")
			}
		default:
			r.Span()
		}
	}
}

func (p *Parser) readParams() {
	r, m := &p.reader, p.m
	if r.Kind() != "object" {
		m.Params = r.Span()
		return
	}
	call := &m.Call
	call.Plain = true
	var seen uint8
	cancels := true // as far as the members of a cancellation have their types
	start := r.Offset()
	for r.Object(); r.NextUnchecked(); {
		switch r.Name() {
		case "name":
			p.once(&seen, first)
			var isText bool
			call.Name, isText = p.text()
			call.Plain = call.Plain && isText
		case "arguments":
			p.once(&seen, second)
			call.Arguments = r.Span()
		case "_meta":
			p.once(&seen, third)
			kind := r.Kind()
			cancels = cancels && (kind == "object" || kind == "null")
			call.Plain = p.readMeta() && call.Plain
		case "requestId":
			p.once(&seen, fourth)
			call.Plain = false
			call.RequestID = p.reference()
		case "reason":
			kind := r.Kind()
			cancels = cancels && (kind == "string" || kind == "null")
			call.Plain = false
			r.Span()
		default:
			call.Plain = false
			r.Span()
		}
	}
	call.Plain = call.Plain && seen&first != 0
	if !cancels {
		call.RequestID = ""
	}
	m.Params = r.Text(start, r.Offset())
}

// readMeta reads the metadata of a call. It returns false where that is not an object, or a member has another type
// than it should or stands twice.
func (p *Parser) readMeta() bool {
	r, meta := &p.reader, &p.m.Call.Meta
	if r.Kind() != "object" {
		r.Span()
		return false
	}
	plain := true
	member := func(text *string, typed bool) {
		plain = plain && typed && *text == ""
		*text = r.Span()
	}
	for r.Object(); r.NextUnchecked(); {
		switch r.Name() {
		case "io.modelcontextprotocol/protocolVersion":
			version, typed := p.text()
			plain = plain && typed && version != "" && meta.Version == ""
			meta.Version = version
		case "io.modelcontextprotocol/clientInfo":
			member(&meta.ClientInfo, r.Kind() == "object")
		case "io.modelcontextprotocol/clientCapabilities":
			member(&meta.Capabilities, r.Kind() == "object")
		case "progressToken":
			member(&meta.ProgressToken, r.Kind() == "string" || r.Kind() == "number")
			plain = plain && utf8.ValidString(meta.ProgressToken)
		case "traceparent":
			plain = p.readOnce(&meta.TraceParent) && plain
		case "tracestate":
			plain = p.readOnce(&meta.TraceState) && plain
		default:
			r.Span()
		}
	}
	return plain
}

// readOnce reads a string, or passes over another value. It returns false where the string was read before.
func (p *Parser) readOnce(into *string) bool {
	before := *into
	*into, _ = p.text()
	return before == ""
}

// text reads a string, or passes over another value.
func (p *Parser) text() (string, bool) {
	if p.reader.Kind() != "string" {
		p.reader.Span()
		return "", false
	}
	return p.reader.String()
}

// largestID is the largest integer that every implementation of JSON holds exactly.
const largestID = 1<<53 - 1

// identifier reads an id: its text, and the key that is equal for equal ids. It returns nothing for what is no id.
func (p *Parser) identifier() (text, key string) {
	r := &p.reader
	switch r.Kind() {
	case "string":
		start := r.Offset()
		key, ok := r.String()
		text := r.Text(start, r.Offset())
		if !ok || !utf8.ValidString(text) {
			return "", ""
		}
		if strings.IndexByte(text, '\\') < 0 {
			return text, text
		}
		return text, `"` + key + `"`
	case "number":
		text := r.Span()
		n, err := strconv.ParseInt(text, 10, 64)
		switch {
		case err != nil, n > largestID, n < -largestID:
			return "", ""
		case n == 0: // which may have a sign
			return text, "0"
		}
		return text, text
	case "null":
		text := r.Span()
		return text, text
	default:
		r.Span()
		return "", ""
	}
}

// reference reads the id of another request, and returns its key. An integer may be spelled as any number, which the
// SDK rounds towards zero.
func (p *Parser) reference() string {
	if p.reader.Kind() != "number" {
		_, key := p.identifier()
		return key
	}
	number, err := strconv.ParseFloat(p.reader.Span(), 64)
	if err != nil {
		return ""
	}
	return strconv.FormatInt(int64(number), 10)
}

// SDKID returns the id as the MCP SDK holds it: a string, a float64, or nil.
func (m *Message) SDKID() any {
	if m.Key == "" {
		return nil
	}
	if m.Key[0] == '"' {
		return strings.Clone(m.Key[1 : len(m.Key)-1])
	}
	number, _ := strconv.ParseFloat(m.Key, 64) //nolint:errcheck // it is an integer
	return number
}
