package aql

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/words"
)

// reporter decides what an agent learns of an error, and logs the rest.
type reporter struct {
	log       *slog.Logger
	operation string
	session   string
	label     string // the client's, of the message
	levels    int    // that the value of a detail may have

	definition  *operation
	legacyCodes bool
	request     *request // nil: none was routed
	confirmed   bool     // it was let through by a token, which is consumed
}

// handlerFailure returns what an agent learns of the error that a handler returned. ctxErr is why the handler's context
// had ended; nil: it had not.
func (p reporter) handlerFailure(ctx context.Context, v verdict, ctxErr error) *Error {
	switch f := v.failure; {
	case v.err == errGivenUp || v.err == errNoTurn: //nolint:errorlint // they are the runner's own
		return p.notEnded(ctx, v.err, ctxErr)
	case v.err == errGoexit: //nolint:errorlint // it is the runner's own
		return p.internal(ctx, v.err, nil, notReturned)
	case v.crash != nil:
		return p.internal(ctx, v.err, v.crash.stack, unexpected)
	case f != nil && f.Code.Valid():
		return p.shown(ctx, p.complete(f), v.err)
	case v.cancelled && ctxErr != nil:
		return p.internal(ctx, v.err, nil, requestCancelled)
	case errors.As(v.err, &stateError{}):
		failed := p.internal(ctx, v.err, nil, stateUnavailable)
		failed.details = append(failed.details, detail{"operation", p.operation})
		return failed
	case f != nil:
		return p.internal(ctx, p.invalidCode(f), nil, unexpected)
	default:
		return p.internal(ctx, v.err, nil, unexpected)
	}
}

// requestCancelled is the description of the failure of a request that its client has cancelled.
const requestCancelled = "request was cancelled"

// notEnded is the failure of a request for which a handler has not ended: its own, or an earlier one.
func (p reporter) notEnded(ctx context.Context, err, ctxErr error) *Error {
	description := timedOut
	if errors.Is(ctxErr, context.Canceled) {
		description = requestCancelled
	}
	switch {
	case err == errNoTurn: //nolint:errorlint // it is the runner's own
		description = "busy: an earlier operation has not ended, so the operation was not run; try again later"
		if p.confirmed {
			description = spentNoTurn
		}
	case p.definition.definition.Category == gen.Read:
		description += " and was given up; try again later"
	default:
		description += " and was given up: it may still take effect. " + lookFirst
	}
	failed := p.internal(ctx, err, nil, description)
	failed.details = append(failed.details, detail{"operation", p.operation})
	return failed
}

// tooManyAbandoned is the failure of a request that does not run because handlers that were given up still do.
func (p reporter) tooManyAbandoned(ctx context.Context) *Error {
	failed := p.internal(ctx, errTooMany, nil,
		"busy: too many earlier operations have not ended, so the operation was not run; try again later")
	failed.details = append(failed.details, detail{"operation", p.operation})
	return failed
}

// complete adds to the failure of a patch what the definition of its operation says. Any other failure is complete.
func (p reporter) complete(f *Error) *Error {
	if f.problems == nil {
		return f
	}
	whole := (&invalid{operation: p.definition, problems: f.problems, legacyCodes: p.legacyCodes}).failure()
	whole.cause = f.cause
	for _, d := range f.details { // those that the handler added
		if !slices.ContainsFunc(whole.details, func(own detail) bool { return own.name == d.name }) {
			whole.details = append(whole.details, d)
		}
	}
	return whole
}

// shown returns a failure as the agent sees it. What must not be shown of it is in the log alone; the code and the rest
// still help.
func (p reporter) shown(ctx context.Context, f *Error, err error) *Error {
	if f.ofTarget {
		f = p.ofTarget(f)
	}
	fit := *f
	complete := true
	if f.Message != f.template {
		if what, part := words.Leak(f.Message); part != "" {
			p.withheld(ctx, "message", "it has "+what, part, err)
			complete, fit.Message = false, "Operation '"+p.operation+"' failed"
		}
	}
	fit.details = slices.DeleteFunc(slices.Clone(f.details), func(d detail) bool {
		why, part := d.unfit(p.levels)
		if why != "" {
			p.withheld(ctx, "detail '"+d.name+"'", why, part, err)
			complete = false
		}
		return why != ""
	})
	switch {
	case strings.HasPrefix(string(f.Code), "INTERNAL_"):
		id := requestID(p.label)
		p.log.LogAttrs(ctx, slog.LevelError, "operation failed", p.attrs(id, err)...)
		fit.details = append(fit.details, detail{"request_id", id}, detail{"session_id", p.session})
	case complete && f.cause != nil:
		p.log.LogAttrs(ctx, slog.LevelInfo, "operation failed", p.attrs("", err)...)
	}
	return &fit
}

// withheld logs what the agent does not see of a failure, and why.
func (p reporter) withheld(ctx context.Context, what, why, part string, err error) {
	attrs := p.attrs("", err)
	if part != "" {
		attrs = append(attrs, slog.String("found", part))
	}
	p.log.LogAttrs(ctx, slog.LevelWarn, what+" withheld: "+why, attrs...)
}

// invalidCode is the error of a handler that returned a failure with a code that agents do not know.
func (p reporter) invalidCode(f *Error) error {
	advice := "a code has one of the prefixes " + strings.Join(codePrefixes, ", ")
	if near := f.Code.suggestion(); near != "" {
		advice = "did you mean " + near + "?"
	}
	return fmt.Errorf("the failure is masked, since its code %q is not valid (%s): %w", f.Code, advice, f)
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
	var f *Error
	if errors.As(err, &f) && f != nil && f.cause != nil {
		attrs = append(attrs, slog.Any("cause", f.cause))
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

// tooDeep is the failure of an operation that has run, and whose result has more levels than an answer may have.
func (p reporter) tooDeep(ctx context.Context, err error, limit int) *Error {
	p.log.LogAttrs(ctx, slog.LevelError, "result is nested too deeply", p.attrs("", err)...)
	return hasRun(tooLarge("nesting_depth", limit, limit+1, "levels"), p.request, "is nested too deeply")
}
