package scan

import (
	"fmt"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/runtime/gen"
)

// checkDryRun reports the key dryrun where it has no meaning: on a parameter of an operation that changes nothing, on a
// second one, and inside of a parameter.
func (b *builder) checkDryRun(h *handled, at int) {
	f := &h.request.Fields[at]
	eachField(f.Shape, make(map[*shapes.Shape]bool), b.checkNoDryRun)
	item, ok := f.Tag.Item("dryrun")
	if !ok || !f.Param.DryRun {
		return
	}
	report := func(message string) {
		b.Report(item.At, diag.Diagnostic{
			Code: diag.CodeType, FieldPath: f.Path, Message: message, Suggestion: "remove it",
		})
	}
	if h.Operation.Category == gen.Read {
		report(fmt.Sprintf("dryrun has no meaning for %s: an operation of category READ changes nothing anyway",
			h.Operation.Name))
	}
	for i := range at {
		if other := &h.request.Fields[i]; other.Param.DryRun {
			report(fmt.Sprintf("%s has another parameter with dryrun, %s", h.Operation.Name, other.Param.Name))
			break
		}
	}
}

// checkNoDryRun reports the key dryrun in a field of an object in a parameter.
func (b *builder) checkNoDryRun(_ *shapes.Shape, f *shapes.Field) bool {
	if item, ok := f.Tag.Item("dryrun"); ok {
		b.Report(item.At, diag.Diagnostic{
			Code: diag.CodeType, FieldPath: f.Path,
			Message:    "dryrun has no meaning on a field of an object; it is for the parameters of an operation",
			Suggestion: "remove it",
		})
	}
	return true
}
