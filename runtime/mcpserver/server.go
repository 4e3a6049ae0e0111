// Package mcpserver serves an aql.Adapter over MCP, with the official Go SDK: on stdio, over streamable HTTP, and over
// any other transport of the SDK. Most services call package serve, which adds flags and signals. A service with an
// HTTP server of its own mounts the handler:
//
//	server := mcpserver.New(adapter, mcpserver.Options{})
//	defer server.Close()
//	handler, err := server.Handler()
//	if err != nil {
//		return err
//	}
//	mux.Handle("/mcp", handler)
//
// The package passes requests and responses on as bytes; every decision about a request is the adapter's. It answers
// plain calls of the adapter's tools itself, and leaves everything else to the SDK.
package mcpserver

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/internal/rpc"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Options configures a server, and bounds what clients can make it hold. The zero value is a good choice, and a bound
// of zero or less is the default.
type Options struct {
	// MaxInFlight bounds the calls that run at the same time; default 256. Further calls are refused.
	MaxInFlight int
	// MaxInFlightPerCaller bounds those of one caller over HTTP; default a quarter of MaxInFlight.
	MaxInFlightPerCaller int
	// MaxBodyBytes bounds an HTTP request body; default, and at least, the adapter's request limit and 64 KiB for the
	// rest of the message.
	MaxBodyBytes int64
	// MaxBufferedBytes bounds the memory of all bodies and answers over HTTP together, but for 16 KiB of each request;
	// default 32 MiB, and at least 10 bodies. A caller has at most half of it. Where it is full, the requests that wait
	// longest for their clients give way, and others are refused.
	MaxBufferedBytes int
	// ClientTimeout bounds how long an HTTP client may take to send a body, and to read an answer, an event, or each MiB
	// of a long one; default 30 seconds.
	ClientTimeout time.Duration
	// MaxLineBytes bounds one message on stdio; default 16 MiB.
	MaxLineBytes int
	// DrainTimeout bounds how long after the end of its input RunStdio goes on, until running calls have ended and their
	// responses were read; default 5 seconds.
	DrainTimeout time.Duration
	// MaxSessions bounds the HTTP sessions that are open at the same time, and the callers whose state is held for the
	// sessionless protocol; default 1000. One more ends that of the caller with most sessions that is idle for longest.
	MaxSessions int
	// MaxSessionsPerCaller bounds the HTTP sessions of one caller; default a quarter of MaxSessions.
	MaxSessionsPerCaller int
	// Peer names who sends an HTTP request without a bearer token, for the bounds of one caller; nil: by the address, as
	// one caller for each IPv4 address and each IPv6 network of 64 bits. Behind a proxy, return the client's address from
	// the header that the proxy sets. Callers whose name is empty, and over Unix sockets and from this machine all, are
	// not told apart: only the bounds for all hold for them.
	Peer func(*http.Request) string
	// SessionTimeout ends HTTP sessions that are idle for so long; default 30 minutes. Below 0: they never end for that.
	SessionTimeout time.Duration
	// TrustedOrigins are the origins, such as https://console.example.com, whose web pages may call the server. Requests
	// from pages of other origins are refused.
	TrustedOrigins []string
	// AllowedHosts are the Host headers that are accepted; empty: any, but on a loopback address only loopback names.
	AllowedHosts []string
	// Bearer authenticates callers over HTTP; nil: they are anonymous.
	Bearer *Bearer
	// Elicit has the client ask a person before an operation that needs confirmation runs, in the same call (MCP
	// elicitation). Agents of clients that cannot ask get tokens; if the adapter's Confirmation.HumanOnly is set, their
	// requests wait in its Inbox, or are denied where it has none.
	Elicit bool
	// ApprovalURL returns the address of a page where people decide about an item of the adapter's inbox, by its ID;
	// empty: there is none, and a person may be asked in a form, as Elicit says. A client that can open one for its user
	// is referred there (MCP elicitation, URL mode), whether Elicit is set or not. The page says who decides: it must not
	// take the caller of the request for the user who opens it. nil: clients are referred nowhere.
	ApprovalURL func(approvalID string) string
	// Instructions are shown to the model when it connects; default Adapter.Instructions.
	Instructions string
	// Setup adds tools, resources, prompts and middleware of the service's own to the MCP server; it is called once, by
	// New. MaxInFlight, the recovery from panics and what holds for the transports hold for them, and aql.CallerOf tells
	// their handlers who calls. The adapter's gate, policy, limits and audit log know nothing of them. A tool with the
	// name of one of the adapter's is an error. Middleware may replace the caller with aql.WithCaller: the adapter then
	// judges calls, and with aql.Options.HideDenied lists tools, by the one whom it finds in the context. Middleware is to
	// be added here: what is added later does not see the calls of the adapter's tools.
	Setup func(*mcp.Server)
}

