package aql

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"strings"

	"github.com/aqltag/aqltag/runtime/words"
)

// reporter decides what an agent learns of an error, and logs the rest.
type reporter struct {
	log       *slog.Logger
	operation string
	session   string
	label     string // the client's, of the message
}

// handlerFailure returns what an agent learns of the error that a handler returned. ctxErr is why the handler's context had
// ended; nil: it had not.
func (p reporter) handlerFailure(ctx context.Context, err, ctxErr error) *Error {
	f, known := asFailure(err)
	var crash *panicError
	switch {
	case errors.As(err, &crash):
		return p.internal(ctx, err, crash.stack, unexpected)
	case known && !f.leaky() && registered(f.Code):
		if f.cause != nil {
			p.log.LogAttrs(ctx, slog.LevelInfo, "operation failed", p.attrs("", err)...)
		}
		return f
	case known && registered(f.Code):
		// The code still helps the agent; the text, which shows something internal, stays in the log.
		p.log.LogAttrs(ctx, slog.LevelWarn, "message withheld: it fails the protocol's leak check", p.attrs("", err)...)
		return failure(f.Code, "Operation '"+p.operation+"' failed")
	case errors.Is(err, context.DeadlineExceeded) && ctxErr != nil:
		return p.internal(ctx, err, nil, "operation timed out")
	case errors.Is(err, context.Canceled) && ctxErr != nil:
		return p.internal(ctx, err, nil, "request was cancelled")
	default:
		return p.internal(ctx, err, nil, unexpected)
	}
}

// unexpected is the description of a failure of which the agent learns nothing.
const unexpected = "unexpected failure"

// internal logs an error in full under a request id that the agent gets too, so that the two can be brought together.
func (p reporter) internal(ctx context.Context, err error, stack []byte, description string) *Error {
	id := requestID(p.label)
	attrs := p.attrs(id, err)
	if stack != nil {
		attrs = append(attrs, slog.String("stack", string(stack)))
	}
	p.log.LogAttrs(ctx, slog.LevelError, "operation failed", attrs...)
	f := internal(description)
	f.details = append(f.details, detail{"request_id", id}, detail{"session_id", p.session})
	return f
}

func (p reporter) attrs(requestID string, err error) []slog.Attr {
	attrs := []slog.Attr{
		slog.String("operation", p.operation),
		slog.String("session_id", p.session),
		slog.Any("error", err),
	}
	if requestID != "" {
		attrs = append(attrs, slog.String("request_id", requestID))
	}
	return attrs
}

// requestID is the client's own label of the message, else a random one.
func requestID(label string) string {
	if label != "" && len(label) <= 128 {
		return strings.Clone(label)
	}
	return "req_" + rand.Text()
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
