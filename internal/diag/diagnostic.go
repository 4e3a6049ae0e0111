// Package diag has the diagnostics that the generator reports about source, and writes them as text and as JSON.
package diag

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/words"
)

// Severity is how serious a diagnostic is.
type Severity string

// The severities. A package with an error is not generated.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Codes of diagnostics (MCP-AQL structured error codes §3.2).
const (
	CodeMissing    = "SCHEMA_MISSING_FIELD"
	CodeType       = "SCHEMA_INVALID_TYPE"
	CodeName       = "SCHEMA_INVALID_NAME"
	CodeDuplicate  = "SCHEMA_DUPLICATE_NAME"
	CodeUnresolved = "SCHEMA_UNRESOLVED_REF"
)

// Diagnostic is a mistake in source, or a remark on it, at the bytes that it is about.
type Diagnostic struct {
	Severity   Severity
	Code       string // one of the codes above
	Position   model.Position
	EndColumn  int // column after the last byte, on the line of Position; 0: Position alone
	Message    string
	Expected   string
	Actual     string
	Suggestion string
	FieldPath  string // Go path, such as "CreateTodoRequest.Title"; may be empty
	Related    []Related
	Kind       Kind // what many have in common; may be empty
}

// Related is another place that a diagnostic mentions.
type Related struct {
	Position model.Position
	Message  string
}

// MarshalJSON writes d as -json prints it: positions flat, names in snake_case.
func (d Diagnostic) MarshalJSON() ([]byte, error) {
	type place struct {
		File   string `json:"file"`
		Line   int    `json:"line"`
		Column int    `json:"column"`
	}
	type related struct {
		place
		Message string `json:"message"`
	}
	out := struct {
		Severity Severity `json:"severity"`
		Code     string   `json:"code"`
		place
		EndColumn  int       `json:"end_column,omitempty"`
		Message    string    `json:"message"`
		Expected   string    `json:"expected,omitempty"`
		Actual     string    `json:"actual,omitempty"`
		Suggestion string    `json:"suggestion,omitempty"`
		FieldPath  string    `json:"field_path,omitempty"`
		Related    []related `json:"related,omitempty"`
	}{
		Severity: d.Severity, Code: d.Code, place: place(d.Position), EndColumn: d.EndColumn, Message: d.Message,
		Expected: d.Expected, Actual: d.Actual, Suggestion: d.Suggestion, FieldPath: d.FieldPath,
	}
	for _, r := range d.Related {
		out.Related = append(out.Related, related{place(r.Position), r.Message})
	}
	return json.Marshal(out)
}

// Sort sorts diagnostics by place, and drops those with the place and the message of another.
func Sort(list []Diagnostic) []Diagnostic {
	slices.SortStableFunc(list, func(a, b Diagnostic) int {
		return cmp.Or(ComparePositions(a.Position, b.Position), cmp.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(list, func(a, b Diagnostic) bool {
		return a.Position == b.Position && a.Message == b.Message
	})
}

// ComparePositions orders positions by file, line and column.
func ComparePositions(a, b model.Position) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}

// DidYouMean suggests the candidate that word probably means, or lists all of a few candidates.
func DidYouMean(word string, candidates []string) string {
	if near := words.Nearest(word, candidates, 1); len(near) > 0 {
		return fmt.Sprintf("did you mean %q?", near[0])
	}
	if len(candidates) == 0 || len(candidates) > 12 {
		return ""
	}
	return "one of: " + strings.Join(candidates, ", ")
}
