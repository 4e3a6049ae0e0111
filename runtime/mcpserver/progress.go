package mcpserver

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/internal/rpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// progressToken returns the token with which a client asks for progress; nil: it does not. It is in the metadata of the
// MCP request, or else in that of the arguments (MCP-AQL MCP integration §5.2).
func progressToken(params *mcp.CallToolParamsRaw) any {
	if token := params.GetProgressToken(); token != nil {
		return token
	}
	if token := tokenIn(params.Arguments); token != nil {
		return token
	}
	return nil
}

// tokenOf returns the token with which the client of a call asks for progress, as it spelled it; nil: it does not.
func tokenOf(call *rpc.Call) json.RawMessage {
	if token := call.Meta.ProgressToken; token != "" {
		return json.RawMessage(token)
	}
	return tokenIn(bytesOf(call.Arguments))
}

// tokenIn returns the token in the metadata of arguments; nil: there is none.
func tokenIn(arguments []byte) json.RawMessage {
	if !bytes.Contains(arguments, []byte(`"progressToken"`)) {
		return nil
	}
	var members struct {
		Meta struct {
			ProgressToken json.RawMessage `json:"progressToken"`
		} `json:"_meta"`
	}
	if json.Unmarshal(arguments, &members) != nil {
		return nil // the adapter refuses what is not JSON, and ignores metadata of another form
	}
	switch token := members.Meta.ProgressToken; {
	case len(token) == 0:
		return nil
	case token[0] == '"', token[0] == '-', token[0] >= '0' && token[0] <= '9':
		return token // as the client spelled it
	default:
		return nil
	}
}

// reportInterval is the time between two reports of a call, but for the last one.
const reportInterval = time.Second / 10

// lastReports is how long a call waits for the client to take in its last report.
const lastReports = time.Second / 4

// notifier sends the progress of one call to its client, at most ten reports a second. A client that does not read
// holds up nothing: it misses reports. They are sent one by one, outside of the call.
type notifier struct {
	send    func(context.Context, aql.Progress) error
	ctx     context.Context // of the call
	log     *slog.Logger
	wait    time.Duration     // at the end, for the last report
	reports chan aql.Progress // the newest that is not sent yet; nil: there was none
	last    chan struct{}     // closed when no more reports come
	done    chan struct{}     // closed when nothing is sent any more
	cancel  context.CancelFunc
}

// report sends a report, in place of one that is not sent yet.
func (n *notifier) report(p aql.Progress) {
	if n.reports == nil {
		n.reports, n.last, n.done = make(chan aql.Progress, 1), make(chan struct{}), make(chan struct{})
		n.ctx, n.cancel = context.WithCancel(n.ctx)
		go n.run()
	}
	for {
		select {
		case n.reports <- p:
			return
		default:
		}
		select {
		case <-n.reports:
		default:
		}
	}
}

func (n *notifier) run() {
	defer close(n.done)
	for p := range n.reports {
		if err := n.send(n.ctx, p); err != nil {
			n.log.LogAttrs(n.ctx, slog.LevelDebug, "reporting progress", slog.Any("error", err))
		}
		select {
		case <-time.After(reportInterval):
		case <-n.last:
		}
	}
}

// end waits until the last report is sent, but not long: none may follow the answer (MCP).
func (n *notifier) end() {
	if n.reports == nil {
		return
	}
	defer n.cancel()
	close(n.reports)
	close(n.last)
	timeout := time.NewTimer(n.wait)
	defer timeout.Stop()
	select {
	case <-n.done:
	case <-timeout.C:
	}
}

// notify returns the notifier of a call whose client gave a token (MCP-AQL MCP integration §5.1).
func (s *Server) notify(ctx context.Context, session *mcp.ServerSession, token any) *notifier {
	send := func(ctx context.Context, p aql.Progress) error {
		return session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
			ProgressToken: token, Progress: p.Done, Total: p.Total, Message: p.Message,
		})
	}
	return s.notifier(ctx, send)
}

// notifier returns a notifier that sends in a way of its own.
func (s *Server) notifier(ctx context.Context, send func(context.Context, aql.Progress) error) *notifier {
	return &notifier{send: send, ctx: ctx, log: s.log, wait: s.lastReports}
}
