package aql

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/codec"
	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// exchange is one message on its way through the stages of the adapter, each of which has a type of its own:
//
//	decoder     bytes to requests whose parameters are valid; else invalid, faultFailure
//	checkpoint  the gate: trust, policy, quotas, confirmation; else refusal
//	runner      the handler, in its time and turn; else reporter
//	answer      the bytes of the answer, with notices
//
// Exchanges are pooled: nothing of one may outlive the call except copies.
type exchange struct {
	adapter    *Adapter
	session    *Session
	view       *view
	decoder    decoder
	message    message
	checkpoint checkpoint
	warnings   notices
	answer     answer
	question   *Question
	execution  *Execution
	forged     bool // the answer to a question is not the session's
	ran        bool // the handler of the request was called
	abandoned  bool // a handler that was given up has memory of the exchange
	// loads has loaded the relations that requests of the message select; nil: there were none yet.
	loads codec.RelatedLoads
}

var exchanges = sync.Pool{New: func() any { return new(exchange) }}

func (s *Session) newExchange(ctx context.Context, tool string) *exchange {
	x := exchanges.Get().(*exchange)
	a := s.adapter
	x.adapter, x.session, x.view = a, s, a.view.Load().seenBy(ctx)
	d := &x.decoder
	d.directory, d.tool, d.limits, d.legacyCodes = &x.view.directory, tool, a.options.Limits, a.options.LegacyErrorCodes
	d.lenient = a.options.AllowUnknownParams
	x.warnings.levels = a.options.Limits.NestingDepth - levelsAboveDetail
	x.checkpoint.gate, x.checkpoint.session = x.view.gate, s.gate
	return x
}

func (x *exchange) release() {
	if x.abandoned {
		return
	}
	x.decoder.reset()
	x.message.reset()
	x.answer.writer.Reset(nil)
	x.adapter, x.session, x.view, x.question, x.forged, x.ran = nil, nil, nil, nil, false, false
	x.checkpoint, x.warnings, x.loads, x.execution = checkpoint{}, notices{}, nil, nil
	exchanges.Put(x)
}

// reply takes a message through the stages, each of which ends it on failure, and returns the answer.
func (x *exchange) reply(ctx context.Context, data []byte) Reply {
	m, w := &x.message, x.answer.begin(x.adapter.options.Limits.ResponseSize)
	x.decoder.ctx = ctx
	failed := x.decoder.decode(data, m)
	x.checkpoint.label = m.id
	var rendered []byte
	switch {
	case m.batch != nil && failed == nil:
		failed = x.runBatch(ctx, w)
	case m.batch == nil:
		rendered, failed = x.perform(ctx, &m.request, failed, w)
	}
	switch {
	case failed != nil:
		return x.fail(failed)
	case rendered != nil:
		return Reply{JSON: rendered}
	default:
		return Reply{JSON: x.answer.take(), Execution: x.execution, items: x.items()}
	}
}

// perform takes one request, the only one of its message or an item of a batch, through the stages after the decoder,
// which left it with a failure or none. It writes the answer to w, or returns one that was rendered before.
//
// The decoder and perform keep the order of all checks (docs/requirements.md §0). Whatever panics on the way, the
// request has an answer.
func (x *exchange) perform(
	ctx context.Context, q *request, invalid *Error, w *wire.Writer,
) (rendered []byte, failed *Error) {
	x.ran = false
	if x.adapter.observer != nil {
		return x.observed(ctx, q, invalid, w)
	}
	return x.survived(ctx, q, invalid, w)
}

// survived is perform without its hook.
func (x *exchange) survived(
	ctx context.Context, q *request, invalid *Error, w *wire.Writer,
) (rendered []byte, failed *Error) {
	returned := false
	defer x.survive(ctx, q, &failed, &returned)
	rendered, failed = x.pass(ctx, q, invalid, w)
	returned = true
	return rendered, failed
}

// pass is survived without the recovery from panics.
func (x *exchange) pass(
	ctx context.Context, q *request, invalid *Error, w *wire.Writer,
) (rendered []byte, failed *Error) {
	if invalid != nil { // steps 1 to 6
		x.checkpoint.reject(ctx, q, invalid)
		if x.view.whole != nil && q.operation == nil && q.misrouted == nil {
			x.checkpoint.rejectHidden(ctx, x.view.whole.directory.operations[q.envelope.operation])
		}
		return nil, invalid
	}
	if q.ignored != nil {
		x.adapter.log.LogAttrs(ctx, slog.LevelWarn, "unknown parameters ignored, as AllowUnknownParams says",
			slog.String("operation", q.operation.definition.Name), slog.Any("unknown_params", q.ignored))
	}
	if own, ok := q.call.(builtInCall); ok {
		return own.answer(ctx, x.view, x.reporter(q))
	}
	if x.adapter.runner.abandoned.refuses(ctx, q.operation.definition.Name) {
		failed = x.reporter(q).tooManyAbandoned(ctx)
		x.checkpoint.reject(ctx, q, failed)
		return nil, failed
	}
	if x.adapter.looping != nil {
		if refused := x.adapter.looping.refuse(ctx, x, q); refused != nil {
			return nil, refused
		}
	}
	if refused := x.admit(ctx, q); refused != nil { // steps 7 to 10
		return nil, refused
	}
	return nil, x.run(ctx, q, w) // step 11
}

