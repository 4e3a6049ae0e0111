package aql

import (
	"context"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
	"github.com/aqltag/aqltag/runtime/words"
)

// batchRun carries out the items of a batch.
type batchRun struct {
	items           []*item
	limit           int    // bytes of the answer
	label           string // the client's, of the message
	skipUnconfirmed bool
	stopOnFailure   bool
	report          *progress    // nil: nobody asked for it
	reader          *wire.Reader // for the texts of items
	// perform carries out one request and writes its answer, or returns one that was rendered before. invalid is why it
	// cannot be carried out; nil: it can.
	perform func(ctx context.Context, q *request, invalid *Error, w *wire.Writer) (rendered []byte, failed *Error)

	count     tally
	processed int // items that have run or failed
	next      int // the first item that did not run
	halted    int // the item that halts the batch; below 0: none does
	over      bool
	end       wire.Mark // of what was written for the items before next
}

// tally counts what came of the items (MCP-AQL operations §7.2, §7.5.5).
type tally struct{ succeeded, failed, halted, pending, unconfirmed int }

// itemState is what came of one of them.
type itemState uint8

const (
	succeeded itemState = iota
	failed
	unconfirmed // it requires confirmation
)

// String says what came of an item, for people.
func (s itemState) String() string {
	return [...]string{"succeeded", "failed", "requires confirmation"}[s]
}

// reservedForItem is the part of the answer, in bytes, that is reserved for the failure of each item to come.
const reservedForItem = 768

// write runs the items in order and writes the answer up to its summary, still open. It halts at one that requires
// confirmation, unless the adapter skips those, and stops behind one that fails, if the adapter says so.
func (b *batchRun) write(ctx context.Context, w *wire.Writer) *Error {
	w.Raw(`{"success":true,"data":null,"results":`)
	w.BeginArray()
	b.halted, b.end = -1, w.Mark()
	for !b.over && b.next < len(b.items) {
		if failed := b.runItems(ctx, w); failed != nil {
			return failed
		}
	}
	w.EndArray()
	if b.halted >= 0 {
		b.count.halted, b.count.unconfirmed = 1, 0
		b.writeHalt(w, b.halted)
		b.next = b.halted + 1
	}
	if b.count.pending = len(b.items) - b.next; b.halted >= 0 || b.count.pending > 0 {
		b.writePending(w, b.next)
	}
	b.count.write(w, len(b.items))
	return nil
}

// runItems runs items from the next one on. They have a goroutine of their own, since a handler may end it: what ran
// before is answered all the same.
func (b *batchRun) runItems(ctx context.Context, w *wire.Writer) (failed *Error) {
	ended := make(chan struct{})
	var panicked any
	go func() {
		defer close(ended)
		defer func() { panicked = recover() }()
		for !b.over && b.next < len(b.items) && failed == nil {
			failed = b.runNext(ctx, w)
		}
	}()
	<-ended
	if panicked != nil {
		panic(panicked)
	}
	w.Rewind(b.end)
	return failed
}

// runNext runs the next item.
func (b *batchRun) runNext(ctx context.Context, w *wire.Writer) *Error {
	i := b.next
	w.SetLimit(0) // results are bounded one by one, and what surrounds them is of the size of the message
	w.Element()
	state := b.writeItem(ctx, w, i, b.limit-min(b.limit/2, reservedForItem*(len(b.items)-i)))
	switch state {
	case succeeded:
		b.count.succeeded++
	case failed:
		b.count.failed++
	case unconfirmed:
		if b.count.unconfirmed++; !b.skipUnconfirmed {
			w.Rewind(b.end)
			b.halted, b.over = i, true
			return nil
		}
	}
	b.next, b.processed, b.end = i+1, i+1, w.Mark()
	if w.Len() > b.limit {
		return b.tooLarge(w.Len())
	}
	b.over = state == failed && b.stopOnFailure
	if b.report != nil {
		b.report.itemDone(b.items[i].envelope.operation, state.String())
	}
	return nil
}

// lookFirst is what to do where it is not known which operations of a batch have run.
const lookFirst = "Read the resources before sending one of them again."

// tooLarge is the failure of a batch whose answer has become too large.
func (b *batchRun) tooLarge(actual int) *Error {
	f := tooLarge("response_size", b.limit, actual, "bytes")
	f.Message += ": the first " + strconv.Itoa(b.processed) + " of " + words.Count(len(b.items), "operation") +
		" have run or failed. " + lookFirst
	return f
}

