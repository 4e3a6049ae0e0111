package rpc

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// JSON-RPC's own error codes, and the one that servers define for a call that they have no place for.
const (
	ParseError     = -32700
	InvalidRequest = -32600
	InternalError  = -32603
	Busy           = -32000
)

// Fault is why a text is not a message.
type Fault struct {
	Code    int
	ID      string // of the message, if it has one
	Message string
}

// TooLong is the fault of a message of more than so many bytes.
func TooLong(limit int) *Fault {
	return &Fault{Code: InvalidRequest, Message: fmt.Sprintf("the message is longer than %d bytes", limit)}
}

// Response returns the response that reports the fault.
func (f *Fault) Response() []byte { return AppendError(nil, f.ID, f.Code, f.Message) }

// AppendError appends the response to the request with an id that reports an error. The id may be empty.
func AppendError(buf []byte, id string, code int, message string) []byte {
	if id == "" {
		id = "null"
	}
	buf = append(buf, `{"jsonrpc":"2.0","id":`...)
	buf = append(buf, id...)
	buf = append(buf, `,"error":{"code":`...)
	buf = strconv.AppendInt(buf, int64(code), 10)
	buf = append(buf, `,"message":`...)
	var w wire.Writer
	w.Reset(buf)
	w.String(message)
	return append(w.Bytes(), `}}`...)
}

// fault returns what is wrong with the text that was read; nil: it is a message.
func (p *Parser) fault() *Fault {
	m := p.m
	if f := p.reader.Fault(); f != nil {
		if f.Kind == wire.TooDeep {
			return invalid("", problem(fmt.Sprintf("the message is nested deeper than %d levels", Deepest)))
		}
		return &Fault{Code: ParseError, Message: "the message is not one JSON value"}
	}
	switch {
	case p.id != "":
		return invalid("", p.id)
	case p.first != "":
		return invalid(m.ID, p.first)
	case !p.v2:
		return invalid(m.ID, "member 'jsonrpc' is not '2.0'")
	case !m.request && m.Result == "" && m.Error == "":
		return invalid(m.ID, "member 'method' is not a string")
	case m.request && m.Params != "" && m.Params[0] != '{' && m.Params[0] != '[' && m.Params != "null":
		return invalid(m.ID, "member 'params' is not an object")
	case m.request && p.noID && !strings.HasPrefix(m.Method, notifications):
		return invalid("", "the id of a request is null; send a string or an integer, and get an answer with that id")
	}
	return nil
}

// notifications begins the methods of MCP that have no answer. Clients that write members without a value as null have
// an id of null in them.
const notifications = "notifications/"

func invalid(id string, what problem) *Fault {
	return &Fault{Code: InvalidRequest, ID: id, Message: string(what)}
}
