package aql

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/codec"
)

// hiddenFields are the fields of results that callers do not get, by the names of their types.
type hiddenFields map[string][]string

// fieldsHidden reads fields that are written as Type.field, with blanks between them.
func fieldsHidden(text string) hiddenFields {
	hidden := make(hiddenFields)
	for field := range strings.FieldsSeq(text) {
		typ, name, _ := strings.Cut(field, ".")
		hidden[typ] = append(hidden[typ], name)
	}
	return hidden
}

func (h hiddenFields) has(typ, field string) bool { return slices.Contains(h[typ], field) }

// leaveOut leaves the fields out of the definitions. A type that parameters mention too keeps them with a note, because
// requests may have them.
func (h hiddenFields) leaveOut(definitions *gen.Definitions) {
	if len(h) == 0 {
		return
	}
	given := parameterTypes(definitions)
	definitions.Types = slices.Clone(definitions.Types)
	for i := range definitions.Types {
		t := &definitions.Types[i]
		var fields []gen.Param
		for _, p := range t.Fields {
			switch {
			case !h.has(t.Name, p.Name):
			case given[t.Name]:
				p.Description = strings.TrimPrefix(strings.TrimSuffix(p.Description, ".")+". Not in results", ". ")
			default:
				continue
			}
			fields = append(fields, p)
		}
		t.Fields = fields
	}
	*definitions = definitions.Only(func(*gen.Operation) bool { return true })
}

// parameterTypes returns the names of the types that parameters mention.
func parameterTypes(definitions *gen.Definitions) map[string]bool {
	asked := gen.Definitions{Types: definitions.Types}
	for _, o := range definitions.Operations {
		asked.Operations = append(asked.Operations, gen.Operation{Name: o.Name, Params: o.Params})
	}
	names := make(map[string]bool)
	for _, t := range asked.Only(func(*gen.Operation) bool { return true }).Types {
		names[t.Name] = true
	}
	return names
}

// mask returns what hides the fields from results; nil: nothing is hidden.
func (h hiddenFields) mask() *codec.Mask {
	if len(h) == 0 {
		return nil
	}
	return codec.NewMask(h.has)
}

// newCall returns what makes the calls of a handler without the fields of its result; nil: it has none of them.
func (h hiddenFields) newCall(handler *bound, mask *codec.Mask) func(*slots) call {
	if mask == nil || handler.encoder == nil {
		return nil
	}
	left, found := mask.Of(handler.encoder)
	if len(found) == 0 {
		return nil
	}
	masked := *handler
	masked.mask, masked.left = mask, left
	return masked.newCall
}

// checkHidden fails where fields that a policy hides cannot be found in what a handler returns.
func (a *Adapter) checkHidden(fields []string) error {
	hidden := fieldsHidden(strings.Join(fields, " "))
	var faults []error
	for i := range a.registered.Operations {
		o := &a.registered.Operations[i]
		handler := a.handlers[o.Name]
		if handler.encoder == nil {
			continue
		}
		_, found := hidden.mask().Of(handler.encoder)
		types := make(map[string]bool)
		gen.Mention(a.types, o.Returns.Name, types)
		for _, typ := range slices.Sorted(maps.Keys(hidden)) {
			for _, name := range hidden[typ] {
				if types[typ] && !found[typ+"."+name] {
					faults = append(faults, fmt.Errorf(
						"policy: %s.%s cannot be hidden: the handler of %s does not return it as a field",
						typ, name, o.Name))
				}
			}
		}
	}
	return errors.Join(faults...)
}
