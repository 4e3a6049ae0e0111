package shapes

import (
	"fmt"
	"go/types"
	"slices"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/internal/scan/tags"
)

// keepName gives a field the name that encoding/json writes, where the package keeps names.
func (m *Maker) keepName(tag *tags.Tag, v *types.Var) {
	name := tag.Name
	switch {
	case !m.Verbatim || tag.Named && !tag.FromJSON: // name= in the aql tag decides
		return
	case !tag.Named:
		name = v.Name()
	}
	if naming.IsValid(name) || naming.IsReservedField(name) || !naming.IsKept(name) {
		return
	}
	tag.Name, tag.Parameter = name, naming.ForField(name, v.Name())
}

// AsParameters returns the struct of a request with the names of parameters, in snake_case, where the package keeps
// names. Those of json tags are accepted too.
func (m *Maker) AsParameters(request *Shape) *Shape {
	if !m.Verbatim || !slices.ContainsFunc(request.Fields, func(f Field) bool { return f.Tag.Parameter != "" }) {
		return request
	}
	out := request.Clone()
	taken := make(map[string]*Field, len(out.Fields))
	for i := range out.Fields {
		f := &out.Fields[i]
		if f.Tag.Parameter != "" {
			f.Tag.Nested, f.Tag.Name, f.Tag.Parameter = f.Tag.Name, f.Tag.Parameter, ""
			f.Param.Name = f.Tag.Name
			if f.Tag.FromJSON && naming.IsAlias(f.Tag.Nested) {
				f.Tag.Original = f.Tag.Nested
				f.Param.Aliases = append(slices.Clip(f.Param.Aliases), f.Tag.Original)
			}
		}
		if first := taken[f.Param.Name]; first != nil && f.Param.Constant == "" {
			m.Report(f.Tag.NameAt, diag.Diagnostic{
				Code: diag.CodeDuplicate, FieldPath: f.Path, Actual: f.Param.Name,
				Message:    fmt.Sprintf("wire name %q is taken by field %s", f.Param.Name, first.Path),
				Suggestion: "give one of the two another name with name=",
				Related:    []diag.Related{m.Related(first.Var.Pos(), first.Path+" is here")},
			})
		}
		taken[f.Param.Name] = f
	}
	return out
}

// AsNested undoes AsParameters for a field that comes below a parameter after all.
func AsNested(f *Field) {
	if f.Tag.Nested == "" {
		return
	}
	f.Param.Aliases = slices.DeleteFunc(slices.Clone(f.Param.Aliases), func(alias string) bool {
		return alias == f.Tag.Original
	})
	f.Tag.Name, f.Tag.Parameter, f.Tag.Nested, f.Tag.Original = f.Tag.Nested, f.Tag.Name, "", ""
	f.Param.Name = f.Tag.Name
}
