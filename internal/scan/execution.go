package scan

import (
	"fmt"
	"go/types"
	"slices"
	"time"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/gotype"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/runtime/gen"
)

// isRun reports whether a parameter of a handler is the *aql.Run of an attempt at an execution.
func isRun(t types.Type) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	return ok && gotype.Is(p.Elem(), runtimePath, "Run")
}

// addLifecycle makes the operation of a handler that takes a *aql.Run one that outlives its call.
func (b *builder) addLifecycle(o operation, h *handled) {
	once := b.onceOf(o, h)
	if !o.run {
		b.refuseLifecycle(o, h)
		return
	}
	op := &h.Operation
	h.Run = true
	report := func(message, suggestion string) {
		b.Report(o.itemsAt, diag.Diagnostic{
			Code: diag.CodeType, FieldPath: o.name(), Message: message, Suggestion: suggestion,
		})
	}
	if op.Category != gen.Execute && op.Category != "" {
		report(fmt.Sprintf("%s takes a *aql.Run, so that it runs in the background, and its category is %s", op.Name,
			op.Category), "use category=EXECUTE, or remove the parameter")
	}
	l := &gen.Lifecycle{Once: once}
	for _, item := range o.items {
		switch item.Key {
		case "durable":
			l.Durable = true
		case "asks":
			l.Asks = true
		case "retry":
			l.Retry = b.retries(o, item)
		case "keep":
			l.Keep = b.keepFor(item)
		}
	}
	for i := range h.request.Fields {
		if h.request.Fields[i].Param.DryRun {
			report(fmt.Sprintf("dryrun has no meaning in %s, which runs in the background", op.Name),
				"make the dry run an operation of its own")
		}
	}
	if !l.Asks {
		b.reportPause(o)
	}
	op.Lifecycle = l
}

// mostRetries is the largest value of retry.
const mostRetries = 100

func (b *builder) retries(o operation, item tags.Item) int {
	n := 0
	if _, err := fmt.Sscan(item.Value, &n); err != nil || n > mostRetries {
		b.Report(item.ValueAt, diag.Diagnostic{
			Code: diag.CodeType, FieldPath: o.name(), Actual: item.Value,
			Message: fmt.Sprintf("retry is %s; it is %d or less", item.Value, mostRetries), Suggestion: "write it like retry=3",
		})
		return 0
	}
	return n
}

// keepFor returns how long an execution that has ended can be read.
func (b *builder) keepFor(item tags.Item) time.Duration {
	keep, err := time.ParseDuration(item.Value)
	if err != nil || keep < time.Second {
		b.Report(item.ValueAt, diag.Diagnostic{
			Code: diag.CodeType, Message: fmt.Sprintf("keep needs a duration of a second or more, not %q", item.Value),
			Suggestion: "write it like 24h", Actual: item.Value,
		})
		return 0
	}
	return keep
}

// refuseLifecycle reports what has no meaning for an operation that ends before it answers.
func (b *builder) refuseLifecycle(o operation, h *handled) {
	for _, item := range o.items {
		if slices.Contains([]string{"durable", "retry", "keep", "asks"}, item.Key) {
			b.Report(item.At, diag.Diagnostic{
				Code: diag.CodeType, FieldPath: o.name(),
				Message:    fmt.Sprintf("%s has no meaning for %s, which ends before it answers", item.Key, h.Operation.Name),
				Suggestion: "give the function a last parameter run *aql.Run, or remove it",
			})
		}
	}
}

// onceOf returns the parameter whose value starts one execution only; empty: there is none.
func (b *builder) onceOf(o operation, h *handled) string {
	name := ""
	refuse := func(f *shapes.Field, message string) {
		item, _ := f.Tag.Item("once")
		b.Report(item.At, diag.Diagnostic{
			Code: diag.CodeType, FieldPath: f.Path, Message: message, Suggestion: "remove it",
		})
	}
	nested := func(_ *shapes.Shape, f *shapes.Field) bool {
		if _, ok := f.Tag.Item("once"); ok {
			refuse(f, "once has no meaning on a field of an object; it is for a parameter of an operation")
		}
		return true
	}
	visited := make(map[*shapes.Shape]bool)
	eachField(h.result, visited, nested)
	for i := range h.request.Fields {
		f := &h.request.Fields[i]
		eachField(f.Shape, visited, nested)
		if _, ok := f.Tag.Item("once"); !ok {
			continue
		}
		switch {
		case !o.run:
			refuse(f, fmt.Sprintf("once has no meaning for %s, which ends before it answers", h.Operation.Name))
		case name != "":
			refuse(f, fmt.Sprintf("%s has another parameter with once, %s", h.Operation.Name, name))
		default:
			name = f.Param.Name
		}
	}
	return name
}

// checkExecutionNames reports operations of a package that have the names of those which executions add.
func (b *builder) checkExecutionNames(handlers []handled, operations []operation) {
	if !slices.ContainsFunc(handlers, func(h handled) bool { return h.Run }) {
		return
	}
	added := []string{gen.GetExecution, gen.ListExecutions, gen.CancelExecution, gen.RetryExecution}
	if slices.ContainsFunc(handlers, func(h handled) bool { return h.Run && h.Operation.Lifecycle.Asks }) {
		added = append(added, gen.AnswerExecution)
	}
	for i := range handlers {
		if name := handlers[i].Operation.Name; slices.Contains(added, name) {
			b.Report(operations[i].at(), diag.Diagnostic{
				Code: diag.CodeDuplicate, FieldPath: operations[i].name(), Actual: name,
				Message:    fmt.Sprintf("operations that run in the background add the operation %s", name),
				Suggestion: "rename this one with op=",
			})
		}
	}
}
