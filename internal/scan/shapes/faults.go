package shapes

import (
	"fmt"
	"go/types"
	"strings"

	"github.com/aqltag/aqltag/internal/scan/source"
)

// strippedFault returns what to do about a type that has only the hidden fields of another package's type, as
// type Stamp time.Time. The methods that wrote and read them stay behind, so encoding/json writes {}.
func (m *Maker) strippedFault(t types.Type, u *types.Struct) *Fault {
	named, ok := t.(*types.Named)
	if !ok || u.NumFields() == 0 {
		return nil
	}
	for field := range u.Fields() {
		if field.Exported() || field.Embedded() || field.Pkg() == named.Obj().Pkg() {
			return nil
		}
	}
	of := "a type of package " + u.Field(0).Pkg().Name()
	if spec := m.TypeSyntax(named.Obj()).Spec; spec != nil {
		of = types.ExprString(spec.Type)
	}
	return &Fault{
		Message: fmt.Sprintf("%s has the hidden fields of %s without its methods, so JSON carries nothing of it",
			m.text(t), of),
		Suggestion: fmt.Sprintf("use %s itself, or embed it: struct{ %s }", of, of),
	}
}

// interfaceFault returns what to do about an interface, with the types that implement it.
func (m *Maker) interfaceFault(t types.Type, u *types.Interface) *Fault {
	fault := &Fault{
		Message:    fmt.Sprintf("interface %s cannot be carried as JSON: nothing says which type to decode into", m.text(t)),
		Suggestion: "use any or a concrete type",
	}
	named, ok := t.(*types.Named)
	if !ok || !source.InMainModule(m.Packages[named.Obj().Pkg()]) {
		return fault
	}
	var variants []string
	scope := named.Obj().Pkg().Scope()
	for _, name := range scope.Names() {
		object, ok := scope.Lookup(name).(*types.TypeName)
		if !ok || object.IsAlias() || object == named.Obj() || types.IsInterface(object.Type()) ||
			EmbedsEndlessly(object.Type()) {
			continue
		}
		if types.Implements(object.Type(), u) || types.Implements(types.NewPointer(object.Type()), u) {
			variants = append(variants, name)
		}
	}
	if len(variants) > 0 && len(variants) <= 8 {
		fault.Message += fmt.Sprintf(" (%s implement it)", strings.Join(variants, ", "))
		fault.Suggestion = "use a struct with a pointer field for each of them, of which one is set, " +
			"or a type with MarshalJSON and UnmarshalJSON"
	}
	return fault
}
