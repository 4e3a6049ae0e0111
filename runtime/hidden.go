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

// withPromoted adds to fields, each as Type.field, those that other structs have because they embed the Type.
func withPromoted(fields []string, promoted map[string][]string) []string {
	all := slices.Clone(fields)
	for _, field := range fields {
		all = append(all, promoted[field]...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// results returns the encoders of what the handlers return.
func (a *Adapter) results() []*codec.Result {
	var results []*codec.Result
	for _, handler := range a.handlers {
		if handler.encoder != nil {
			results = append(results, handler.encoder)
		}
	}
	return results
}

func (h hiddenFields) has(typ, field string) bool { return slices.Contains(h[typ], field) }

// leaveOut leaves the fields out of the definitions. A type that parameters mention too keeps them with a note, because
// requests may have them.
func (h hiddenFields) leaveOut(definitions *gen.Definitions) {
	if len(h) == 0 {
		return
	}
	h.leaveOutOfExamples(definitions)
	h.leaveOutOfQueries(definitions)
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
		if t.Computed != nil {
			t.Computed = slices.DeleteFunc(slices.Clone(t.Computed), func(p gen.Param) bool {
				return h.has(t.Name, gen.ComputedPrefix+p.Name)
			})
		}
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
	left, found, _ := mask.Of(handler.encoder)
	if len(found) == 0 {
		return nil
	}
	masked := *handler
	masked.mask, masked.left = mask, left
	if masked.lister != nil {
		masked.decoder = masked.lister.hide(handler.decoder, mask)
	}
	return masked.newCall
}

// checkHidden fails where fields that a policy hides would be in what a handler returns: where it does not return them
// as fields at all, or in one place has a value that writes itself. Fields that results leave out for everybody pass.
func (a *Adapter) checkHidden(fields []string) error {
	hidden := fieldsHidden(strings.Join(fields, " "))
	var faults []error
	for i := range a.registered.Operations {
		o := &a.registered.Operations[i]
		handler := a.handlers[o.Name]
		if handler.encoder == nil {
			continue
		}
		_, found, opaque := hidden.mask().Of(handler.encoder)
		types, unread := make(map[string]bool), make(map[string]bool)
		a.addReturned(o.Returns.Name, types)
		for name := range opaque {
			a.addReturned(name, unread)
		}
		for _, typ := range slices.Sorted(maps.Keys(hidden)) {
			for _, name := range hidden[typ] {
				switch {
				case unread[typ]:
					faults = append(faults, fmt.Errorf(
						"policy: %s.%s cannot be hidden: the handler of %s returns a value with it that writes its own JSON",
						typ, name, o.Name))
				case strings.HasPrefix(name, gen.ComputedPrefix): // only what loads it writes it
				case types[typ] && !found[typ+"."+name] && !a.neverReturned(typ, name):
					faults = append(faults, fmt.Errorf(
						"policy: %s.%s cannot be hidden: the handler of %s does not return it as a field",
						typ, name, o.Name))
				}
			}
		}
	}
	return errors.Join(faults...)
}

// neverReturned reports whether results leave a field out for everybody.
func (a *Adapter) neverReturned(typ, field string) bool {
	t := a.types[typ]
	return slices.Contains(t.Withheld, field) ||
		slices.ContainsFunc(t.Fields, func(p gen.Param) bool { return p.Name == field && p.Sensitive })
}

// addReturned adds the types that values of a type consist of in results.
func (a *Adapter) addReturned(name string, names map[string]bool) {
	t := a.types[name]
	if t == nil || names[name] {
		return
	}
	names[name] = true
	params := slices.DeleteFunc(slices.Clone(t.Fields), func(p gen.Param) bool { return p.Sensitive })
	params = append(append(params, t.Computed...), t.Related...)
	if t.Items != nil {
		params = append(params, *t.Items)
	}
	for i := range params {
		for p := &params[i]; p != nil; p = p.Items {
			a.addReturned(p.Type, names)
		}
	}
	for _, member := range t.Members {
		a.addReturned(member, names)
	}
}
