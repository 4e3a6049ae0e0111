package aql

import (
	"context"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// tally counts what came of the operations of a batch (MCP-AQL operations §7.2, §7.5.5).
type tally struct{ succeeded, failed, halted, pending, unconfirmed int }

// outcome is what came of one of them.
type outcome uint8

const (
	succeeded outcome = iota
	failed
	unconfirmed // it asks for confirmation
)

// reservedForItem is the part of the response, in bytes, that is kept free for the failure of each operation to come.
const reservedForItem = 512

// runBatch runs the operations of a batch in order and writes what came of each. It halts at one that asks for
// confirmation, unless the adapter skips those.
func (x *exchange) runBatch(ctx context.Context) (Reply, *Error) {
	items, limit := x.batch.items, x.adapter.options.Limits.ResponseSize
	w := x.newWriter()
	w.Raw(`{"success":true,"data":null,"results":`)
	w.BeginArray()
	var count tally
	halted := -1
	report := progressOf(ctx)
	for i := range items {
		before := w.Mark()
		w.SetLimit(0) // results are bounded one by one, and what stands around them is of the size of the request
		w.Element()
		switch x.writeItem(ctx, w, i, limit-min(limit/2, reservedForItem*(len(items)-i))) {
		case succeeded:
			count.succeeded++
		case failed:
			count.failed++
		case unconfirmed:
			if count.unconfirmed++; !x.adapter.options.SkipUnconfirmed {
				w.Back(before)
				halted = i
			}
		}
		if halted >= 0 {
			break
		}
		if w.Len() > limit {
			return Reply{}, tooLarge("response_size", limit, w.Len(), "bytes")
		}
		report(i+1, len(items))
	}
	w.EndArray()
	if halted >= 0 {
		count.halted, count.pending, count.unconfirmed = 1, len(items)-halted-1, 0
		x.writeHalt(w, halted, limit)
	}
	count.write(w, len(items))
	x.writeWarnings(w)
	w.Raw("}")
	if w.Len() > limit {
		return Reply{}, tooLarge("response_size", limit, w.Len(), "bytes")
	}
	return x.reply(w), nil
}

// writeItem runs one operation and writes its place in results, which may not make the answer longer than limit.
func (x *exchange) writeItem(ctx context.Context, w *wire.Writer, index, limit int) outcome {
	it := x.batch.items[index]
	x.asked, x.envelope.operation = it.asked, it.name
	w.BeginObject()
	w.Key("index")
	w.Int(int64(index))
	w.Key("operation")
	w.String(it.name)
	w.Key("result")
	result := w.Mark()
	w.SetLimit(limit)
	problem := x.runItem(ctx, w, it)
	what := succeeded
	w.SetLimit(0)
	if problem != nil {
		w.Back(result)
		x.writeFailure(w, problem, x.details(problem))
		what = failed
		if problem.Code == codeConfirm {
			what = unconfirmed
			it.asking = problem
			w.Key("status")
			w.String("pending_confirmation")
		}
	}
	w.EndObject()
	return what
}

// runItem takes one operation through the stages that come after reading.
func (x *exchange) runItem(ctx context.Context, w *wire.Writer, it *item) *Error {
	if it.failed != nil {
		x.rejected(ctx, it.failed)
		return it.failed
	}
	if ctx.Err() != nil {
		return internal("request was cancelled")
	}
	if own, ok := x.call.(builtInCall); ok {
		reply, problem := own.reply(ctx, x)
		if problem == nil {
			w.Raw(string(reply.JSON))
		}
		if problem == nil && w.Exceeds() {
			problem = tooLarge("response_size", x.adapter.options.Limits.ResponseSize, w.Len(), "bytes")
		}
		return problem
	}
	if problem := x.admit(ctx); problem != nil {
		return problem
	}
	return x.run(ctx, w)
}

// writeHalt writes where a batch halted and what did not run (requirements REQ-BA-08).
func (x *exchange) writeHalt(w *wire.Writer, halted, limit int) {
	it := x.batch.items[halted]
	w.Key("halted_at")
	w.BeginObject()
	w.Key("index")
	w.Int(int64(halted))
	w.Key("operation")
	w.String(it.name)
	w.Key("result")
	x.asked, x.envelope.operation = it.asked, it.name
	x.writeFailure(w, it.asking, x.details(it.asking))
	w.EndObject()
	before := w.Mark()
	x.writePendings(w, halted+1, true)
	if w.Len() > limit { // without their parameters then, which the client knows
		w.Back(before)
		x.writePendings(w, halted+1, false)
	}
}

func (x *exchange) writePendings(w *wire.Writer, from int, params bool) {
	w.Key("pending_operations")
	w.BeginArray()
	for i, it := range x.batch.items[from:] {
		w.Element()
		w.BeginObject()
		w.Key("index")
		w.Int(int64(from + i))
		w.Key("operation")
		w.String(it.name)
		if params {
			w.Key("params")
			x.writePendingParams(w, it)
		}
		w.EndObject()
	}
	w.EndArray()
}

func (t *tally) write(w *wire.Writer, total int) {
	w.Key("summary")
	w.BeginObject()
	for _, entry := range []struct {
		name   string
		count  int
		always bool
	}{
		{"total", total, true}, {"succeeded", t.succeeded, true}, {"failed", t.failed, true},
		{"halted", t.halted, false}, {"pending", t.pending, t.halted > 0}, {"pending_confirmation", t.unconfirmed, false},
	} {
		if entry.always || entry.count > 0 {
			w.Key(entry.name)
			w.Int(int64(entry.count))
		}
	}
	w.EndObject()
}
