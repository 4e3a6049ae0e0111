package mcpserver

import (
	"context"
	"encoding/json"
	"errors"
	"unsafe"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/internal/rpc"
	"github.com/aqltag/aqltag/runtime/internal/wire"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// direct answers calls of the adapter's tools without the SDK, as s.call and what the SDK does around it would. A call
// of which that cannot be said goes to the SDK.
type direct struct {
	server *Server
	tools  map[string]bool
	info   string // this server, in the metadata of results
}

// newDirect returns what answers calls; nil: the SDK answers all of them, because the service has middleware that must
// see them.
func newDirect(s *Server) *direct {
	if s.middleware || receiver(s.mcp) != s.receiver {
		return nil
	}
	info, err := json.Marshal(&mcp.Implementation{Name: s.adapter.Name(), Version: s.adapter.Version()})
	if err != nil {
		return nil
	}
	d := &direct{server: s, tools: make(map[string]bool), info: string(info)}
	for _, tool := range s.adapter.Tools() {
		d.tools[tool.Name] = true
	}
	return d
}

// knows reports whether a message is a call of one of the adapter's tools, with nothing but a name, arguments and
// metadata.
func (d *direct) knows(m *rpc.Message) bool {
	return d != nil && m.Method == "tools/call" && m.Call.Plain && d.tools[m.Call.Name]
}

// sees reports whether a caller sees a tool: see aql.Options.HideDenied.
func (d *direct) sees(ctx context.Context, caller aql.Caller, tool string) bool {
	if !d.server.adapter.HidesDenied() {
		return true
	}
	tools := d.server.adapter.ToolsFor(aql.WithCaller(ctx, caller))
	for i := range tools {
		if tools[i].Name == tool {
			return true
		}
	}
	return false
}

// answer appends the response to a call of a session to buf. If the client is to ask a person first, it returns the
// reply that says so instead.
func (d *direct) answer(
	ctx context.Context, session *aql.Session, m *rpc.Message, client *client, buf []byte,
) (_ []byte, asks *aql.Reply, err error) {
	s := d.server
	defer s.recovered(ctx, "tools/call", &err)
	a := attempt{
		tool: m.Call.Name, arguments: bytesOf(m.Call.Arguments),
		asks: s.options.Elicit && client.elicits, refers: client.opens && s.options.ApprovalURL != nil,
	}
	reply := s.attempt(ctx, session, a)
	if reply.Question != nil && (a.asks || a.refers) {
		return buf, &reply, nil
	}
	buf = append(buf, `{"jsonrpc":"2.0","id":`...)
	buf = append(buf, m.ID...)
	if s.tasks && client.tasks && isTask(reply.Execution) {
		return d.appendStarted(buf, reply.Execution, client), nil, nil
	}
	buf = append(buf, `,"result":{"content":[{"type":"text","text":`...)
	var w wire.Writer
	w.Reset(buf)
	w.String(unsafe.String(unsafe.SliceData(reply.JSON), len(reply.JSON)))
	buf = append(w.Bytes(), `}]`...)
	if reply.IsError {
		buf = append(buf, `,"isError":true`...)
	}
	if client.sessionless {
		buf = append(buf, `,"resultType":"complete"`...)
		buf = d.appendMeta(buf)
	}
	return append(buf, `}}`...), nil, nil
}

// appendStarted appends the rest of a response: the task that a call has started.
func (d *direct) appendStarted(buf []byte, started *aql.Execution, client *client) []byte {
	buf = append(buf, `,"result":`...)
	buf = appendTask(buf, started, "task")
	if client.sessionless {
		buf = d.appendMeta(buf)
	}
	return append(buf, `}}`...)
}

// appendMeta appends the metadata of a result.
func (d *direct) appendMeta(buf []byte) []byte {
	buf = append(buf, `,"_meta":{"io.modelcontextprotocol/serverInfo":`...)
	buf = append(buf, d.info...)
	return append(buf, '}')
}

// appendError appends the response to a request that failed.
func appendError(buf []byte, id string, err error) []byte {
	reported := &jsonrpc.Error{Code: codeInternal, Message: internalError}
	_ = errors.As(err, &reported) // another one is not for clients
	return rpc.AppendError(buf, id, int(reported.Code), reported.Message)
}

// bytesOf returns the bytes of a text, which must not be changed.
func bytesOf(text string) []byte { return unsafe.Slice(unsafe.StringData(text), len(text)) }
