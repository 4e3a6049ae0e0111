// Package params makes the parameters of struct fields and function arguments: names, constraints, defaults and
// descriptions.
package params

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/comment"
	"github.com/aqltag/aqltag/internal/scan/existing"
	"github.com/aqltag/aqltag/internal/scan/gotype"
	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/runtime/gen"
)

// Maker makes parameters for the operations of one package.
type Maker struct {
	*source.Program
	own      *types.Package
	existing *existing.Reconciler
}

// NewMaker makes a maker for the operations of package own.
func NewMaker(p *source.Program, own *types.Package) *Maker {
	return &Maker{Program: p, own: own, existing: existing.NewReconciler(p, own)}
}

// text is a Go type as the user writes it.
func (m *Maker) text(t types.Type) string { return gotype.Text(t, m.own) }

// Fill fills in the parameters of the fields of structs.
func (m *Maker) Fill(structs []*shapes.Shape) {
	for _, shape := range structs {
		for i := range shape.Fields {
			m.FillField(&shape.Fields[i])
		}
		m.AddConstants(shape)
	}
}

// FillField fills in the parameter of a field. Package wiretype completes what depends on the names of types: Type,
// Items and the values of an enum type.
func (m *Maker) FillField(field *shapes.Field) {
	_, quoted := field.Tag.Item("string")
	value := shapes.Indirect(field.Shape)
	if quoted = quoted && isInteger(value) || value != nil && value.Quoted; quoted {
		field.Param.Quoted = true
	}
	param := m.paramOf(field.Declaration, field.Shape, field.Param.Quoted)
	was := &field.Param
	param.Go, param.OmitEmpty, param.OmitZero, param.Quoted = was.Go, was.OmitEmpty, was.OmitZero, was.Quoted
	if element := leaf(field.Shape); element != nil && element.Quoted && !param.Quoted {
		constrainer{m, field.Declaration, value, &param}.quoteElements()
	}
	field.Param = param
}

func (m *Maker) paramOf(f shapes.Declaration, shape *shapes.Shape, quotedNumber bool) gen.Param {
	if !shapes.IsRuntime(f.Var.Pkg()) {
		m.checkName(f.Tag, f.Path)
	}
	param := gen.Param{Name: f.Tag.Name, ReadOnly: naming.IsReservedField(f.Tag.Name)}
	if f.Tag.Field != nil {
		param.Description = comment.Describe(source.FirstComment(f.Tag.Field.Doc, f.Tag.Field.Comment), f.Tag.GoName)
		if !m.Editable(f.Var.Pkg()) {
			param.Description = comment.Synopsis(param.Description)
		}
	}
	if f.Tag.Foreign.Description != "" {
		param.Description = f.Tag.Foreign.Description
	}
	items, elements := m.existing.Reconcile(f, shape)
	f.Tag.Items = items
	c := constrainer{m, f, shapes.Indirect(shape), &param}
	for _, item := range f.Tag.Items {
		c.apply(item)
	}
	c.checkEnum()
	c.checkRanges()
	if naming.IsAlias(f.Tag.Original) {
		param.Aliases = append(slices.Clip(param.Aliases), f.Tag.Original)
	}
	m.applyElements(f, shape, &param, elements)
	if item, ok := f.Tag.Item("default"); ok {
		c.applyDefault(item, quotedNumber)
	}
	return param
}

// applyElements applies the constraints on the elements of a field, on those of its elements, and so on.
func (m *Maker) applyElements(
	f shapes.Declaration, shape *shapes.Shape, param *gen.Param, elements map[int][]tags.Item,
) {
	shape = shapes.Indirect(shape)
	for depth := 1; len(elements) > 0 && shape != nil && shape.Elem != nil; depth++ {
		shape = shapes.Indirect(shape.Elem)
		param.Items = &gen.Param{}
		param = param.Items
		f.Tag.Items = elements[depth]
		c := constrainer{m, f, shape, param}
		for _, item := range elements[depth] {
			c.apply(item)
		}
		c.checkEnum()
		c.checkRanges()
		delete(elements, depth)
	}
}

// checkName reports a wire name outside the grammar of names.
func (m *Maker) checkName(tag tags.Tag, path string) {
	if tag.Parameter != "" || naming.IsValid(tag.Name) || naming.IsReservedField(tag.Name) {
		return
	}
	d := diag.Diagnostic{
		Code: diag.CodeName, Message: fmt.Sprintf("wire name %q does not match ^[a-z][a-z0-9_]*$", tag.Name),
		Expected: "^[a-z][a-z0-9_]*$", Actual: tag.Name, Suggestion: naming.Use(tag.Name), FieldPath: path,
	}
	if strings.HasPrefix(tag.Name, "_") {
		d.Message = fmt.Sprintf("wire name %q begins with an underscore, "+
			"which only the protocol's own _etag, _version and _computed may",
			tag.Name)
	}
	m.Report(tag.NameAt, d)
}
