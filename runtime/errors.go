package aql

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"reflect"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// Error is a failure that an agent may see. Handlers return one that NotFound, AlreadyExists, InvalidState,
// VersionMismatch, Denied, RateLimited, Upstream or Errorf made, or Options.MapError makes one of the error of a
// library. Any other error is logged, and the agent learns only that something failed, unless its type tells what it
// means. The agent then gets the code, and nothing of the error's text:
//
//   - a query without rows (database/sql, pgx) and fs.ErrNotExist become a NOT_FOUND_RESOURCE that names what the
//     request identifies; fs.ErrExist becomes CONFLICT_ALREADY_EXISTS, fs.ErrPermission PERMISSION_DENIED
//   - statuses of gRPC, Connect and Twirp become the code that their name stands for
//   - an error whose method StatusCode, HTTPStatusCode or GetStatus returns an HTTP status of 400 or more, or whose
//     field Response is an *http.Response with one, becomes what Upstream makes of the status
//   - a ResponseError becomes what Upstream makes of the status and the response
//   - an exceeded deadline becomes an INTERNAL_ERROR that says so
//
// What the constructors but Errorf are given reaches the agent as it is. The message of Errorf and what WithDetail adds
// are withheld where they disclose the inside of the program: a stack trace, a source file with a line, a Go type, the
// text of an error of Go, a database or a network, a connection string (MCP-AQL introspection §8.1.3). The log has what
// was withheld, and why.
type Error struct {
	Code    Code
	Message string
	details []detail
	cause   error

	template string         // the message that a constructor made, which may be shown
	ofTarget bool           // the message is about what the request identifies, and is to name it
	general  string         // the message where the request identifies nothing; empty: the same
	problems []wire.Problem // of a patch that does not fit its resource
}

// Error returns the code and the message.
func (e *Error) Error() string {
	if e == nil {
		return "a nil *aql.Error, returned as an error: return nil itself"
	}
	return string(e.Code) + ": " + e.Message
}

// Unwrap returns the error that WithCause recorded, which goes to the log and never on the wire.
func (e *Error) Unwrap() error {
	if e == nil {
		return nil
	}
	return e.cause
}

// WithCause returns a copy of e that carries cause for the log.
func (e *Error) WithCause(cause error) *Error {
	clone := *e
	clone.cause = cause
	return &clone
}

// WithDetail returns a copy of e with a member in its details, in place of one of the same name. The value is written
// as encoding/json writes it.
func (e *Error) WithDetail(name string, value any) *Error {
	clone := *e
	clone.details = withDetail(e.details, name, value)
	return &clone
}

// ResponseError is the failure of an adopted handler of a web framework that returned a response with the status of a
// failure. Options.MapError may know better than Upstream what the response means to agents.
type ResponseError = gen.ResponseError

func failure(code Code, message string, details ...detail) *Error {
	return &Error{Code: code, Message: message, details: details, template: message}
}

// NotFound is the failure of an operation whose target does not exist (MCP-AQL error codes §4.9).
func NotFound(resourceType, resourceID string) *Error {
	return failure(CodeResourceNotFound, fmt.Sprintf("Resource '%s' not found: '%s'", resourceType, resourceID),
		detail{"resource_type", resourceType}, detail{"resource_id", resourceID})
}

// AlreadyExists is the failure of an operation that would create a duplicate (MCP-AQL operations §7.2).
func AlreadyExists(resourceType, resourceID string) *Error {
	return failure(CodeAlreadyExists, fmt.Sprintf("Resource '%s' already exists: '%s'", resourceType, resourceID),
		detail{"resource_type", resourceType}, detail{"resource_id", resourceID})
}

// InvalidState is the failure of an operation that the state of its target does not allow, such as 'shipped' of an
// order that is to be cancelled (MCP-AQL error codes §3.2).
func InvalidState(resourceType, resourceID, state string) *Error {
	return failure(CodeInvalidState,
		fmt.Sprintf("Resource '%s' is in state '%s': '%s'", resourceType, state, resourceID),
		detail{"resource_type", resourceType}, detail{"resource_id", resourceID}, detail{"state", state})
}

// VersionMismatch is the failure of a conditional write whose if_match is not the current version (MCP-AQL core
// §9.3.2).
func VersionMismatch(resourceType, resourceID, ifMatch, currentETag string) *Error {
	return failure(CodeVersionMismatch,
		fmt.Sprintf("Resource '%s' version mismatch: expected '%s', current '%s'", resourceType, ifMatch, currentETag),
		detail{"resource_type", resourceType}, detail{"resource_id", resourceID},
		detail{"if_match", ifMatch}, detail{"current_etag", currentETag})
}

// Denied is the failure of an operation that the caller may not carry out (MCP-AQL error codes §4.10).
func Denied(reason string) *Error {
	return failure(CodePermissionDenied, fmt.Sprintf("Permission denied: '%s'", reason), detail{"reason", reason})
}

// RateLimited is the failure of an operation for which a limit of requests is reached (MCP-AQL error codes §5.5).
// retryAfter is the time until the next request may succeed; zero: it is not known.
func RateLimited(retryAfter time.Duration) *Error {
	f := failure(CodeRateLimitExceeded, "API rate limit exceeded")
	if retryAfter > 0 {
		f.details = []detail{{"retry_after_seconds", int(math.Ceil(retryAfter.Seconds()))}}
	}
	return f
}

// Errorf is a failure with one of the codes of this package or one of the service's own: see Code.Valid. The text
// reaches the agent, and so does that of an error wrapped with %w: wrap only what may be shown, and give the rest to
// WithCause. A text that discloses the inside of the program is withheld: see Error.
func Errorf(code Code, format string, args ...any) *Error {
	wrapped := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: wrapped.Error(), cause: errors.Unwrap(wrapped)}
}

// asFailure turns an error that a handler returned into a failure for the agent. known is false when the error was not
// made for agents: nothing of its text may be shown.
func asFailure(err error) (f *Error, known bool) {
	if errors.As(err, &f) {
		return f, f != nil // a nil *Error is no failure for agents
	}
	if isNoRows(err) || errors.Is(err, fs.ErrNotExist) {
		return &Error{Code: CodeResourceNotFound, Message: "Resource not found", ofTarget: true}, true
	}
	if f := foreignFailure(err); f != nil {
		return f, true
	}
	return internal(unexpected), false
}

// isNoRows reports whether err is, or wraps, sql.ErrNoRows or the pgx.ErrNoRows of versions before 5.7. It compares
// texts, so that this package links neither: a service without a database has none of database/sql. Only errors of
// errors.New count, whose Error method is known: that of another type may panic.
func isNoRows(err error) bool {
	if reflect.TypeOf(err) == plainError {
		text := err.Error()
		return text == "sql: no rows in result set" || text == "no rows in result set"
	}
	switch wrapper := err.(type) { //nolint:errorlint // the cases are those that errors.As follows
	case interface{ Unwrap() error }:
		inner := wrapper.Unwrap()
		return inner != nil && isNoRows(inner)
	case interface{ Unwrap() []error }:
		for _, inner := range wrapper.Unwrap() {
			if inner != nil && isNoRows(inner) {
				return true
			}
		}
	}
	return false
}

// plainError is the type of what errors.New returns.
var plainError = reflect.TypeOf(errors.New(""))

func internal(description string) *Error {
	return failure("INTERNAL_ERROR", fmt.Sprintf("Internal error: '%s'", description))
}
