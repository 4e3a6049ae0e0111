package jsonschema

import (
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/aqltag/aqltag/runtime/gen"
)

// use is where values of a type occur. The rules for reading a type differ from those for writing it.
type use int

const (
	input   use = iota // in parameters: null is absence
	changes            // in the input of an update whose type is not a type of changes: null is refused
	output             // in results
)

// nothing is the result type of operations that return no data.
const nothing = "Nothing"

// key is a type and one of its uses.
type key struct {
	name string
	as   use
}

// Set makes schemas that share the definitions of types.
type Set struct {
	types   map[string]*gen.Type
	prefix  string // of references
	names   map[key]string
	taken   map[string]bool
	defined map[string]*Schema
	outputs map[string]bool // types in results; nil: a set for parameters or results only
	partial map[string]bool // types in results with field selection, which may lack fields
	summary map[string]bool // types of summaries of collections
	returns string          // the result type of the operation whose parameters are rendered
	asTool  bool            // the schema is that of a tool: see Tool

	conditions []condition // of filters, in the schemas of tools
}

// NewSet returns a set for the parameters and the results of an adapter. References to definitions begin with prefix,
// such as "#/components/schemas/". A type that occurs in results and in parameters has two definitions: the name of the
// one for parameters ends in Input.
func NewSet(a *gen.Definitions, prefix string) *Set {
	s := newSet(a, prefix)
	s.outputs = make(map[string]bool)
	for i := range a.Operations {
		s.reach(a.Operations[i].Returns.Name, s.outputs)
	}
	return s
}

func newSet(a *gen.Definitions, prefix string) *Set {
	s := &Set{
		types: make(map[string]*gen.Type, len(a.Types)), prefix: prefix,
		names: make(map[key]string), taken: make(map[string]bool), defined: make(map[string]*Schema),
		partial: make(map[string]bool), summary: make(map[string]bool),
	}
	for i := range a.Types {
		s.types[a.Types[i].Name] = &a.Types[i]
		s.taken[a.Types[i].Name] = true
	}
	for i := range a.Operations {
		o := &a.Operations[i]
		if o.SelectsFields() {
			s.reach(s.resource(o.Returns.Name), s.partial)
		}
		if t, ok := gen.Expression(o, func(name string) *gen.Type { return s.types[name] }); ok {
			s.summary[t.Name] = true
		}
	}
	return s
}

// resource returns the type whose fields can be selected in results of a type: the type of its items, if it is a list
// of objects, or the type itself.
func (s *Set) resource(name string) string {
	t := s.types[name]
	if t == nil {
		return name
	}
	for i := range t.Fields {
		items := &t.Fields[i]
		if items.Name != "items" || items.Type != "array" {
			continue
		}
		for items.Items != nil {
			items = items.Items
		}
		if of := s.types[items.Type]; of != nil && of.Kind == gen.KindObject {
			return of.Name
		}
	}
	return name
}

// reach adds a type, and all types of its fields and elements, to a set of names.
func (s *Set) reach(name string, into map[string]bool) {
	t := s.types[name]
	if t == nil || into[name] {
		return
	}
	into[name] = true
	for i := range t.Fields {
		for p := &t.Fields[i]; p != nil; p = p.Items {
			s.reach(p.Type, into)
		}
	}
	for i := range t.Computed {
		for p := &t.Computed[i]; p != nil; p = p.Items {
			s.reach(p.Type, into)
		}
	}
	for i := range t.Related {
		for p := &t.Related[i]; p != nil; p = p.Items {
			s.reach(p.Type, into)
		}
	}
	for p := t.Items; p != nil; p = p.Items {
		s.reach(p.Type, into)
	}
	for _, member := range t.Members {
		s.reach(member, into)
	}
}

// Definitions returns the schemas of all types to which the schemas made so far refer, by name.
func (s *Set) Definitions() map[string]*Schema {
	if len(s.defined) == 0 {
		return nil
	}
	return maps.Clone(s.defined)
}

// Params returns the schema of an operation's parameters. It accepts names that begin with an underscore, because they
// are metadata (MCP-AQL core §4.6.1), and a token if one may confirm the operation.
func (s *Set) Params(o *gen.Operation) *Schema {
	schema := s.paramsOf(o, o.Danger.Level() >= gen.Destructive.Level() && o.TypeToConfirm == "")
	schema.Description = o.Description
	schema.Deprecated = o.Deprecated != "" || o.Replacement != ""
	schema.PatternProperties = map[string]bool{"^_": true}
	for _, example := range o.Examples {
		schema.Examples = append(schema.Examples, jsontext.Value(example.Params))
	}
	return schema
}

// paramsOf returns the schema of an operation's parameters, and of a token if the operation may require confirmation.
func (s *Set) paramsOf(o *gen.Operation, confirms bool) *Schema {
	params := o.Params
	s.returns = o.Returns.Name
	if token := gen.ConfirmationToken(); confirms {
		if _, own := o.Param(token.Name); !own {
			params = append(slices.Clone(params), token)
		}
	}
	return s.object(params, func(p *gen.Param) *Schema {
		as := input
		if o.Category == gen.Update && p.Name == "input" {
			as = changes
		}
		value := s.param(p, as)
		switch {
		case !p.Required && !s.asTool:
			value = orNull(value)
		case p.Required && p.Type == "any":
			value.Not = &Schema{Type: Types{"null"}}
		}
		return value
	})
}

// Result returns the schema of the results of an operation.
func (s *Set) Result(r gen.Returns) *Schema {
	if s.types[r.Name] == nil {
		return &Schema{Type: Types{"null"}}
	}
	if r.Nullable {
		return orNull(s.ref(r.Name, output))
	}
	return s.ref(r.Name, output)
}

// ref returns a reference to a type. The first reference adds its definition.
func (s *Set) ref(name string, as use) *Schema {
	t := s.types[name]
	if t == nil {
		return &Schema{}
	}
	switch {
	case t.Kind == gen.KindScalar, t.Kind == gen.KindEnum && slices.Contains(valuesOf(t), ""):
		as = output // the same in both directions
	case t.Kind == gen.KindEnum && as == changes:
		as = input
	case t.Changes != "":
		as = input // the type itself has the rules of updates
	}
	k := key{name, as}
	defined, known := s.names[k]
	if !known {
		defined = s.nameOf(k)
		s.names[k] = defined
		s.defined[defined] = nil // for references of a type that contains itself
		s.defined[defined] = s.typed(t, as)
	}
	return &Schema{Ref: s.prefix + defined}
}

// nameOf returns a unique name for a definition.
func (s *Set) nameOf(k key) string {
	switch {
	case k.as == changes:
		return s.free(k.name + "Changes")
	case k.as == input && s.outputs[k.name]:
		return s.free(k.name + "Input")
	default:
		return k.name
	}
}

func (s *Set) free(name string) string {
	for s.taken[name] {
		name += "_"
	}
	s.taken[name] = true
	return name
}
