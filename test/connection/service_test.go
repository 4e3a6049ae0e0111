// Package connection compares our MCP server with a plain server of the official SDK that has the same tools: the same
// random conversations go into both, over stdio and over HTTP, in both eras of the protocol, and what they answer must
// be the same but for the rows of a table.
package connection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/mcpserver"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// thing is the request of every operation.
type thing struct{ ID string }

// gates hold the calls of wait_thing until they are released, by the id of the thing.
type gates struct {
	mu    sync.Mutex
	gates map[string]chan struct{}
}

func (g *gates) gate(id string) chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.gates == nil {
		g.gates = make(map[string]chan struct{})
	}
	if g.gates[id] == nil {
		g.gates[id] = make(chan struct{})
	}
	return g.gates[id]
}

// release lets the calls for a thing go on, those to come too.
func (g *gates) release(id string) {
	gate := g.gate(id)
	select {
	case <-gate:
	default:
		close(gate)
	}
}

// releaseAll lets all calls go on.
func (g *gates) releaseAll() {
	g.mu.Lock()
	ids := slices.Collect(maps.Keys(g.gates))
	g.mu.Unlock()
	for _, id := range ids {
		g.release(id)
	}
}

// newAdapter makes the adapter of a server: an operation that answers, and others that wait, fail, panic, report
// progress, answer much and need a confirmation.
func newAdapter(tb testing.TB, g *gates) *aql.Adapter {
	tb.Helper()
	operation := func(
		name string, category gen.Category, danger gen.Danger, run func(context.Context, string) (string, error),
	) gen.Handler {
		return gen.Handler{
			Name: name, Category: category, Danger: danger, Description: "Does it.",
			Params: []gen.Field{{Name: "id", Go: "ID", Type: "string"}}, Returns: "Text",
			Request: (*thing)(nil), Result: (*string)(nil),
			Call: func(ctx context.Context, _ []any, request any) (any, error) {
				return run(ctx, request.(*thing).ID)
			},
		}
	}
	answering := func(format string) func(context.Context, string) (string, error) {
		return func(_ context.Context, id string) (string, error) { return fmt.Sprintf(format, id), nil }
	}
	registry := gen.NewRegistry([]gen.Handler{
		operation("get_thing", gen.Read, gen.Safe, answering("got %s")),
		operation("print_thing", gen.Read, gen.Safe, func(_ context.Context, id string) (string, error) {
			return strings.Repeat("<"+id+">\u2028\"\\\n", 10_000), nil
		}),
		operation("delete_thing", gen.Delete, gen.Destructive, answering("deleted %s")),
		operation("fail_thing", gen.Execute, gen.Reversible, func(context.Context, string) (string, error) {
			return "", aql.NotFound("thing", "x")
		}),
		operation("panic_thing", gen.Execute, gen.Reversible, func(context.Context, string) (string, error) {
			panic("secret")
		}),
		operation("report_thing", gen.Execute, gen.Reversible, func(ctx context.Context, id string) (string, error) {
			for i := range 3 {
				time.Sleep(time.Second) // of the bubble
				aql.ReportProgress(ctx, i+1, 3, "part of the work")
			}
			return "reported " + id, nil
		}),
		operation("wait_thing", gen.Execute, gen.Reversible, func(ctx context.Context, id string) (string, error) {
			select {
			case <-g.gate(id):
				return "waited " + id, nil
			case <-ctx.Done():
				return "", ctx.Err()
			}
		}),
	}, []gen.WireType{{Name: "Text", Kind: gen.KindScalar}})
	adapter, err := aql.New(registry, aql.Options{Name: "things", Version: "1.0.0"})
	if err != nil {
		tb.Fatal(err)
	}
	return adapter
}