// admit asks the gate to let a request through.
func (x *exchange) admit(ctx context.Context, q *request) *Error {
	var answer *Answer
	if x.message.batch == nil {
		answer, _ = ctx.Value(answerKey{}).(*Answer)
		if x.adapter.personal {
			how := reaches(ctx)
			x.checkpoint.canAsk, x.checkpoint.canRefer = how == asks, how == refers
		}
	}
	x.checkpoint.asked = nil
	if x.adapter.executing != nil {
		x.checkpoint.found = x.adapter.executing.find(ctx, x, q)
		x.checkpoint.asked = x.adapter.executing.asked(ctx, x, q)
	}
	if x.adapter.looping != nil && x.checkpoint.asked == nil {
		x.checkpoint.asked = x.adapter.looping.asked(q)
	}
	warnings, refused := x.checkpoint.admit(ctx, q, answer)
	if x.adapter.observer != nil && q.operation.gated() {
		x.tellOfGate(ctx, q, refused)
	}
	if x.adapter.looping != nil {
		if refused != nil {
			x.adapter.looping.waits(ctx, x, q, refused)
		} else {
			x.adapter.looping.passes(ctx, x, q)
		}
	}
	if refused != nil {
		return x.explain(ctx, q, refused)
	}
	for i := range warnings {
		x.warn(ctx, q, quotaWarning(&warnings[i]))
	}
	return nil
}

// explain is the failure of a request that the gate refuses.
func (x *exchange) explain(ctx context.Context, q *request, refused *gate.Refusal) *Error {
	switch refused.Reason {
	case gate.Busy:
		x.adapter.log.LogAttrs(ctx, slog.LevelWarn, "state is busy", x.reporter(q).attrs("", refused.Err)...)
	case gate.Unavailable:
		description := stateUnavailable
		if refused.Spent {
			description = spentUnavailable
		}
		failed := x.reporter(q).internal(ctx, refused.Err, nil, description)
		failed.details = append(failed.details, detail{"operation", q.operation.definition.Name})
		return failed
	case gate.QuotaPaused:
		if x.checkpoint.found != nil {
			return findRefused(refused)
		}
	}
	r := refusal{
		Refusal: refused, request: q, caller: CallerOf(ctx), now: refused.At,
		humanOnly: x.adapter.options.Confirmation.HumanOnly, inBatch: x.message.batch != nil,
		refers: x.checkpoint.canRefer, asked: x.checkpoint.asked, hasInbox: x.view.gate.Inbox() != nil,
		asksAlone: x.message.batch != nil && reaches(ctx) == asks,
	}
	var failed *Error
	failed, x.question = r.explain()
	x.forged = refused.Forged
	return failed
}

// run calls the handler of a request and writes a success with its result. On failure, what was written is to be taken
// back.
func (x *exchange) run(ctx context.Context, q *request, w *wire.Writer) *Error {
	budget, limit := x.budget(q), w.Limit()
	if budget > 0 && budget < limit {
		w.SetLimit(budget)
	}
	w.Raw(successOpen)
	w.SetMaxDepth(x.resultLevels())
	start := w.Len()
	x.ran = true
	if q.operation.definition.Relationships != nil {
		ctx = x.adapter.related.within(ctx, x)
	}
	if q.operation.definition.Category != gen.Read {
		x.loads = nil // it may change what was loaded
	}
	if q.slots.handled.chosen.Behind.HasRelations() {
		ctx = x.adapter.related.selecting(ctx, x)
	}
	if x.adapter.executing != nil {
		ctx = x.adapter.executing.within(ctx, x, q)
	}
	if x.adapter.looping != nil {
		ctx = x.adapter.looping.within(ctx, x, q)
	}
	out := x.adapter.runner.run(ctx, run{
		operation: &q.operation.definition, handler: &q.slots.handled, mapError: x.adapter.options.MapError,
		grouped: q.slots.handled.grouped(),
	}, w)
	if out.givenUp {
		x.abandoned, x.answer.buffer, x.loads = true, nil, nil
	}
	if out.verdict.err != nil {
		out.handling.warnings.close()
		failed := x.reporter(q).handlerFailure(ctx, out.verdict, out.ctxErr)
		x.checkpoint.finish(ctx, q, out.handling.used(x.message.size), failed)
		return failed
	}
	x.checkpoint.finish(ctx, q, out.handling.used(x.message.size+w.Len()-start), nil)
	if budget > 0 && budget < limit {
		if w.ExceedsLimit() {
			out.handling.warnings.close()
			return beyondBudget(q.operation, budget, w.Len())
		}
		w.SetLimit(limit)
	}
	x.collect(ctx, q, &out)
	x.watchBudget(ctx, q, budget, w.Len())
	w.SetMaxDepth(0)
	if x.message.batch == nil { // a batch has the warnings of all its operations together
		x.warnings.write(w)
		switch label := x.message.id; {
		case x.adapter.options.ResponseMeta:
			writeMeta(w, requestID(label), &out.took)
		case label != "":
			writeMeta(w, label, nil)
		}
	}
	w.Raw("}")
	if w.ExceedsLimit() {
		return hasRun(tooLarge("response_size", x.adapter.options.Limits.ResponseSize, w.Len(), "bytes"), q, "is too large")
	}
	switch err := w.Err(); {
	case errors.Is(err, wire.ErrTooDeep):
		return x.reporter(q).tooDeep(ctx, err, x.adapter.options.Limits.NestingDepth)
	case err != nil:
		return x.reporter(q).internal(ctx, fmt.Errorf("encoding the result: %w", err), nil, notShown)
	}
	return nil
}

