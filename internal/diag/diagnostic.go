// Package diag is what the generator reports about source: findings with the bytes that they are about, as text for
// people and as JSON.
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

// The severities. Only an error keeps the package from being generated.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Note    Severity = "note"
)

// Codes of diagnostics (MCP-AQL structured error codes, SCHEMA category).
const (
	CodeMissing    = "SCHEMA_MISSING_FIELD"
	CodeType       = "SCHEMA_INVALID_TYPE"
	CodeName       = "SCHEMA_INVALID_NAME"
	CodeDuplicate  = "SCHEMA_DUPLICATE_NAME"
	CodeUnresolved = "SCHEMA_UNRESOLVED_REF"
)

// Diagnostic is one finding about the source, placed at the bytes it is about.
type Diagnostic struct {
	Severity   Severity
	Code       string // SCHEMA_* (REQ-GE-01)
	Position   model.Position
	EndColumn  int // column after the last byte, on the line of Position; 0: a single place
	Message    string
	Expected   string
	Actual     string
	Suggestion string
	FieldPath  string // Go path of what it is about, such as "CreateTodoRequest.Title"; empty where there is none
	Related    []Related
}

// Related is another place that a diagnostic is about.
type Related struct {
	Position model.Position
	Message  string
}

// MarshalJSON writes d with flat positions and snake_case names, the form that -json prints.
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

// Sort orders diagnostics by place and drops those that say the same about the same place.
func Sort(list []Diagnostic) []Diagnostic {
	slices.SortStableFunc(list, func(a, b Diagnostic) int {
		return cmp.Or(ComparePositions(a.Position, b.Position), cmp.Compare(a.Message, b.Message))
	})
	return slices.CompactFunc(list, func(a, b Diagnostic) bool {
		return a.Position == b.Position && a.Message == b.Message
	})
}

func ComparePositions(a, b model.Position) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
}

// DidYouMean is a did-you-mean for word, or a list of what there is.
func DidYouMean(word string, candidates []string) string {
	if near := words.Nearest(word, candidates, 1); len(near) > 0 {
		return fmt.Sprintf("did you mean %q?", near[0])
	}
	if len(candidates) == 0 || len(candidates) > 12 {
		return ""
	}
	return "one of: " + strings.Join(candidates, ", ")
}