// own adds tools, a prompt and a resource that are no operations.
func own(server *mcp.Server) {
	schema := json.RawMessage(`{"type":"object"}`)
	says := func(text string) *mcp.CallToolResult {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
	}
	server.AddTool(&mcp.Tool{Name: "echo", InputSchema: schema},
		func(_ context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return says(string(request.Params.Arguments)), nil
		})
	server.AddTool(&mcp.Tool{Name: "ask", InputSchema: schema},
		func(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			answer, err := request.Session.Elicit(ctx, &mcp.ElicitParams{
				Message: "Sure?", RequestedSchema: json.RawMessage(`{"type":"object","properties":{}}`),
			})
			if err != nil {
				return nil, err
			}
			return says(answer.Action), nil
		})
	server.AddPrompt(&mcp.Prompt{Name: "summary"},
		func(context.Context, *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			return &mcp.GetPromptResult{Description: "Sums up"}, nil
		})
	server.AddResource(&mcp.Resource{URI: "things://all", Name: "all"},
		func(_ context.Context, request *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			contents := []*mcp.ResourceContents{{URI: request.Params.URI, Text: "all things"}}
			return &mcp.ReadResourceResult{Contents: contents}, nil
		})
}

// maxLine bounds a message on stdio, and maxBody one over HTTP. That of HTTP has a lower bound of the adapter's.
const maxLine = 200_000

// server is one of the two servers of a conversation.
type server interface {
	// stdio serves one client over a pair of streams.
	stdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error
	handler() (http.Handler, error)
	close()
	release(id string)
	releaseAll()
}

// ours is our server.
type ours struct {
	gates
	server *mcpserver.Server
}

func newOurs(tb testing.TB, elicit bool) *ours {
	tb.Helper()
	o := new(ours)
	o.server = mcpserver.New(newAdapter(tb, &o.gates), mcpserver.Options{
		Setup: own, Elicit: elicit, MaxLineBytes: maxLine, Instructions: "Be kind.",
	})
	return o
}

func (o *ours) stdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	return o.server.RunStdio(ctx, in, out)
}

func (o *ours) handler() (http.Handler, error) { return o.server.Handler() }
func (o *ours) close()                         { o.server.Close() }

// theirs is a server of the SDK that knows of us only the handlers of its tools.
type theirs struct {
	gates
	server   *mcp.Server
	adapter  *aql.Adapter
	attached *mcpserver.Attachment
	words    bool // errors in params are as ours
}

func newTheirs(tb testing.TB, elicit bool) *theirs {
	tb.Helper()
	t := newPlain(tb, elicit)
	t.words = true
	t.server.AddReceivingMiddleware(refuseUndeclared)
	t.addResources()
	return t
}

// addResources is the row of the table that says: the reference page and the manifest are resources.
func (t *theirs) addResources() {
	add := func(resource *mcp.Resource, read func(context.Context) ([]byte, error)) {
		t.server.AddResource(resource,
			func(ctx context.Context, _ *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
				text, err := read(ctx)
				return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
					{URI: resource.URI, MIMEType: resource.MIMEType, Text: string(text)},
				}}, err
			})
	}
	add(&mcp.Resource{
		URI: "mcp-aql://reference", Name: "reference", Title: "things reference", MIMEType: "text/markdown",
		Description: "All operations with their parameters, examples and failures, and all types.",
	}, t.adapter.ReferenceFor)
	add(&mcp.Resource{
		URI: "mcp-aql://manifest", Name: "manifest", Title: "things manifest", MIMEType: "application/json",
		Description: "The operations of the service and their parameters, as a declaration of capabilities.",
	}, t.adapter.ManifestFor)
}

// refuseUndeclared is the row of the table that says: what the server does not declare is no method. The SDK answers
// some of it with an empty result.
func refuseUndeclared(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (mcp.Result, error) {
		if method == "logging/setLevel" || method == "completion/complete" {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method '" + method + "' is not supported"}
		}
		return next(ctx, method, request)
	}
}

