package aql

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
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
	details string // JSON; empty: none
	count   int    // how often it was given
}

// notices are the warnings of an answer.
type notices struct {
	list []notice
	more int
}

// addWarning takes a warning over, unless it is not fit to be shown: what is wrong with it is then in the log. One that is there
// already is counted (requirements REQ-WA-05).
func (x *exchange) addWarning(ctx context.Context, w Warning) {
	n := notice{Warning: w, count: 1}
	n.Severity = cmp.Or(n.Severity, Medium)
	problem := ""
	if len(w.Details) > 0 {
		details := wire.NewWriter(nil)
		if details.Any(w.Details); details.Err() != nil {
			problem = details.Err().Error()
		}
		n.details = string(details.Bytes())
	}
	switch {
	case problem != "":
	case !isCode(w.Code) || w.Message == "":
		problem = "a warning needs a code of capital letters, digits and underscores, and a message"
	case severityRank(n.Severity) < 0:
		problem = "its severity is none of high, medium, low"
	case words.Leak(w.Message) != "" || words.Leak(n.details) != "":
		problem = "it fails the protocol's leak check"
	}
	if problem != "" {
		x.adapter.log.LogAttrs(ctx, slog.LevelWarn, "warning withheld: "+problem,
			slog.String("operation", x.operation.definition.Name), slog.String("code", w.Code), slog.String("message", w.Message))
		return
	}
	same := slices.IndexFunc(x.notices.list, func(known notice) bool { return known.Code == n.Code && known.details == n.details })
	if same >= 0 {
		x.notices.list[same].count++
		return
	}
	x.notices.list = append(x.notices.list, n)
}

// isCode reports whether a code follows the grammar of codes (requirements section 0).
func isCode(code string) bool {
	return code != "" && code[0] >= 'A' && code[0] <= 'Z' && strings.IndexFunc(code, func(c rune) bool {
		return c != '_' && (c < 'A' || c > 'Z') && (c < '0' || c > '9')
	}) < 0
}

func severityRank(s Severity) int { return slices.Index([]Severity{High, Medium, Low}, s) }

// collect takes over what the handler warned of, and adds what the adapter itself has to say about the request.
func (x *exchange) collect(ctx context.Context, h *handling, took time.Duration) {
	list, more := h.warnings.take()
	x.notices.more += more
	for _, w := range list {
		x.addWarning(ctx, w)
	}
	definition := &x.operation.definition
	if definition.Deprecated != "" || definition.Replacement != "" {
		x.addWarning(ctx, deprecation("Operation", definition.Name, definition.Replacement, definition.Deprecated))
	}
	for _, i := range x.operation.deprecated {
		if c, ok := x.call.(*handled); ok && c.given.Has(i) {
			param := &definition.Params[i]
			x.addWarning(ctx, deprecation("Parameter", param.Name, "", param.Deprecated))
		}
	}
	if c, ok := x.call.(*handled); ok && len(c.omitted) > 0 {
		x.addWarning(ctx, Warning{
			Code: "VALIDATION_UNKNOWN_FIELD_WARNING", Message: "Unknown field(s) in 'fields' were left out: " + strings.Join(c.omitted, ", "),
			Details: map[string]any{"unknown_fields": c.omitted},
		})
	}
	if threshold := x.adapter.options.SlowAfter; threshold > 0 && took > threshold {
		x.addWarning(ctx, slow(definition.Name, took, threshold))
	}
}

// deprecation is the warning about an operation or parameter that should no longer be used. Since nothing says when it will
// be gone, it is of low severity.
func deprecation(kind, name, replacement, guide string) Warning {
	details := map[string]any{"type": strings.ToLower(kind), "deprecated_item": name}
	if replacement != "" {
		details["replacement"] = replacement
	}
	if guide != "" && guide != "Deprecated." { // which is all that a bare tag says
		details["migration_guide"] = guide
	}
	return Warning{Code: "DEPRECATION_WARNING", Message: kind + " '" + name + "' is deprecated", Severity: Low, Details: details}
}

func slow(operation string, took, threshold time.Duration) Warning {
	severity := Low
	switch ratio := took / threshold; {
	case ratio > 10:
		severity = High
	case ratio >= 2:
		severity = Medium
	}
	duration, limit := int(took.Milliseconds()), int(threshold.Milliseconds())
	return Warning{
		Code: "PERFORMANCE_SLOW_QUERY_WARNING", Severity: severity,
		Message: "Operation took " + decimal(duration) + "ms (threshold: " + decimal(limit) + "ms)",
		Details: map[string]any{"operation": operation, "duration_ms": duration, "threshold_ms": limit},
	}
}

// writeWarnings writes the member warnings, if there are any: the most important ones first (requirements REQ-WA-03,
// REQ-WA-04).
func (x *exchange) writeWarnings(w *wire.Writer) {
	list := x.notices.list
	if len(list) == 0 {
		return
	}
	slices.SortStableFunc(list, func(a, b notice) int { return severityRank(a.Severity) - severityRank(b.Severity) })
	if left := len(list) - mostWarnings; left > 0 || x.notices.more > 0 {
		shown := min(len(list), mostWarnings-1)
		left = len(list) - shown + x.notices.more
		list = append(slices.Clone(list[:shown]), notice{
			Warning: Warning{Code: "SUPPRESSED_WARNINGS", Message: decimal(left) + " more warnings were left out", Severity: Low},
			details: `{"count":` + decimal(left) + `}`, count: 1,
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
			details := maps.Clone(n.Details)
			if details == nil {
				details = make(map[string]any, 1)
			}
			details["occurrence_count"] = n.count
			w.Key("details")
			w.Any(details)
		} else if n.details != "" {
			w.Key("details")
			w.Raw(n.details)
		}
		w.EndObject()
	}
	w.EndArray()
}

// writeMeta writes the member _meta, if the adapter's answers have one (requirements REQ-MT-03, REQ-MT-07).
func (x *exchange) writeMeta(w *wire.Writer, took time.Duration) {
	if !x.adapter.options.ResponseMeta {
		return
	}
	w.Key("_meta")
	w.BeginObject()
	w.Key("request_id")
	w.String(x.requestID())
	w.Key("duration_ms")
	w.Int(took.Milliseconds())
	w.EndObject()
}
