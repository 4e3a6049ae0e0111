package aql

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/internal/wire"
	"github.com/aqltag/aqltag/runtime/words"
)

const (
	successOpen = `{"success":true,"data":`
	// largestBuffer is the size up to which the buffer of an answer is kept.
	largestBuffer = 64 * kib
)

// newWriter returns the writer of the answer.
func (x *exchange) newWriter() *wire.Writer {
	w := &x.writer
	w.Reset(x.buffer[:0])
	w.SetLimit(x.adapter.options.Limits.ResponseSize)
	return w
}

// reply takes what was written as the answer. A buffer of usual size is kept for the next one, and the answer is a copy that
// has the size it needs.
func (x *exchange) reply(w *wire.Writer) Reply {
	buffer := w.Bytes()
	if cap(buffer) > largestBuffer {
		x.buffer = nil
		return Reply{JSON: buffer}
	}
	x.buffer = buffer[:0]
	return Reply{JSON: bytes.Clone(buffer)}
}

// run calls the handler and writes a success with what it returns. On failure, what was written is to be taken back.
func (x *exchange) run(ctx context.Context, w *wire.Writer) *Error {
	timeout := x.operation.definition.Timeout
	if timeout == 0 {
		timeout = x.adapter.options.Timeout
	}
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	handling := &handling{Context: ctx}
	timed := x.adapter.options.ResponseMeta || x.adapter.options.SlowAfter > 0
	var start time.Time
	var took time.Duration
	if timed {
		start = x.adapter.options.Now()
	}
	w.Raw(successOpen)
	from := w.Len()
	if err := x.invoke(handling, w); err != nil {
		failed := x.handlerFailure(ctx, err)
		x.finish(ctx, handling.used(x.size), failed)
		return failed
	}
	x.finish(ctx, handling.used(x.size+w.Len()-from), nil)
	if timed {
		took = x.adapter.options.Now().Sub(start)
	}
	x.collect(ctx, handling, took)
	if x.batch == nil { // a batch has the warnings of all its operations together (requirements REQ-BA-12, T-46)
		x.writeWarnings(w)
		x.writeMeta(w, took)
	}
	w.Raw("}")
	if w.Exceeds() {
		return tooLarge("response_size", x.adapter.options.Limits.ResponseSize, w.Len(), "bytes")
	}
	if err := w.Err(); err != nil {
		return x.masked(ctx, fmt.Errorf("encoding the result: %w", err), nil)
	}
	return nil
}

// panicked is a handler's panic, on its way to the log.
type panicked struct {
	value any
	stack []byte
}

func (p *panicked) Error() string { return fmt.Sprintf("handler panicked: %v", p.value) }

func (x *exchange) invoke(ctx context.Context, w *wire.Writer) (err error) {
	defer x.adapter.enter(x.operation)()
	defer func() {
		if v := recover(); v != nil {
			err = &panicked{value: v, stack: debug.Stack()}
		}
	}()
	return x.call.invoke(ctx, w)
}

// handlerFailure decides what an agent learns of a handler's error.
func (x *exchange) handlerFailure(ctx context.Context, err error) *Error {
	f, known := asFailure(err)
	var crash *panicked
	switch {
	case errors.As(err, &crash):
		return x.masked(ctx, err, crash.stack)
	case known && !f.leaky() && registered(f.Code):
		if f.cause != nil {
			x.adapter.log.LogAttrs(ctx, slog.LevelInfo, "operation failed", x.logAttrs("", err)...)
		}
		return f
	case known && registered(f.Code):
		// The code still helps the agent; the text, which shows something internal, stays in the log.
		x.adapter.log.LogAttrs(ctx, slog.LevelWarn, "message withheld: it fails the protocol's leak check", x.logAttrs("", err)...)
		return failure(f.Code, "Operation '"+x.operation.definition.Name+"' failed")
	case errors.Is(err, context.DeadlineExceeded) && ctx.Err() != nil:
		return x.describe(ctx, err, nil, "operation timed out")
	case errors.Is(err, context.Canceled) && ctx.Err() != nil:
		return x.describe(ctx, err, nil, "request was cancelled")
	default:
		return x.masked(ctx, err, nil)
	}
}

// leaky reports whether the text of a failure shows something internal.
func (e *Error) leaky() bool {
	if words.Leak(e.Message) != "" {
		return true
	}
	for _, d := range e.details {
		if text, ok := d.value.(string); ok && words.Leak(text) != "" {
			return true
		}
	}
	return false
}