// Error codes of JSON-RPC: one for servers to define, and the standard's own.
const (
	codeBusy     = rpc.Busy
	codeInternal = rpc.InternalError
)

const internalError = "internal error"

// Server serves one adapter. It is safe for concurrent use.
type Server struct {
	adapter   *aql.Adapter
	options   Options
	mcp       *mcp.Server
	sessions  *sessions
	caller    func(context.Context, mcp.Request) (aql.Caller, error)
	seer      func(context.Context, mcp.Request) (aql.Caller, error) // who lists tools, in the middleware that hides some
	tooled    atomic.Bool                                            // the MCP server has the adapter's tools
	inFlight  *share                                                 // places for calls
	open      *share                                                 // places for HTTP requests in the SDK
	buffers   *buffers                                               // memory for bodies and answers over HTTP
	log       *slog.Logger
	tasks     bool // clients that know tasks get some
	referrals referrals
	err       error

	lastReports time.Duration // how long the end of a call waits for its last report of progress

	replies    sync.Map // *aql.Reply by the value of replyHeader
	middleware bool     // the service has middleware of its own, or may have
	receiver   uintptr  // of mcp, when New had made it
}

// New returns a server with the adapter's tools, and with what Options.Setup adds. What is wrong with them is the error
// of Err, Handler, Run and RunStdio.
func New(adapter *aql.Adapter, options Options) *Server {
	s := prepare(adapter, options)
	options = s.options
	capabilities := declared()
	if options.Setup != nil {
		capabilities = &mcp.ServerCapabilities{} // the SDK declares what there is: the service may add and remove it
	}
	s.tasks = s.hasTasks()
	if s.tasks {
		capabilities.AddExtension(tasksExtension, nil)
	}
	s.mcp = mcp.NewServer(&mcp.Implementation{Name: adapter.Name(), Version: adapter.Version()}, &mcp.ServerOptions{
		Instructions: cmp.Or(options.Instructions, adapter.Instructions()),
		Logger:       slog.New(warnings{s.log.Handler()}),
		Capabilities: capabilities,
	})
	s.mcp.AddReceivingMiddleware(s.onlyVisible) // within middleware of the service's own, which may replace the caller
	if s.tasks {
		s.addTasks()
	}
	s.addResources()
	if options.Setup != nil {
		before := receiver(s.mcp)
		options.Setup(s.mcp)
		s.middleware = before == 0 || receiver(s.mcp) != before
	}
	s.mcp.AddReceivingMiddleware(s.guard, s.onlyDeclared) // around it, since it may panic too
	if options.Setup != nil {
		s.err = checkNames(s.mcp, adapter)
	}
	s.addTools(s.mcp, s.call)
	s.receiver = receiver(s.mcp)
	return s
}

// bodies is how many of the longest bodies the memory for bodies and answers holds at least: one caller, who has a half
// of it, can send one that the SDK answers, and that is there 1+copies times then.
const bodies = 2 * (2 + copies)

// largestBody bounds MaxBodyBytes, so that no bound overflows that is made of it.
const largestBody = math.MaxInt / (2 * bodies)

// positive returns an option, or what stands for it where the author has set none.
func positive[T int | time.Duration](option, standard T) T {
	if option <= 0 {
		return standard
	}
	return option
}