// writeItem runs one item and writes its place in results, which may not make the answer longer than limit.
func (b *batchRun) writeItem(ctx context.Context, w *wire.Writer, index, limit int) itemState {
	it := b.items[index]
	w.BeginObject()
	w.Key("index")
	w.Int(int64(index))
	w.Key("operation")
	w.String(it.envelope.operation)
	w.Key("result")
	result := w.Mark()
	w.SetLimit(limit)
	problem := b.runItem(ctx, w, it)
	w.SetLimit(0)
	state := succeeded
	if problem != nil {
		w.Rewind(result)
		b.writeFailure(w, it, problem)
		state = failed
		if problem.Code == codeConfirm {
			state = unconfirmed
			it.requires = problem
			w.Key("status")
			w.String("pending_confirmation")
		}
	}
	w.EndObject()
	return state
}

func (b *batchRun) runItem(ctx context.Context, w *wire.Writer, it *item) *Error {
	if it.lost != nil {
		return it.lost
	}
	if it.failed == nil && ctx.Err() != nil {
		return internal(requestCancelled)
	}
	rendered, problem := b.perform(ctx, &it.request, it.failed, w)
	if rendered == nil || problem != nil {
		return problem
	}
	w.Raw(string(rendered))
	if w.ExceedsLimit() {
		return tooLarge("response_size", b.limit, w.Len(), "bytes")
	}
	return nil
}

func (b *batchRun) writeFailure(w *wire.Writer, it *item, f *Error) {
	writeFailure(w, f, failureDetails(f, it.envelope.operation, b.label))
}

// writeHalt writes where a batch halted (MCP-AQL operations §7.5).
func (b *batchRun) writeHalt(w *wire.Writer, halted int) {
	it := b.items[halted]
	w.Key("halted_at")
	w.BeginObject()
	w.Key("index")
	w.Int(int64(halted))
	w.Key("operation")
	w.String(it.envelope.operation)
	w.Key("result")
	b.writeFailure(w, it, it.requires)
	w.EndObject()
}

// writePending writes the items that did not run, from an index on.
func (b *batchRun) writePending(w *wire.Writer, from int) {
	before := w.Mark()
	b.writeItems(w, from, true)
	if w.Len() > b.limit { // without their parameters then, which the client knows
		w.Rewind(before)
		b.writeItems(w, from, false)
	}
}

func (b *batchRun) writeItems(w *wire.Writer, from int, params bool) {
	w.Key("pending_operations")
	w.BeginArray()
	for i, it := range b.items[from:] {
		w.Element()
		w.BeginObject()
		w.Key("index")
		w.Int(int64(from + i))
		w.Key("operation")
		w.String(it.envelope.operation)
		if params {
			w.Key("params")
			it.writeParams(w, b.reader)
		}
		w.EndObject()
	}
	w.EndArray()
}

// writeParams writes the parameters of an item that did not run, so that a client can send them again: those at the top
// level become members of params, and what is sensitive is left out. r reads the item.
func (it *item) writeParams(w *wire.Writer, r *wire.Reader) {
	given := make(map[string]bool)
	w.BeginObject()
	for _, inside := range []bool{true, false} {
		r.Reset(it.text, wire.Limits{})
		r.Object()
		for r.NextUnchecked() {
			name := r.Name()
			switch {
			case inside && name == "params" && r.Kind() == "object":
				r.Object()
				for r.NextUnchecked() {
					it.writeParam(w, r, given)
				}
			case inside, name == "operation", name == "params", name == indexMember, strings.HasPrefix(name, "_"):
				r.Skip()
			default:
				it.writeParam(w, r, given)
			}
		}
	}
	w.EndObject()
}

func (it *item) writeParam(w *wire.Writer, r *wire.Reader, given map[string]bool) {
	name := r.Name()
	var param gen.Param
	if it.operation != nil {
		param = it.operation.param(name)
	}
	text := r.Raw()
	if given[name] || param.Sensitive {
		return
	}
	given[name] = true
	w.KeyEscaped(name)
	if it.operation != nil && it.operation.sensitive {
		it.operation.writeRedacted(w, text, name)
		return
	}
	w.Raw(text)
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
