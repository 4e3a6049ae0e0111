package scan

import (
	"fmt"
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/gotype"
)

// choose returns the one handler of each request struct, and reports request structs that have none or several.
func (s *scanner) choose(roots []*packages.Package, found []operation) []operation {
	byRequest := make(map[string][]operation)
	var chosen []operation
	var order []string
	for _, o := range found {
		if !o.tagged {
			if o.misfit != nil {
				s.reportMisfit(o)
				continue
			}
			chosen = append(chosen, o)
			continue
		}
		key := types.TypeString(o.request, nil)
		if byRequest[key] == nil {
			order = append(order, key)
		}
		byRequest[key] = append(byRequest[key], o)
	}
	for _, key := range order {
		group := byRequest[key]
		// A function that only takes the struct, such as a validation, is not a handler if another function is.
		handlers := slices.DeleteFunc(slices.Clone(group), func(o operation) bool { return o.misfit != nil })
		if len(handlers) == 0 {
			for _, o := range group {
				s.reportMisfit(o)
			}
			continue
		}
		for _, o := range handlers[1:] {
			s.reportSecond(handlers[0], o)
		}
		chosen = append(chosen, handlers[0])
	}
	handled := make(map[*types.TypeName]bool, len(found))
	for _, o := range found {
		if named, ok := types.Unalias(o.request).(*types.Named); ok && o.tagged {
			handled[named.Origin().Obj()] = true
		}
	}
	for _, root := range roots {
		s.reportUnhandled(root, handled)
	}
	slices.SortStableFunc(chosen, func(a, b operation) int { return s.Before(a.at().Start, b.at().Start) })
	return chosen
}

// reportMisfit reports a function that is marked as a handler and cannot be one.
func (s *scanner) reportMisfit(o operation) {
	d := diag.Diagnostic{
		Code: diag.CodeType, FieldPath: o.name(), Suggestion: o.misfit.Suggestion,
		Message: fmt.Sprintf("%s cannot be a handler: %s", o.name(), o.misfit.Message),
	}
	if o.tagged {
		d.Message = fmt.Sprintf("%s cannot be the handler of %s: %s", o.name(), gotype.Name(o.request), o.misfit.Message)
		d.Related = []diag.Related{s.Related(o.itemsAt.Start, gotype.Name(o.request)+" is tagged here")}
	}
	s.Report(o.at(), d)
}

// reportSecond reports a second handler of a request struct.
func (s *scanner) reportSecond(first, second operation) {
	request := gotype.Name(first.request)
	s.Report(second.at(), diag.Diagnostic{
		Code: diag.CodeDuplicate, FieldPath: second.name(),
		Message: fmt.Sprintf("%s is handled by %s and %s; a tagged request struct has exactly one handler", request,
			first.name(), second.name()),
		Suggestion: fmt.Sprintf("give %s a request struct of its own, or another signature if it is no operation",
			second.name()),
		Related: []diag.Related{
			s.Related(first.at().Start, first.name()+" is here"),
			s.Related(first.itemsAt.Start, request+" is tagged here"),
		},
	})
}

// reportUnhandled reports tagged request structs that no function takes.
func (s *scanner) reportUnhandled(root *packages.Package, handled map[*types.TypeName]bool) {
	if root.Types == nil {
		return
	}
	for _, name := range root.Types.Scope().Names() {
		object, ok := root.Types.Scope().Lookup(name).(*types.TypeName)
		if !ok || object.IsAlias() {
			continue
		}
		named, ok := object.Type().(*types.Named)
		if !ok {
			continue
		}
		syntax := s.SyntaxOf(root.Types).Types[object.Pos()]
		if syntax.Spec == nil {
			continue
		}
		if _, own := syntax.Spec.Type.(*ast.StructType); !own {
			continue
		}
		tag, ok := s.operationTag(named)
		if !ok || handled[named.Origin().Obj()] {
			continue
		}
		s.Report(tag.TagAt, diag.Diagnostic{
			Code: diag.CodeUnresolved, FieldPath: name,
			Message: fmt.Sprintf("no function handles %s", name),
			Suggestion: fmt.Sprintf("add func %s(ctx context.Context, req %s) error, or remove the tag",
				strings.TrimSuffix(name, "Request"), name),
		})
	}
}
