package aql

import (
	"strings"

	"github.com/aqltag/aqltag/runtime/words"
)

// Code identifies a kind of failure to programs: capital letters, digits and underscores after one of the protocol's
// prefixes (MCP-AQL error codes §3.1). A service may have codes of its own, such as VALIDATION_UNKNOWN_CURRENCY.
type Code string

// The codes that handlers need most.
const (
	CodeMissingParam      Code = "VALIDATION_MISSING_PARAM"
	CodeInvalidType       Code = "VALIDATION_INVALID_TYPE"
	CodeInvalidEnum       Code = "VALIDATION_INVALID_ENUM"
	CodeOutOfRange        Code = "VALIDATION_OUT_OF_RANGE"
	CodePatternMismatch   Code = "VALIDATION_PATTERN_MISMATCH"
	CodeReadOnlyField     Code = "VALIDATION_READ_ONLY_FIELD"
	CodeAppendOnly        Code = "VALIDATION_APPEND_ONLY"
	CodeResourceNotFound  Code = "NOT_FOUND_RESOURCE"
	CodePermissionDenied  Code = "PERMISSION_DENIED"
	CodeAlreadyExists     Code = "CONFLICT_ALREADY_EXISTS"
	CodeVersionMismatch   Code = "CONFLICT_VERSION_MISMATCH"
	CodeInvalidState      Code = "CONFLICT_INVALID_STATE"
	CodeRateLimitExceeded Code = "RATE_LIMIT_EXCEEDED"
)

// codePrefixes are the prefixes that a code may have.
var codePrefixes = []string{
	"VALIDATION_", "NOT_FOUND_", "PERMISSION_", "CONFLICT_", "RATE_LIMIT_", "TOKEN_", "INTERNAL_",
}

// Valid reports whether c may be shown to agents: whether it has one of the protocol's prefixes and its form. A
// handler's failure with any other code is logged, and the agent gets INTERNAL_ERROR.
func (c Code) Valid() bool {
	for _, prefix := range codePrefixes {
		if rest, ok := strings.CutPrefix(string(c), prefix); ok {
			return rest != "" && strings.IndexFunc(rest, notInCode) < 0
		}
	}
	return false
}

// suggestion returns the code, or the prefix, that a code that is not valid may have meant; empty: none is near.
func (c Code) suggestion() string {
	known := []string{
		string(CodeMissingParam), string(CodeInvalidType), string(CodeInvalidEnum),
		string(CodeOutOfRange), string(CodePatternMismatch), string(CodeReadOnlyField), string(CodeAppendOnly),
		string(CodeResourceNotFound), string(CodePermissionDenied), string(CodeAlreadyExists), string(CodeVersionMismatch),
		string(CodeInvalidState), string(CodeRateLimitExceeded),
	}
	if near := words.Nearest(string(c), known, 1); len(near) > 0 {
		return near[0]
	}
	return ""
}

// notInCode reports whether a character has no place in a code.
func notInCode(c rune) bool { return c != '_' && (c < 'A' || c > 'Z') && (c < '0' || c > '9') }
