package aql

import (
	"context"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/observe"
)

// Reply is the answer to one request. Question is set where the answer requires confirmation: a transport that can ask
// a human may do that instead of passing the answer on. For what only people may confirm, it is set only for transports
// that say that they can: see Adapter.WithAsker.
type Reply struct {
	JSON     []byte // a complete MCP-AQL response; it must not be changed
	IsError  bool   // the value of MCP's isError
	Question *Question
	// Execution is what the request has started or is about, if that is an execution and the request succeeded.
	Execution *Execution
	Forged    bool // the State of the Answer is nothing that Session.Seal returned for the caller; nothing was run

	code  Code // of the failure; empty: the message succeeded
	items int  // of a batch; zero: the message is none
}

// WithCaller returns a context in which requests come from a caller whose identity the transport has verified. A
// request without one is anonymous.
func WithCaller(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, callerKey{}, c)
}

// Observed reports whether hooks see what happens in the adapter: see Options.Observe.
func (a *Adapter) Observed() bool { return a.observer != nil }

type transportKey struct{}

// The bounds of what clients write and hooks are told, in bytes. What is longer is left out.
const (
	longestRequestID = 64
	longestTrace     = 512
)

// WithTransport returns a context that tells the hooks of Options.Observe what the transport knows of a request.
// Nothing else looks at it.
func WithTransport(ctx context.Context, t observe.Transport) context.Context {
	bounded := func(text string, most int) string {
		if len(text) > most {
			return ""
		}
		return strings.Clone(text) // it may be a part of a message
	}
	t.RequestID = bounded(t.RequestID, longestRequestID)
	t.TraceParent, t.TraceState = bounded(t.TraceParent, longestTrace), bounded(t.TraceState, longestTrace)
	return context.WithValue(ctx, transportKey{}, &t)
}

// Question is what a human can be asked before an operation runs.
type Question struct {
	// Continues reports whether the question is not about one call, but about all of the caller: whether they go on after
	// a quota has paused. Operation is the one whose call met the pause. There are no Reasons and no Params.
	Continues   bool
	Operation   string
	DangerLevel string
	Message     string // written by the operation's author, with the values of parameters; may be empty
	Reasons     []string
	Params      string        // a JSON object of the parameters, without sensitive values
	Wait        time.Duration // how long an approval is not accepted yet
	Expires     time.Time
	// Typing is what the human types to approve, and it is to be shown; the zero value: nothing.
	Typing approve.Typing
	// Approval is the item of the inbox in which the question is decided, and nowhere else; empty: it is decided by an
	// Answer. It is set for transports that refer humans to a page: see Adapter.WithReferrer.
	Approval string

	token string
}

// Answer is a human's answer to a Question. It goes with the request that the question is about, sent once more.
type Answer struct {
	State    string // what Session.Seal returned for the question
	Approved bool
	Typed    string // what the human has typed. If the Question has something to type, it counts in place of Approved
}

// reachKey finds how the transport of a request reaches its human.
type reachKey struct{}

type reach int

const (
	asks   reach = iota + 1 // with a question
	refers                  // with the page of an item
)

// reaches returns how the transport of a request reaches its human; zero: it does not.
func reaches(ctx context.Context) reach {
	how, _ := ctx.Value(reachKey{}).(reach)
	return how
}

// WithAsker returns a context in which a request comes from a transport that can ask a human, with the Question of a
// Reply. Without it, what only people may confirm waits in the inbox of Confirmation.Inbox, and is denied where there
// is none. Where people confirm nothing, it returns ctx.
func (a *Adapter) WithAsker(ctx context.Context) context.Context {
	if !a.personal {
		return ctx
	}
	return context.WithValue(ctx, reachKey{}, asks)
}

// WithReferrer returns a context in which a request comes from a transport that can refer a human to a page where
// people decide about the inbox of Confirmation.Inbox. What requires confirmation then waits there, and the Question of
// the Reply has the item in Approval. It holds in place of WithAsker. Where there is no inbox, it returns ctx.
func (a *Adapter) WithReferrer(ctx context.Context) context.Context {
	if a.options.Confirmation.Inbox == nil {
		return ctx
	}
	return context.WithValue(ctx, reachKey{}, refers)
}

// Decided waits until an item of the inbox is decided or has expired. Its error is that of ctx or of the state, or says
// that there is no such item.
func (a *Adapter) Decided(ctx context.Context, approvalID string) error {
	inbox := a.view.Load().gate.Inbox()
	if inbox == nil {
		return approve.ErrUnknown
	}
	changes := inbox.Changes(ctx)
	for {
		item, err := inbox.Get(ctx, approvalID)
		if err != nil || item.StateAt(a.options.Now()) != approve.Open {
			return err
		}
		timer := time.NewTimer(lookAtInbox)
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case _, open := <-changes:
			if !open {
				changes = nil
			}
		case <-timer.C:
		}
		timer.Stop()
	}
}

// lookAtInbox is how often the inbox is looked at that does not say when it changes.
const lookAtInbox = 2 * time.Second

type answerKey struct{}

// WithAnswer returns a context in which a request comes with a human's answer. It counts in place of the confirmation
// tokens in the request itself. A transport must take it from what asked the human, and never from the request.
func WithAnswer(ctx context.Context, a Answer) context.Context {
	return context.WithValue(ctx, answerKey{}, &a)
}

// Seal returns a text that represents a question while a client, which may change it, asks its human. It is valid for
// the same request of the same caller in the same session, once, until the question expires. In a session of
// Adapter.NewCallerSession it is valid in every one of the caller, of adapters with the same State and StateKey.
func (s *Session) Seal(ctx context.Context, q *Question) (string, error) {
	return s.gate.Seal(ctx, q.token, CallerOf(ctx))
}