// prepare returns a server without an MCP server.
func prepare(adapter *aql.Adapter, options Options) *Server {
	options.MaxInFlight = positive(options.MaxInFlight, 256)
	options.MaxInFlightPerCaller = positive(options.MaxInFlightPerCaller, (options.MaxInFlight+3)/4)
	options.MaxBodyBytes = max(options.MaxBodyBytes, int64(adapter.Limits().RequestSize)+64<<10)
	options.MaxBodyBytes = min(options.MaxBodyBytes, largestBody)
	options.MaxBufferedBytes = max(positive(options.MaxBufferedBytes, 32<<20), bodies*int(options.MaxBodyBytes))
	options.ClientTimeout = positive(options.ClientTimeout, 30*time.Second)
	options.MaxLineBytes = positive(options.MaxLineBytes, 16<<20)
	options.DrainTimeout = positive(options.DrainTimeout, 5*time.Second)
	options.MaxSessions = positive(options.MaxSessions, 1000)
	options.MaxSessionsPerCaller = positive(options.MaxSessionsPerCaller, (options.MaxSessions+3)/4)
	options.SessionTimeout = cmp.Or(options.SessionTimeout, 30*time.Minute)
	s := &Server{
		adapter: adapter, options: options, log: adapter.Logger(),
		sessions: newSessions(adapter, options.MaxSessions, options.MaxSessionsPerCaller),
		inFlight: newShare(options.MaxInFlight, options.MaxInFlightPerCaller),
		open: newShare(
			options.MaxSessions+options.MaxInFlight, options.MaxSessionsPerCaller+options.MaxInFlightPerCaller,
		),
		buffers:     newBuffers(options.MaxBufferedBytes),
		lastReports: lastReports,
	}
	s.sessions.idle = options.SessionTimeout
	s.caller = s.sessions.caller
	s.seer = func(ctx context.Context, _ mcp.Request) (aql.Caller, error) { return aql.CallerOf(ctx), nil }
	return s
}

// addTools adds the adapter's tools to an MCP server.
func (s *Server) addTools(server *mcp.Server, handler mcp.ToolHandler) {
	s.tooled.Store(true)
	for _, tool := range s.adapter.Tools() {
		server.AddTool(toolOf(&tool), handler)
	}
}

// toolOf returns a tool as the SDK has it.
func toolOf(tool *describe.Tool) *mcp.Tool {
	return &mcp.Tool{
		Name:        tool.Name,
		Title:       tool.Title,
		Description: tool.Description,
		InputSchema: tool.InputSchema,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: tool.ReadOnly, DestructiveHint: &tool.Destructive},
	}
}

// Err returns what is wrong with the tools that Options.Setup added: it says which have the name of one of the
// adapter's. The server then serves nothing.
func (s *Server) Err() error { return s.err }

// Run serves one connection over a transport until the client disconnects or ctx ends. The caller is taken for the
// owner of this process, as on stdio: do not use Run with a transport that others can reach.
func (s *Server) Run(ctx context.Context, transport mcp.Transport) error {
	if s.err != nil {
		return s.err
	}
	return s.mcp.Run(ctx, transport)
}

// Close ends all sessions. Their calls over HTTP go on, and are cancelled when their clients disconnect.
func (s *Server) Close() {
	s.sessions.drain()
	for session := range s.mcp.Sessions() {
		if err := session.Close(); err != nil {
			s.log.Debug("closing a session", slog.Any("error", err))
		}
	}
	s.sessions.close()
}

// warnings drops what the SDK logs below warnings, such as each connection.
type warnings struct{ slog.Handler }

func (h warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && h.Handler.Enabled(ctx, level)
}