// codePrefixes are the prefixes that a code on the wire may have (structured error codes §3.1).
var codePrefixes = []string{"VALIDATION_", "NOT_FOUND_", "PERMISSION_", "CONFLICT_", "RATE_LIMIT_", "TOKEN_", "INTERNAL_"}

func registered(code string) bool {
	for _, prefix := range codePrefixes {
		if rest, ok := strings.CutPrefix(code, prefix); ok && rest != "" {
			return strings.IndexFunc(rest, func(c rune) bool { return c != '_' && (c < 'A' || c > 'Z') && (c < '0' || c > '9') }) < 0
		}
	}
	return false
}

// masked logs err in full and tells the agent only that something failed.
func (x *exchange) masked(ctx context.Context, err error, stack []byte) *Error {
	return x.describe(ctx, err, stack, "unexpected failure")
}

// describe logs err in full under a request id that the agent gets too, so that the two can be brought together.
func (x *exchange) describe(ctx context.Context, err error, stack []byte, description string) *Error {
	id := x.requestID()
	attrs := x.logAttrs(id, err)
	if stack != nil {
		attrs = append(attrs, slog.String("stack", string(stack)))
	}
	x.adapter.log.LogAttrs(ctx, slog.LevelError, "operation failed", attrs...)
	f := internal(description)
	f.details = append(f.details, detail{"request_id", id}, detail{"session_id", x.session.ID()})
	return f
}

func (x *exchange) logAttrs(requestID string, err error) []slog.Attr {
	attrs := []slog.Attr{
		slog.String("operation", x.operation.definition.Name),
		slog.String("session_id", x.session.ID()),
		slog.Any("error", err),
	}
	if requestID != "" {
		attrs = append(attrs, slog.String("request_id", requestID))
	}
	return attrs
}

// requestID is the client's own label of the request, else a random one.
func (x *exchange) requestID() string {
	if id := x.envelope.requestID; id != "" && len(id) <= 128 {
		return strings.Clone(id)
	}
	return "req_" + rand.Text()
}

// fail encodes a failure (requirements REQ-RS-03, REQ-RS-05).
func (x *exchange) fail(f *Error) Reply {
	w := x.newWriter()
	if x.batch != nil {
		f = f.ofBatch()
		x.writeFailure(w, f, nil)
	} else {
		x.writeFailure(w, f, x.details(f))
	}
	reply := x.reply(w)
	reply.IsError = x.isError(f.Code)
	return reply
}

func (x *exchange) writeFailure(w *wire.Writer, f *Error, details []detail) {
	w.Raw(`{"success":false,"error":`)
	w.BeginObject()
	w.Key("code")
	w.String(f.Code)
	w.Key("message")
	w.String(f.Message)
	if len(details) > 0 {
		w.Key("details")
		w.BeginObject()
		for _, d := range details {
			w.KeyEscaped(d.name)
			d.write(w)
		}
		w.EndObject()
	}
	w.EndObject()
	w.Raw("}")
}

// details adds the request's own label to the details. A failed introspect has none: its schema is closed
// (requirements T-10, REQ-MT-07).
func (x *exchange) details(f *Error) []detail {
	if x.envelope.operation == "introspect" {
		return nil
	}
	id := x.envelope.requestID
	if id == "" || strings.HasPrefix(f.Code, "INTERNAL_") {
		return f.details
	}
	return append(f.details[:len(f.details):len(f.details)], detail{"request_id", id})
}

func (d detail) write(w *wire.Writer) {
	switch v := d.value.(type) {
	case string:
		w.String(v)
	case int:
		w.Int(int64(v))
	case float64:
		w.Any(v)
	case rawJSON:
		w.Raw(string(v))
	case []string:
		w.BeginArray()
		for _, s := range v {
			w.Element()
			w.String(s)
		}
		w.EndArray()
	}
}

// isError maps a code to MCP's isError: what an agent can act on is an answer, not an error (requirements T-34).
func (x *exchange) isError(code string) bool {
	switch {
	case x.adapter.options.IsErrorOnFailure, code == codeMalformed, strings.HasPrefix(code, "INTERNAL_"):
		return true
	case x.operation == nil && code == "VALIDATION_INVALID_TYPE" && x.envelope.operationKind == "" && x.envelope.paramsKind == "":
		return true // the request is not even an object
	default:
		return false
	}
}
