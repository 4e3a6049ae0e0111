package aql

import (
	"context"
	"strconv"
	"sync"
)

// Warning is something about a successful answer that an agent should know and act upon (MCP-AQL warnings §2).
type Warning struct {
	Code     string   // capital letters, digits and underscores, such as DEPRECATION_WARNING
	Message  string   // a sentence for the agent; it must show nothing internal
	Severity Severity // empty: SeverityMedium
	details  []detail
}

// WithDetail returns a copy of w with a member in its details, in place of one of the same name. The value is written
// as encoding/json writes it.
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

// Warn adds a warning to the answer of the request that ctx, the handler's context, belongs to. It may be called from
// several goroutines. The warning is dropped if the request fails, if the handler has returned, and if ctx does not
// belong to a request. Those of an attempt at an execution are kept with the execution if the attempt ends it, as
// completed, failed or cancelled, and are in the answers about it then. A step that is not done again does not warn
// again.
func Warn(ctx context.Context, w Warning) {
	if collector, ok := ctx.Value(warningsKey{}).(*warnings); ok {
		collector.add(w)
	}
}

// Truncated is the warning that a list of the answer has fewer items than there are: field names the list, original is
// the number of items that there are, negative if it is not known, and limit the number of items in the answer (MCP-AQL
// warnings §4).
func Truncated(field string, original, limit int) Warning {
	w := Warning{
		Code: "VALIDATION_TRUNCATED_WARNING", Severity: SeverityLow,
		Message: "Response truncated to " + strconv.Itoa(limit) + " items",
		details: []detail{{"field", field}, {"limit", limit}},
	}
	if original < 0 {
		w.Severity = SeverityMedium
		return w.WithDetail("truncated_count", limit)
	}
	if 2*limit < original {
		w.Severity = SeverityMedium
	}
	return w.WithDetail("original_count", original).WithDetail("truncated_count", min(original, limit))
}

type warningsKey struct{}

// maxCollected is how many warnings of one request are collected: a handler may warn in a loop.
const maxCollected = 100

// warnings are those of one request.
type warnings struct {
	mutex  sync.Mutex
	list   []Warning
	more   int  // that were not collected
	closed bool // the handler has returned
}

func (w *warnings) add(warning Warning) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	switch {
	case w.closed:
	case len(w.list) == maxCollected:
		w.more++
	default:
		w.list = append(w.list, warning)
	}
}

// close ends the collection.
func (w *warnings) close() {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.closed = true
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
	usage    usage
	progress *progress // under the mutex of the warnings; nil: nothing was reported
}

// handlingKey finds the handling of a request.
type handlingKey struct{}

// Value finds what is collected, for Warn, ReportUsage and ReportProgress, and hides what is not for handlers.
func (h *handling) Value(key any) any {
	switch key.(type) {
	case warningsKey:
		return &h.warnings
	case usageKey:
		return &h.usage
	case handlingKey:
		return h
	case answerKey, progressKey:
		return nil // they belong to this request, and not to those that the handler sends
	default:
		return h.Context.Value(key)
	}
}