// newPlain makes a server without the middleware that makes it do one thing as ours does.
func newPlain(tb testing.TB, elicit bool) *theirs {
	tb.Helper()
	t := new(theirs)
	t.server = mcp.NewServer(&mcp.Implementation{Name: "things", Version: "1.0.0"}, &mcp.ServerOptions{
		Instructions: "Be kind.", Logger: slog.New(slog.DiscardHandler), Capabilities: &mcp.ServerCapabilities{},
	})
	own(t.server)
	t.adapter = newAdapter(tb, &t.gates)
	var err error
	t.attached, err = mcpserver.Attach(t.server, t.adapter, mcpserver.AttachOptions{Elicit: elicit})
	if err != nil {
		tb.Fatal(err)
	}
	return t
}

func (t *theirs) stdio(ctx context.Context, in io.ReadCloser, out io.WriteCloser) error {
	var transport mcp.Transport = &mcp.IOTransport{Reader: in, Writer: out, MaxLineLength: maxLine}
	if t.words {
		transport = ourWords{transport}
	}
	return t.server.Run(ctx, transport)
}

// ourWords is the row of the table that says: errors in params do not repeat them, name no Go types, and say what is
// missing.
type ourWords struct{ mcp.Transport }

func (w ourWords) Connect(ctx context.Context) (mcp.Connection, error) {
	connection, err := w.Transport.Connect(ctx)
	return wordedConnection{connection}, err
}

type wordedConnection struct{ mcp.Connection }

var handling = regexp.MustCompile(`^handling '(.*?)':.* unmarshaling `)

func (c wordedConnection) Write(ctx context.Context, m jsonrpc.Message) error {
	if response, ok := m.(*jsonrpc.Response); ok && response.Error != nil {
		m = inOurWords(response)
	}
	return c.Connection.Write(ctx, m)
}

// inOurWords returns a response with an error as we write it.
func inOurWords(response *jsonrpc.Response) *jsonrpc.Response {
	text := response.Error.Error()
	worded := jsonrpc.Error{Code: jsonrpc.CodeInvalidParams}
	var reported *jsonrpc.Error
	if method := handling.FindStringSubmatch(text); method != nil {
		worded.Message = "params of '" + method[1] + "' are not valid"
	} else if strings.HasPrefix(text, "json: ") { // of a cancellation
		worded.Message = "the params are not valid"
	} else if text == `unknown tool ""` { // of a call that names none
		worded.Message = "params of 'tools/call' are not valid: 'name' is missing, that of a tool of 'tools/list'"
	} else if !errors.As(response.Error, &reported) || reported.Code == 0 {
		worded.Message = text
		switch {
		case strings.Contains(text, "during session initialization"):
			worded.Code, worded.Message = invalidRequest, "the session has not begun; send 'initialize' first"
		case strings.HasPrefix(text, "duplicate "):
			worded.Code = invalidRequest
			worded.Message = "the session has begun already; 'initialize' is its first request, and only that"
		default:
			worded.Code = jsonrpc.CodeInternalError
		}
	}
	if worded.Message == "" {
		return response
	}
	return &jsonrpc.Response{ID: response.ID, Error: &worded}
}

func (t *theirs) handler() (http.Handler, error) {
	find := func(*http.Request) *mcp.Server { return t.server }
	options := mcp.StreamableHTTPOptions{
		Logger: slog.New(slog.DiscardHandler), SessionTimeout: 30 * time.Minute, PropagateRequestCancellation: true,
	}
	stateful := mcp.NewStreamableHTTPHandler(find, &options)
	options.Stateless = true
	stateless := mcp.NewStreamableHTTPHandler(find, &options)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Mcp-Protocol-Version") >= "2026-07-28" {
			stateless.ServeHTTP(w, r)
			return
		}
		stateful.ServeHTTP(w, r)
	}), nil
}

func (t *theirs) close() {
	for session := range t.server.Sessions() {
		session.Close()
	}
	t.attached.Close()
}