// resultLevels is how many levels a result may have, besides those of the answer that the writer does not count.
func (x *exchange) resultLevels() int {
	uncounted := 1 // the answer
	if x.message.batch != nil {
		uncounted++ // the answer of the item
	}
	return x.adapter.options.Limits.NestingDepth - uncounted
}

// warn adds a warning to the answer, or logs why it cannot be shown.
func (x *exchange) warn(ctx context.Context, q *request, warning Warning) {
	if problem := x.warnings.add(warning); problem != "" {
		x.adapter.logWithheld(ctx, q.operation.definition.Name, warning, problem)
	}
}

// collect takes over the warnings of the handler, and adds those of the adapter.
func (x *exchange) collect(ctx context.Context, q *request, out *outcome) {
	list, more := out.handling.warnings.take()
	if out.handling.progress != nil {
		out.handling.progress.complete()
	}
	x.warnings.more += more
	for _, warning := range list {
		x.warn(ctx, q, warning)
	}
	for _, warning := range requestWarnings(q, out.took, x.adapter.options.SlowAfter) {
		x.warn(ctx, q, warning)
	}
}

// runBatch runs the items of a batch and writes what came of each.
func (x *exchange) runBatch(ctx context.Context, w *wire.Writer) *Error {
	limit := x.adapter.options.Limits.ResponseSize
	report := progressOf(ctx)
	if report != nil {
		report.items = len(x.message.batch.items)
		ctx = context.WithValue(ctx, progressKey{}, report)
	}
	run := &batchRun{
		items: x.message.batch.items, limit: limit, label: x.message.id, perform: x.perform,
		skipUnconfirmed: x.adapter.options.SkipUnconfirmed, stopOnFailure: x.adapter.options.StopOnFailure,
		report: report, reader: &x.decoder.second,
	}
	if failed := run.write(ctx, w); failed != nil {
		return failed
	}
	x.warnings.write(w)
	w.Raw("}")
	if w.Len() > limit {
		return run.tooLarge(w.Len())
	}
	return nil
}

// fail writes the failure of a message in place of what was written before.
func (x *exchange) fail(f *Error) Reply {
	m, w := &x.message, x.answer.begin(x.adapter.options.Limits.ResponseSize)
	if m.batch != nil {
		f = f.ofBatch()
		writeFailure(w, f, nil)
	} else {
		writeFailure(w, f, failureDetails(f, m.envelope.operation, m.id))
	}
	return Reply{
		JSON: x.answer.take(), Question: x.question, Forged: x.forged,
		IsError: x.isError(f.Code),
		code:    f.Code, items: x.items(),
	}
}

// isError reports whether a failure with a code is an error of the tool, in the sense of MCP.
func (x *exchange) isError(code Code) bool {
	return isToolError(code, &x.message, x.adapter.options.FailuresAreToolErrors ||
		x.adapter.surface.Mode == describe.Discrete)
}

func (x *exchange) reporter(q *request) reporter {
	return reporter{
		log: x.adapter.log, operation: q.operation.definition.Name,
		session: x.session.ID(), label: x.message.id,
		levels:     x.adapter.options.Limits.NestingDepth - levelsAboveDetail,
		definition: q.operation, legacyCodes: x.adapter.options.LegacyErrorCodes, request: q,
		confirmed: x.checkpoint.pass.Confirmed,
	}
}
