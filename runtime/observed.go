package aql

import (
	"context"
	"slices"
	"sync/atomic"

	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/internal/wire"
	"github.com/aqltag/aqltag/runtime/observe"
)

// begunKey is the key of the message that a context is of.
type begunKey struct{}

// begunMessage is a message that hooks were told of, and that its transport may call several times.
type begunMessage struct {
	session *Session
	calls   atomic.Bool // a call runs: others with its context, such as those of its handler, are no part of the message
}

// Begin begins a message whose request the transport may Call several times, one after the other, such as again when
// the cooldown of an approval is over: hooks are told of one call. Every Call is to have the context. The function is
// to be called once, with the reply that the client gets. Without hooks both do nothing.
func (s *Session) Begin(ctx context.Context, tool string, request []byte) (context.Context, func(Reply)) {
	if s.adapter.observer == nil {
		return ctx, func(Reply) {}
	}
	ctx, end := s.adapter.observer.Call(ctx, s.told(ctx, tool, request))
	return context.WithValue(ctx, begunKey{}, &begunMessage{session: s}), func(r Reply) { end(endOf(&r)) }
}

// observed is Session.Call for an adapter with hooks.
func (s *Session) observed(ctx context.Context, tool string, request []byte) (reply Reply) {
	if m, ok := ctx.Value(begunKey{}).(*begunMessage); ok && m.session == s && m.calls.CompareAndSwap(false, true) {
		defer m.calls.Store(false)
		return s.answer(ctx, tool, request)
	}
	ctx, end := s.adapter.observer.Call(ctx, s.told(ctx, tool, request))
	defer func() { end(endOf(&reply)) }()
	return s.answer(ctx, tool, request)
}

// told is what hooks are told of a call that begins.
func (s *Session) told(ctx context.Context, tool string, request []byte) observe.Call {
	c := observe.Call{
		Adapter: s.adapter.options.Name, Tool: s.adapter.nameOfTool(tool), Session: s.ID(), Bytes: len(request),
	}
	if transport, ok := ctx.Value(transportKey{}).(*observe.Transport); ok {
		c.Transport = *transport
	}
	return c
}

// The codes of JSON-RPC errors with which package mcpserver answers calls that hooks were told of.
const (
	rpcInvalidParams = -32602 // the state of an answer is none that was sent
	rpcInternal      = -32603 // there is no reply
)

// endOf is what hooks are told of what came of a call. Without a reply, its handler has ended the goroutine.
func endOf(r *Reply) observe.CallEnd {
	if r.JSON == nil {
		return observe.CallEnd{Code: string(codeInternal), Error: true, RPCError: rpcInternal}
	}
	end := observe.CallEnd{Code: string(r.code), Error: r.IsError, Items: r.items, Bytes: len(r.JSON)}
	if r.Forged {
		end.RPCError = rpcInvalidParams
	}
	return end
}

// nameOfTool returns the name of a tool as the adapter has it: what a transport says may be a part of a message, or any
// word of a client. It is empty for a tool that the adapter does not have.
func (a *Adapter) nameOfTool(said string) string {
	tools := a.view.Load().tools
	for i := range tools {
		if tools[i].Name == said {
			return tools[i].Name
		}
	}
	return ""
}

// codeInternal is the code of a failure that is no fault of the client.
const codeInternal Code = "INTERNAL_ERROR"

// items returns how many requests the batch of the message has; zero: it is none.
func (x *exchange) items() int {
	if x.message.batch == nil {
		return 0
	}
	return len(x.message.batch.items)
}

// observed is perform for an adapter with hooks.
func (x *exchange) observed(
	ctx context.Context, q *request, invalid *Error, w *wire.Writer,
) (rendered []byte, failed *Error) {
	ctx, end := x.adapter.observer.Operation(ctx, x.told(q))
	code := codeInternal // if a handler ends the goroutine
	defer func() { end(observe.OperationEnd{Code: string(code), Ran: x.ran}) }()
	rendered, failed = x.survived(ctx, q, invalid, w)
	if code = ""; failed != nil {
		code = failed.Code
	}
	return rendered, failed
}

// told is what hooks are told of a request. What clients write is no part of it.
func (x *exchange) told(q *request) (o observe.Operation) {
	if x.message.batch != nil {
		o.Index = slices.IndexFunc(x.message.batch.items, func(i *item) bool { return &i.request == q })
	}
	of := q.operation
	if of == nil {
		of = q.misrouted
	}
	if of == nil {
		return o
	}
	o.Name, o.Category = of.definition.Name, string(of.definition.Category)
	o.Danger, o.Endpoint = string(of.definition.Danger), of.family
	return o
}

// tellOfGate tells hooks what the gate has decided about a request, and how much of its quotas is used. refused is nil
// for a request that was let through.
func (x *exchange) tellOfGate(ctx context.Context, q *request, refused *gate.Refusal) {
	o := x.adapter.observer
	o.Gate(ctx, decided(q.operation, &x.checkpoint.pass, refused))
	switch {
	case !o.Quotas():
	case refused == nil:
		for metric, share := range x.checkpoint.pass.Used {
			o.Quota(ctx, observe.QuotaUse{Metric: string(metric), Share: share})
		}
	default:
		if metric, share, ok := refused.Block.Used(); ok {
			o.Quota(ctx, observe.QuotaUse{Metric: string(metric), Share: share})
		}
	}
}

// decided is what hooks are told of a decision of the gate. refused is nil for a request that was let through.
func decided(o *operation, pass *gate.Pass, refused *gate.Refusal) observe.Decision {
	d := observe.Decision{Operation: o.definition.Name, Effect: observe.Allowed}
	rule := pass.Rule
	switch {
	case refused != nil:
		d.Effect, d.Reason, rule = effectOf(refused.Reason), observedReasons[refused.Reason], refused.Rule
	case pass.Confirmed:
		d.Effect = observe.Confirmed
	}
	if rule != nil {
		d.Rule = rule.Name
	}
	return d
}

func effectOf(r gate.Reason) observe.Effect {
	switch r {
	case gate.ConfirmationNeeded, gate.QuotaPaused:
		return observe.Held
	case gate.Busy, gate.Unavailable:
		return observe.Failed
	default:
		return observe.Denied
	}
}

// observedReasons are the reasons of refusals as hooks are told them: labels of metrics.
var observedReasons = [...]string{
	gate.DeniedByPolicy:         "policy",
	gate.DeniedByTrust:          "danger_level",
	gate.TrustTooLow:            "trust_level",
	gate.RateLimited:            "rate_limit",
	gate.QuotaPaused:            "quota_pause",
	gate.QuotaExhausted:         "quota_exhausted",
	gate.ConfirmationNeeded:     "confirmation",
	gate.TokenRefused:           "token",
	gate.NotByHuman:             "token_of_no_human",
	gate.Declined:               "declined",
	gate.NobodyToAsk:            "nobody_to_ask",
	gate.NothingToType:          "nothing_to_type",
	gate.ReauthenticationNeeded: "reauthentication",
	gate.TooManyTokens:          "too_many_confirmations",
	gate.TooManyWait:            "too_many_waiting",
	gate.Busy:                   "state_busy",
	gate.Unavailable:            "state_unavailable",
}
