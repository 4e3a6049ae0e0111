package scan

import (
	"fmt"
	"go/token"
	"slices"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/model"
)

// checkReserved reports what a package declares under names that generated code needs for itself.
func (b *builder) checkReserved(root *packages.Package, handlers []handled) {
	names := append(model.Predeclared(), model.Constructor)
	if slices.ContainsFunc(handlers, func(h handled) bool { return h.Receiver != nil }) {
		names = append(names, model.Choosing)
	}
	for _, name := range names {
		object := root.Types.Scope().Lookup(name)
		if object == nil || b.IsGenerated(b.Position(object.Pos()).File) {
			continue
		}
		message := fmt.Sprintf("generated code needs %s in its usual meaning", name)
		if name == model.Constructor || name == model.Choosing {
			message = fmt.Sprintf("%s is the name of the constructor that aql-tag generates", name)
		}
		b.Report(source.Span{Start: object.Pos(), End: object.Pos() + token.Pos(len(name))}, diag.Diagnostic{
			Code: diag.CodeDuplicate, FieldPath: name, Message: message, Suggestion: "rename it",
		})
	}
}
