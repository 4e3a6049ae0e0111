package mcpserver

import (
	"context"

	aql "github.com/aqltag/aqltag/runtime"
)

// attempt is the call of a message, for a client that may be asked about it.
type attempt struct {
	tool      string
	arguments []byte
	asks      bool // the client can ask its user in a form, and the service lets it
	refers    bool // the client can open a page for its user, and the service has pages
	answered  bool // the message comes with an answer of a person
	referred  bool // the client was asked or referred already
}

// attempt makes the call of a message. It makes it again where a person has approved it before the cooldown was over,
// and where the person is to be asked in a form because there is no page. Hooks are told of one call.
func (s *Server) attempt(ctx context.Context, session *aql.Session, a attempt) (reply aql.Reply) {
	if a.answered || a.asks && a.refers { // it may be made again
		var end func(aql.Reply)
		ctx, end = session.Begin(ctx, a.tool, a.arguments)
		defer func() { end(reply) }()
	}
	if a.asks {
		ctx = s.adapter.WithAsker(ctx)
	}
	unreferred := ctx
	if a.refers {
		ctx = s.adapter.WithReferrer(ctx)
	}
	reply = session.Call(ctx, a.tool, a.arguments)
	if q := reply.Question; q != nil && a.answered && q.Wait > 0 && waitFor(ctx, q.Wait) {
		reply = session.Call(ctx, a.tool, a.arguments)
	}
	if q := reply.Question; q != nil && q.Approval != "" && a.asks && !a.referred &&
		s.options.ApprovalURL(q.Approval) == "" {
		reply = session.Call(unreferred, a.tool, a.arguments)
	}
	return reply
}
