package aql

import (
	"context"
	"strings"

	"github.com/aqltag/aqltag/runtime/quota"
)

// notShown is the description of a failure after the handler has succeeded.
const notShown = "the operation has run, but its result cannot be shown"

// notReturned is the description of a failure of a handler that has ended its goroutine.
const notReturned = "the handler did not return, and may have taken effect"

// survive, which is to be deferred, makes what panicked the failure of a request, and brings the request to its end.
// returned reports that nothing did. It does the same for a handler that ends its goroutine: batchRun goes on then.
func (x *exchange) survive(ctx context.Context, q *request, failed **Error, returned *bool) {
	value := recover()
	if *returned {
		return
	}
	x.abandoned = true // what panicked may have left anything behind
	err, stack := errGoexit, []byte(nil)
	if value != nil {
		crash := newPanicError(value)
		err, stack = crash, crash.stack
	}
	description := unexpected
	switch {
	case value == nil:
		description = notReturned
	case x.ran:
		description = notShown
	}
	*failed = x.reporter(q).internal(ctx, err, stack, description)
	if value == nil {
		q.lost = *failed
	}
	if x.checkpoint.admitted {
		x.checkpoint.finish(ctx, q, quota.Usage{}, *failed)
	}
}

// rescue, which is to be deferred, answers a message where something panicked that is not part of one of its requests.
func (s *Session) rescue(ctx context.Context, x *exchange, tool string, reply *Reply) {
	value := recover()
	if value == nil {
		return
	}
	x.abandoned = true
	y := s.newExchange(ctx, tool)
	defer y.release()
	y.message.id, y.message.batch = strings.Clone(x.message.id), x.message.batch
	p := reporter{log: s.adapter.log, session: s.ID(), label: y.message.id}
	crash := newPanicError(value)
	*reply = y.fail(p.internal(ctx, crash, crash.stack, unexpected))
}
