package aql

import (
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
)

// Error is a structured failure: what an agent sees when an operation cannot be carried out. Handlers make one with
// NotFound, AlreadyExists, VersionMismatch, Denied or Errorf; any other error they return is masked as INTERNAL_ERROR.
type Error struct {
	Code    string // uppercase words with a registered prefix (structured error codes §3.1)
	Message string
	details []detail
	cause   error
}

// detail is one member of an error's details. Details keep their order, so that answers are the same bytes each time.
type detail struct {
	name  string
	value any // string, int, float64, []string or rawJSON
}

// rawJSON is a detail value that is JSON already.
type rawJSON string

// Error returns the code and the message.
func (e *Error) Error() string { return e.Code + ": " + e.Message }

// Unwrap returns the error that WithCause recorded, which goes to the log and never on the wire.
func (e *Error) Unwrap() error { return e.cause }

// WithCause returns a copy of e that carries cause for the log.
func (e *Error) WithCause(cause error) *Error {
	clone := *e
	clone.cause = cause
	return &clone
}

// WithDetail returns a copy of e with one more member in its details.
func (e *Error) WithDetail(name, value string) *Error {
	clone := *e
	clone.details = append(clone.details[:len(clone.details):len(clone.details)], detail{name, value})
	return &clone
}

func failure(code, message string, details ...detail) *Error {
	return &Error{Code: code, Message: message, details: details}
}

// NotFound is the failure of an operation whose target does not exist (structured error codes §4.9).
func NotFound(resourceType, resourceID string) *Error {
	return failure("NOT_FOUND_RESOURCE", fmt.Sprintf("Resource '%s' not found: '%s'", resourceType, resourceID),
		detail{"resource_type", resourceType}, detail{"resource_id", resourceID})
}

// AlreadyExists is the failure of an operation that would make a duplicate (MCP-AQL operations §7.2).
func AlreadyExists(resourceType, resourceID string) *Error {
	return failure("CONFLICT_ALREADY_EXISTS", fmt.Sprintf("Resource '%s' already exists: '%s'", resourceType, resourceID),
		detail{"resource_type", resourceType}, detail{"resource_id", resourceID})
}

// VersionMismatch is the failure of a conditional write whose if_match is not the current version (MCP-AQL core §9.3.2).
func VersionMismatch(resourceType, resourceID, ifMatch, currentETag string) *Error {
	return failure("CONFLICT_VERSION_MISMATCH",
		fmt.Sprintf("Resource '%s' version mismatch: expected '%s', current '%s'", resourceType, ifMatch, currentETag),
		detail{"resource_type", resourceType}, detail{"resource_id", resourceID},
		detail{"if_match", ifMatch}, detail{"current_etag", currentETag})
}

// Denied is the failure of an operation that the caller may not carry out (structured error codes §4.10).
func Denied(reason string) *Error {
	return failure("PERMISSION_DENIED", fmt.Sprintf("Permission denied: '%s'", reason), detail{"reason", reason})
}

// Errorf is a failure with a code of the author's choice, which starts with one of the protocol's prefixes
// (VALIDATION_, NOT_FOUND_, PERMISSION_, CONFLICT_, RATE_LIMIT_). The text reaches the agent; an error wrapped with %w
// does too as text, so wrap only what may be shown.
func Errorf(code, format string, args ...any) *Error {
	wrapped := fmt.Errorf(format, args...)
	return &Error{Code: code, Message: wrapped.Error(), cause: errors.Unwrap(wrapped)}
}

// asFailure turns what a handler returned into what goes on the wire. known is false when the error is not one that was
// made for an agent: nothing of its text may be shown (requirements REQ-ER-08).
func asFailure(err error) (f *Error, known bool) {
	if errors.As(err, &f) {
		return f, true
	}
	if errors.Is(err, sql.ErrNoRows) || errors.Is(err, fs.ErrNotExist) {
		return failure("NOT_FOUND_RESOURCE", "Resource not found"), true
	}
	return internal("unexpected failure"), false
}

func internal(description string) *Error {
	return failure("INTERNAL_ERROR", fmt.Sprintf("Internal error: '%s'", description))
}