// call passes the arguments of a tool call to the adapter as they are, byte for byte.
func (s *Server) call(ctx context.Context, request *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if token := progressToken(request.Params); token != nil {
		progress := s.notify(ctx, request.Session, token)
		defer progress.end()
		ctx = aql.WithProgress(ctx, progress.report)
	}
	if s.adapter.Observed() {
		ctx = withinSDK(ctx, request)
	}
	session := sessionOf(s.sessions, request, aql.CallerOf(ctx))
	ctx = s.pausing(withAnswer(ctx, request.Params), peerOf(ctx))
	reply := s.takeReply(request.Extra)
	if reply == nil {
		made := s.attempt(ctx, session, attempt{
			tool: request.Params.Name, arguments: request.Params.Arguments,
			asks: s.options.Elicit && elicits(request), refers: s.refers(request),
			answered: request.Params.RequestState != "", referred: answers(request),
		})
		reply = &made
	}
	if q := reply.Question; q != nil && q.Approval != "" && !answers(request) {
		if result := s.refer(ctx, request, q); result != nil {
			return result, nil
		}
	}
	leaveStarted(ctx, reply)
	if reply.Forged {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: forgedState}
	}
	// Older protocol versions allow one question in a call.
	asked := request.Params.RequestState != "" && request.ProtocolVersion() < sessionless
	if q := reply.Question; s.options.Elicit && q != nil && q.Approval == "" && !asked {
		if result := s.ask(ctx, session, request, q); result != nil {
			return result, nil
		}
	}
	return &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: string(reply.JSON)}},
		IsError: reply.IsError,
	}, nil
}

// unnamedTool is the message of a call that names no tool.
const unnamedTool = "params of 'tools/call' are not valid: 'name' is missing, that of a tool of 'tools/list'"

// guard wraps every method: it bounds the calls that run at the same time, recovers from panics, which neither the SDK
// nor net/http does everywhere, and says in the context who calls.
func (s *Server) guard(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, request mcp.Request) (result mcp.Result, err error) {
		switch method {
		case "tools/call", getTask, updateTask, cancelTask:
			peer := peerOf(ctx)
			if err := s.enter(peer); err != nil {
				return nil, err
			}
			defer s.leave(peer)
		}
		defer s.recovered(ctx, method, &err)
		caller, err := s.caller(ctx, request)
		if err != nil {
			return nil, err
		}
		if method == "initialize" {
			defer s.sessions.begun(ctx, request)
		}
		ctx = aql.WithCaller(ctx, caller)
		if call, ok := request.(*mcp.CallToolRequest); ok && call.Params.Name == "" {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: unnamedTool}
		}
		if method == "tools/call" {
			return apart(ctx, s, func() (mcp.Result, error) { return next(ctx, method, request) })
		}
		return next(ctx, method, request)
	}
}

// apart makes a call in a goroutine of its own, which its handler may end: the SDK would answer the call never.
func apart[T any](ctx context.Context, s *Server, call func() (T, error)) (result T, err error) {
	err = errInternal()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer s.recovered(ctx, "tools/call", &err)
		result, err = call()
	}()
	<-ended
	return result, err
}

// enter begins a call. It fails if as many run as may, of all or of the caller, who is not told apart without a name.
func (s *Server) enter(caller string) error {
	switch s.inFlight.take(caller) {
	case allTaken:
		message := fmt.Sprintf("the server is busy with %d calls; try again", s.options.MaxInFlight)
		return &jsonrpc.Error{Code: codeBusy, Message: message}
	case ownTaken:
		message := fmt.Sprintf("%d of your calls run; try again when one has ended", s.options.MaxInFlightPerCaller)
		return &jsonrpc.Error{Code: codeBusy, Message: message}
	default:
		return nil
	}
}

// leave ends a call.
func (s *Server) leave(caller string) { s.inFlight.give(caller) }

// pausing returns a context with which a call gives its place back while it waits for an execution.
func (s *Server) pausing(ctx context.Context, caller string) context.Context {
	if !s.adapter.Executes() {
		return ctx
	}
	return aql.WithPause(ctx, func() func() {
		s.leave(caller)
		return func() { s.inFlight.retake(caller) }
	})
}

// errInternal is the error of a fault whose cause is in the log alone.
func errInternal() error { return &jsonrpc.Error{Code: codeInternal, Message: internalError} }

// recovered, which is to be deferred, makes a panic the error of a method.
func (s *Server) recovered(ctx context.Context, method string, err *error) {
	if v := recover(); v != nil {
		s.log.LogAttrs(ctx, slog.LevelError, "panic", slog.String("method", method), slog.Any("value", v),
			slog.String("stack", string(debug.Stack())))
		*err = errInternal()
	}
}
