package aql

import (
	"cmp"
	"context"
	"strings"

	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/internal/meter"
	"github.com/aqltag/aqltag/runtime/quota"
)

// checkpoint is the second stage of a request: it brings valid requests to the gate, one after the other, and reports
// to the gate what became of them.
type checkpoint struct {
	gate    *gate.Gate
	session *gate.Session
	label   string // the client's, of the message
	canAsk  bool   // the transport can ask a human about the request
	// canRefer reports that the transport can refer a human to a page where the inbox is decided.
	canRefer bool
	found    *foundExecution // in place of which the request would start another one; nil: there is none
	params   gate.Params     // of the request to admit, as the gate has them; nil: as the request does
	request  gate.Request
	pass     gate.Pass

	admitted bool // the request was let through, and finish was not called
}

// admit asks the gate to let a request through, and returns its warnings or its refusal. answer is that of a human who
// was asked; nil: nobody was. When a request was let through, finish must be called after it has run.
func (c *checkpoint) admit(ctx context.Context, q *request, answer *Answer) ([]meter.Warning, *gate.Refusal) {
	if !q.operation.gated() {
		return nil, nil
	}
	c.request = c.describe(ctx, q.operation)
	c.request.RequestID, c.request.Params, c.request.Presented = c.label, q, q.tokens.Presented
	if c.params != nil {
		c.request.Params, c.params = c.params, nil
	}
	c.request.CanAsk, c.request.CanRefer = c.canAsk, c.canRefer
	if answer != nil {
		c.request.Sealed, c.request.Approved, c.request.Typed = answer.State, answer.Approved, answer.Typed
	}
	var pass gate.Pass
	var refusal *gate.Refusal
	if c.found != nil {
		pass, refusal = c.gate.Find(ctx, &c.request, &c.found.reads, c.found.id)
	} else {
		pass, refusal = c.gate.Admit(ctx, &c.request)
	}
	if refusal != nil {
		return nil, refusal
	}
	c.pass, c.admitted = pass, true
	return pass.Warnings, nil
}

// finish reports what a request that was let through has used, and its failure; nil: it succeeded.
func (c *checkpoint) finish(ctx context.Context, q *request, used quota.Usage, failed *Error) {
	if !q.operation.gated() {
		return
	}
	c.admitted = false
	code := ""
	if failed != nil {
		code = string(failed.Code)
	}
	c.gate.Finish(ctx, &c.request, &c.pass, used, code)
	c.request, c.pass = gate.Request{}, gate.Pass{}
}

// reject reports a request that did not reach the gate, because every attempt at a dangerous operation is on record
// (danger levels §3.4).
func (c *checkpoint) reject(ctx context.Context, q *request, failed *Error) {
	if o := cmp.Or(q.operation, q.misrouted); o != nil && o.gate != nil && o.gate.Recorded() {
		r := c.describe(ctx, o)
		r.RequestID = strings.Clone(c.label)
		c.gate.Reject(ctx, &r, string(failed.Code))
	}
}

// rejectHidden reports a request for an operation that its caller does not see; nil: there is none. To the caller it
// does not exist, and to the operator this is a denial.
func (c *checkpoint) rejectHidden(ctx context.Context, o *operation) {
	if o == nil || o.gate == nil {
		return
	}
	r := c.describe(ctx, o)
	r.RequestID = strings.Clone(c.label)
	c.gate.RejectHidden(ctx, &r)
}

func (c *checkpoint) describe(ctx context.Context, o *operation) gate.Request {
	return gate.Request{Operation: o.gate, Caller: CallerOf(ctx), Session: c.session, Endpoint: o.family}
}

// gated reports whether the gate may hold the operation.
func (o *operation) gated() bool { return o.gate != nil && !o.gate.Ungated() }
