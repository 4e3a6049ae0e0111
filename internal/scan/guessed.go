package scan

import (
	"fmt"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/runtime/gen"
)

// reportGuesses reports operations whose category and danger level nobody has reviewed. It is called behind silence:
// what ends a guess is that a person removes the key.
func (s *scanner) reportGuesses(operations []operation) {
	severity := diag.Note
	if s.opts.Lint {
		severity = diag.Warning
	}
	for _, o := range operations {
		item, ok := tags.Find(o.items, "guessed")
		if !ok {
			continue
		}
		name := naming.SnakeCase(o.name())
		if op, named := tags.Find(o.items, "op"); named {
			name = op.Value
		}
		category, _ := tags.Find(o.items, "category")
		s.Report(item.At, diag.Diagnostic{
			Severity: severity, Code: diag.CodeMissing, Kind: diag.KindGuessed, FieldPath: o.name(), Actual: category.Value,
			Message: fmt.Sprintf("nobody has reviewed that %s is %s: aql-tag init guessed its category and danger",
				name, category.Value),
			Suggestion: fmt.Sprintf("read what %s does, correct both, and remove guessed", o.name()),
		})
	}
}

// checkDanger warns of a danger level that contradicts the category: what changes something is not safe, and READ
// changes nothing (MCP-AQL danger levels §3.3). An EXECUTE operation may be safe.
func (b *builder) checkDanger(o operation, op *gen.Operation) {
	if op.DangerSource != gen.DangerFromTag {
		return
	}
	var message, suggestion string
	switch {
	case op.Category == gen.Read && op.Danger.Level() > gen.Safe.Level():
		message = fmt.Sprintf("operation %s is READ, which changes nothing, and %s", op.Name, op.Danger)
		suggestion = "category=EXECUTE if it changes anything; else remove danger, and let a policy ask before it"
	case op.Danger == gen.Safe && op.Category != gen.Read && op.Category != gen.Execute:
		message = fmt.Sprintf("operation %s is %s, which changes something, and safe, which says that it does not", op.Name,
			op.Category)
		suggestion = fmt.Sprintf("danger=%s, or category=READ if it changes nothing", naming.CategoryDanger(op.Category))
	default:
		return
	}
	at := o.itemsAt
	if item, ok := tags.Find(o.items, "danger"); ok {
		at = item.At
	}
	b.Report(at, diag.Diagnostic{
		Severity: diag.Warning, Code: diag.CodeType, Kind: diag.KindContradicts, FieldPath: o.name(),
		Expected: string(naming.CategoryDanger(op.Category)), Actual: string(op.Danger),
		Message: message, Suggestion: suggestion,
	})
}
