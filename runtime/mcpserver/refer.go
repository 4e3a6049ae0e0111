package mcpserver

import (
	"context"
	"log/slog"
	"sync"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// opensPages reports whether a client can open a page for its user (MCP elicitation, URL mode).
func opensPages(c *mcp.ClientCapabilities) bool {
	return c != nil && c.Elicitation != nil && c.Elicitation.URL != nil
}

// refers reports whether the user of the client of a call is referred to the page for the inbox.
func (s *Server) refers(request *mcp.CallToolRequest) bool {
	return s.options.ApprovalURL != nil && opensPages(request.ClientCapabilities())
}

// answers reports whether the client was asked or referred in this call, so that it is not referred again: the agent is
// told that the request waits.
func answers(request *mcp.CallToolRequest) bool {
	return request.Params.InputResponses[approval] != nil || request.Params.RequestState != ""
}

// refer returns a result that has the client refer its user to the page where the question is decided; nil: there is no
// page.
func (s *Server) refer(ctx context.Context, request *mcp.CallToolRequest, q *aql.Question) *mcp.CallToolResult {
	page := s.options.ApprovalURL(q.Approval)
	if page == "" {
		return nil
	}
	s.referrals.follow(ctx, s, request.Session, q.Approval)
	question := &mcp.ElicitParams{Mode: "url", Message: text(q), URL: page, ElicitationID: q.Approval}
	return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{approval: question}}
}

// mostReferrals bounds the items whose decision is waited for to tell clients.
const mostReferrals = 256

// referrals are the items that users were referred to, and whose clients are to be told when they are decided.
type referrals struct {
	mu       sync.Mutex
	followed map[referral]bool
	sessions map[*mcp.ServerSession]context.Context // each is done when the session has ended
}

type referral struct {
	session *mcp.ServerSession
	item    string
}

// follow tells a client when an item is decided, once, unless its session has ended by then. A client without a session
// is not told: it calls again.
func (r *referrals) follow(ctx context.Context, s *Server, session *mcp.ServerSession, item string) {
	if session == nil || session.InitializeParams() == nil {
		return
	}
	key := referral{session, item}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.followed[key] || len(r.followed) >= mostReferrals {
		return
	}
	if r.followed == nil {
		r.followed, r.sessions = make(map[referral]bool), make(map[*mcp.ServerSession]context.Context)
	}
	r.followed[key] = true
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(r.ending(session), cancel)
	go func() {
		defer cancel()
		defer stop()
		err := s.adapter.Decided(ctx, item)
		if err == nil {
			err = session.NotifyElicitationComplete(ctx, &mcp.ElicitationCompleteParams{ElicitationID: item})
		}
		if err != nil && ctx.Err() == nil {
			s.log.LogAttrs(ctx, slog.LevelWarn, "telling a client of a decision", slog.Any("error", err))
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.followed, key)
	}()
}

// ending returns what is done when a session has ended, which one goroutine for the session waits for. The caller holds
// the lock.
func (r *referrals) ending(session *mcp.ServerSession) context.Context {
	if ctx := r.sessions[session]; ctx != nil {
		return ctx
	}
	ctx, end := context.WithCancel(context.Background())
	r.sessions[session] = ctx
	go func() {
		_ = session.Wait() // the error does not matter
		end()
		r.mu.Lock()
		defer r.mu.Unlock()
		delete(r.sessions, session)
	}()
	return ctx
}
