package aql

import (
	"context"
	"sync"
)

// Warning tells an agent of something about a successful answer that it should know and act upon (MCP-AQL warnings §2).
type Warning struct {
	Code     string   // capital letters, digits and underscores, such as DEPRECATION_WARNING
	Message  string   // a sentence for the agent; it must show nothing internal
	Severity Severity // empty: SeverityMedium
	details  []detail
}

// WithDetail returns a copy of w with a member in its details, in place of one of the same name. The value is written as
// encoding/json writes it.
func (w Warning) WithDetail(name string, value any) Warning {
	w.details = withDetail(w.details, name, value)
	return w
}

// Severity is how important a warning is.
type Severity string

// The severities (MCP-AQL warnings §3.2). The zero value is SeverityMedium.
const (
	SeverityHigh   Severity = "high"
	SeverityMedium Severity = "medium"
	SeverityLow    Severity = "low"
)

// Warn adds a warning to the answer of the request that ctx belongs to, which the handler received. It may be called from
// several goroutines. A warning that comes after the handler has returned, or for a ctx of no request, is dropped; so is
// one of a request that fails.
func Warn(ctx context.Context, w Warning) {
	if collector, ok := ctx.Value(warningsKey{}).(*warnings); ok {
		collector.add(w)
	}
}

// Truncated is the warning of a list that holds fewer items than there are: field names it, original is the number of items
// there are, and limit that of those in the answer (MCP-AQL warnings §4).
func Truncated(field string, original, limit int) Warning {
	severity := SeverityLow
	if 2*limit < original {
		severity = SeverityMedium
	}
	return Warning{
		Code: "VALIDATION_TRUNCATED_WARNING", Message: "Response truncated to " + decimal(limit) + " items", Severity: severity,
		details: []detail{
			{"field", field}, {"limit", limit}, {"original_count", original}, {"truncated_count", min(original, limit)},
		},
	}
}

type warningsKey struct{}

// mostCollected is how many warnings of one request are kept: a handler may warn in a loop.
const mostCollected = 100

// warnings are those of one request.
type warnings struct {
	mutex  sync.Mutex
	list   []Warning
	more   int  // that were not kept
	closed bool // the handler has returned
}

func (w *warnings) add(warning Warning) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	switch {
	case w.closed:
	case len(w.list) == mostCollected:
		w.more++
	default:
		w.list = append(w.list, warning)
	}
}

// take ends the collection and returns what was collected.
func (w *warnings) take() (list []Warning, more int) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.closed = true
	return w.list, w.more
}

// handling is the context of a handler. It is one allocation for the context and what it collects.
type handling struct {
	context.Context
	warnings warnings
	spending spending
}

// Value finds what is collected, for Warn and Spend, and keeps back what is not for handlers.
func (h *handling) Value(key any) any {
	switch key.(type) {
	case warningsKey:
		return &h.warnings
	case spendingKey:
		return &h.spending
	case answerKey:
		return nil // it is about this request, and not about those that the handler makes
	default:
		return h.Context.Value(key)
	}
}
