package mcpserver

import (
	"context"
	"log/slog"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// AttachOptions configures an Attachment. The zero value is a good choice for a server whose callers need not be told
// apart.
type AttachOptions struct {
	// Caller returns who sends a request, as the service has verified it. A request for which it fails is refused. nil:
	// the caller is the UserID of the SDK's token information, with its scopes; without that it is anonymous, also on
	// stdio. Requests are calls of the adapter's tools and, with aql.Options.HideDenied, all calls and lists of tools;
	// for these, what middleware adds to ctx is there only if that was added to the server after Attach.
	Caller func(ctx context.Context, request mcp.Request) (aql.Caller, error)
	// MaxInFlight bounds the adapter's calls that run at the same time; default 256. Further ones are refused.
	MaxInFlight int
	// MaxSessions bounds the callers whose state is held for the sessionless protocol; default 1000.
	MaxSessions int
	// Elicit has the client ask a person before an operation that needs confirmation runs, as Options.Elicit does.
	Elicit bool
}

// Attachment is an adapter on an MCP server that a service already has.
type Attachment struct{ server *Server } // without an MCP server

// Attach adds an adapter's tools to an MCP server that a service already has, with tools, middleware and transports of
// its own. It fails if the server has a tool with the name of one of the adapter's; it lists them over a connection in
// memory, so middleware that lets no such connection list tools is to be added afterwards. A tool of that name that is
// added later replaces the adapter's.
//
// What an adapter does holds: validation, gate, policy, confirmations, limits and the audit log, and the tools recover
// from panics. What a Server does for its transports is up to the service: authentication, allowed hosts and origins,
// limits on bodies, lines and sessions, and answers to lines that are no messages.
//
// A session of the adapter is a connection of the server, or over HTTP without sessions a caller. So all requests have
// to reach one server: a server made for each request would know no confirmation token of the request before.
func Attach(server *mcp.Server, adapter *aql.Adapter, options AttachOptions) (*Attachment, error) {
	if err := checkNames(server, adapter); err != nil {
		return nil, err
	}
	identify := options.Caller
	if identify == nil {
		identify = tokenOwner
	}
	s := prepare(adapter, Options{
		MaxInFlight: options.MaxInFlight, MaxSessions: options.MaxSessions, Elicit: options.Elicit,
	})
	s.caller = func(ctx context.Context, request mcp.Request) (caller aql.Caller, err error) {
		defer s.recovered(ctx, "identifying the caller", &err)
		if caller, err = identify(ctx, request); err != nil {
			s.log.LogAttrs(ctx, slog.LevelWarn, "a request was refused, whose caller is not known", slog.Any("error", err))
			const message = "the caller cannot be identified now; try again later"
			return aql.Caller{}, &jsonrpc.Error{Code: codeInternal, Message: message}
		}
		return caller, nil
	}
	s.seer = s.caller
	a := &Attachment{s}
	if adapter.HidesDenied() {
		server.AddReceivingMiddleware(s.onlyVisible)
	}
	s.addTools(server, a.call)
	return a, nil
}

// Close ends the adapter's sessions, and with them the confirmation tokens that only they can use. The server keeps the
// tools; calls begin new sessions.
func (a *Attachment) Close() { a.server.sessions.close() }

// call passes a tool call to the adapter, with what the receiving middleware of a Server does for it.
func (a *Attachment) call(ctx context.Context, request *mcp.CallToolRequest) (result *mcp.CallToolResult, err error) {
	s := a.server
	if err := s.enter(""); err != nil {
		return nil, err
	}
	defer s.leave("")
	defer s.recovered(ctx, "tools/call", &err)
	caller, err := s.caller(ctx, request)
	if err != nil {
		return nil, err
	}
	return s.call(aql.WithCaller(ctx, caller), request)
}

// tokenOwner returns the owner of the token with which a request came.
//
//nolint:unparam // it has the type of AttachOptions.Caller
func tokenOwner(_ context.Context, request mcp.Request) (aql.Caller, error) {
	extra := request.GetExtra()
	if extra == nil || extra.TokenInfo == nil {
		return aql.Caller{}, nil
	}
	return aql.Caller{Subject: extra.TokenInfo.UserID, Scopes: extra.TokenInfo.Scopes}, nil
}
