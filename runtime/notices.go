package aql

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/internal/wire"
	"github.com/aqltag/aqltag/runtime/words"
)

// mostWarnings is how many warnings an answer has (MCP-AQL warnings §6.4).
const mostWarnings = 10

// notice is a warning that is sound, with its details as they are written.
type notice struct {
	Warning
	text  string // its details as JSON; empty: none
	count int    // how often it was given
}

// notices are the warnings of an answer.
type notices struct {
	list   []notice
	more   int
	levels int // that the value of a detail may have
}

// add adds a warning, unless it must not be shown: then it returns why. A warning that is there already is counted.
func (l *notices) add(w Warning) (problem string) {
	n := notice{Warning: w, count: 1}
	n.Severity = cmp.Or(n.Severity, SeverityMedium)
	if len(w.details) > 0 {
		var err error
		if n.text, err = detailsJSON(sorted(w.details)); err != nil {
			return err.Error()
		}
	}
	for _, d := range w.details {
		if why, _ := d.unfit(l.levels); why != "" {
			return "detail '" + d.name + "': " + why
		}
	}
	switch what, _ := words.Leak(w.Message); {
	case !isCode(w.Code) || w.Message == "":
		return "a warning needs a code of capital letters, digits and underscores, and a message"
	case severityRank(n.Severity) < 0:
		return "its severity is none of high, medium, low"
	case what != "":
		return "it has " + what
	}
	same := slices.IndexFunc(l.list, func(known notice) bool { return known.Code == n.Code && known.text == n.text })
	if same >= 0 {
		l.list[same].count++
		return ""
	}
	l.list = append(l.list, n)
	return ""
}

// logWithheld logs a warning of an operation that must not be shown.
func (a *Adapter) logWithheld(ctx context.Context, operation string, w Warning, problem string) {
	a.log.LogAttrs(ctx, slog.LevelWarn, "warning withheld: "+problem,
		slog.String("operation", operation), slog.String("code", w.Code), slog.String("message", w.Message))
}

// sorted returns a copy of details in the order of their names.
func sorted(details []detail) []detail {
	return slices.SortedFunc(slices.Values(details), func(a, b detail) int { return cmp.Compare(a.name, b.name) })
}

// isCode reports whether the code of a warning has the form of codes.
func isCode(code string) bool {
	return code != "" && code[0] >= 'A' && code[0] <= 'Z' && strings.IndexFunc(code, notInCode) < 0
}

func severityRank(s Severity) int {
	return slices.Index([]Severity{SeverityHigh, SeverityMedium, SeverityLow}, s)
}

// requestWarnings returns what the adapter itself warns of after a request that took so long: what is deprecated,
// parameters that were ignored, fields that the result does not have, and slowness beyond a threshold; zero: there is
// none.
func requestWarnings(q *request, took, threshold time.Duration) []Warning {
	var list []Warning
	definition, handled := &q.operation.definition, &q.slots.handled
	if definition.Deprecated != "" || definition.Replacement != "" {
		list = append(list, deprecation("Operation", definition.Name, definition.Replacement, definition.Deprecated))
	}
	for _, i := range q.operation.deprecated {
		if handled.given.Has(i) {
			param := &definition.Params[i]
			list = append(list, deprecation("Parameter", param.Name, "", param.Deprecated))
		}
	}
	if q.ignored != nil {
		list = append(list, Warning{
			Code: "VALIDATION_UNKNOWN_PARAM_WARNING", Severity: SeverityHigh,
			Message: "Unknown parameter(s) for operation '" + definition.Name + "' were ignored: " +
				strings.Join(q.ignored, ", "),
			details: append([]detail{{"unknown_params", q.ignored}, {"valid_params", q.operation.params}},
				(&invalid{operation: q.operation, unknown: q.ignored, unwrapped: q.envelope.paramsKind == ""}).suggestions()...),
		})
	}
	if len(handled.omitted) > 0 {
		list = append(list, Warning{
			Code:    "VALIDATION_UNKNOWN_FIELD_WARNING",
			Message: "Unknown field(s) in 'fields' were left out: " + strings.Join(handled.omitted, ", "),
			details: []detail{{"unknown_fields", handled.omitted}},
		})
	}
	if threshold > 0 && took > threshold {
		list = append(list, slow(definition.Name, took, threshold))
	}
	return list
}

// deprecation is the warning about an operation or parameter that should no longer be used. Since nothing says when it
// will be gone, it is of low severity.
func deprecation(kind, name, replacement, guide string) Warning {
	details := []detail{{"type", strings.ToLower(kind)}, {"deprecated_item", name}}
	if replacement != "" {
		details = append(details, detail{"replacement", replacement})
	}
	if guide != "" && guide != "Deprecated." { // the text of a tag without one
		details = append(details, detail{"migration_guide", guide})
	}
	return Warning{
		Code: "DEPRECATION_WARNING", Message: kind + " '" + name + "' is deprecated", Severity: SeverityLow, details: details,
	}
}

func slow(operation string, took, threshold time.Duration) Warning {
	severity := SeverityLow
	switch ratio := took / threshold; {
	case ratio > 10:
		severity = SeverityHigh
	case ratio >= 2:
		severity = SeverityMedium
	}
	duration, limit := int(took.Milliseconds()), int(threshold.Milliseconds())
	return Warning{
		Code: "PERFORMANCE_SLOW_QUERY_WARNING", Severity: severity,
		Message: "Operation took " + strconv.Itoa(duration) + "ms (threshold: " + strconv.Itoa(limit) + "ms)",
		details: []detail{{"operation", operation}, {"duration_ms", duration}, {"threshold_ms", limit}},
	}
}

// write writes the member warnings, if there are any: the most important ones first (MCP-AQL warnings
// §6.4).
func (l *notices) write(w *wire.Writer) {
	list := l.list
	if len(list) == 0 && l.more == 0 {
		return
	}
	slices.SortStableFunc(list, func(a, b notice) int { return severityRank(a.Severity) - severityRank(b.Severity) })
	if left := len(list) - mostWarnings; left > 0 || l.more > 0 {
		shown := min(len(list), mostWarnings-1)
		left = len(list) - shown + l.more
		list = append(slices.Clone(list[:shown]), notice{
			Warning: Warning{
				Code: "SUPPRESSED_WARNINGS", Message: strconv.Itoa(left) + " more warnings were left out", Severity: SeverityLow,
			},
			text: `{"count":` + strconv.Itoa(left) + `}`, count: 1,
		})
	}
	w.Key("warnings")
	w.BeginArray()
	for _, n := range list {
		w.Element()
		w.BeginObject()
		w.Key("code")
		w.String(n.Code)
		w.Key("message")
		w.String(n.Message)
		w.Key("severity")
		w.String(string(n.Severity))
		if n.count > 1 {
			w.Key("details")
			writeDetails(w, sorted(withDetail(n.details, "occurrence_count", n.count)))
		} else if n.text != "" {
			w.Key("details")
			w.Raw(n.text)
		}
		w.EndObject()
	}
	w.EndArray()
}

// writeMeta writes the member _meta: the request's id and how long the handler took; nil: it is not to be known.
func writeMeta(w *wire.Writer, requestID string, took *time.Duration) {
	w.Key("_meta")
	w.BeginObject()
	w.Key("request_id")
	w.String(requestID)
	if took != nil {
		w.Key("duration_ms")
		w.Int(took.Milliseconds())
	}
	w.EndObject()
}
