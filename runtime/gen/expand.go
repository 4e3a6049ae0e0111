package gen

import (
	"fmt"
	"reflect"
)

// expansion makes the definitions of what one generated file declares.
type expansion struct {
	declared []WireType
	types    []Type
	index    map[string]int      // type to its place in types
	values   map[string][]string // enum type to its values
	changes  map[string]string   // type to the type of its changes
	free     []Param             // for definitions to come
}

func newExpansion(declared []WireType) *expansion {
	e := &expansion{
		declared: declared, types: make([]Type, len(declared)),
		index: make(map[string]int, len(declared)), values: make(map[string][]string), changes: make(map[string]string),
	}
	for i := range declared {
		t := &declared[i]
		e.index[t.Name] = i
		for _, value := range t.Values {
			e.values[t.Name] = append(e.values[t.Name], value.Value)
		}
		if t.Changes != "" {
			e.changes[t.Changes] = t.Name
		}
	}
	return e
}

// expand makes the definitions of all types.
func (e *expansion) expand() error {
	for i := range e.declared {
		d := &e.declared[i]
		e.types[i] = Type{
			Name: d.Name, Kind: d.Kind, Description: d.Description, Values: d.Values, Fields: e.params(d.Fields),
			Members: d.Members, Items: e.items(d.Items), Changes: d.Changes,
			Filters: d.Filters, Withheld: d.Withheld, Computed: e.computed(d.Computed),
		}
	}
	for i := range e.types {
		t := &e.types[i]
		of := t.Changes + t.Filters
		if of == "" {
			continue
		}
		whole, known := e.index[of]
		switch {
		case !known && t.Filters != "":
			return fmt.Errorf("type %s filters %s, which is not declared", t.Name, t.Filters)
		case !known:
			return fmt.Errorf("type %s changes %s, which is not declared", t.Name, t.Changes)
		case t.Filters != "":
			t.Description, t.Fields = FilterDescription(t.Filters), FilterFields(t.Name, e.types[whole].Fields, t.Fields)
		default:
			t.Fields = e.changed(e.types[whole].Fields)
		}
	}
	return nil
}

func (e *expansion) params(fields []Field) []Param {
	if len(fields) == 0 {
		return nil
	}
	params := e.allocate(len(fields))
	for i := range fields {
		e.param(&params[i], &fields[i])
	}
	return params
}

// param makes p the definition of a field.
func (e *expansion) param(p *Param, f *Field) {
	*p = Param{
		Name: f.Name, Go: f.Go, Type: f.Type, Enum: e.values[f.Type], Items: e.items(f.Items), Keys: e.items(f.Keys),
		Required: f.Required, Nullable: f.Nullable, Sensitive: f.Sensitive, ReadOnly: f.ReadOnly, AppendOnly: f.AppendOnly,
		ID: f.ID, OmitEmpty: f.OmitEmpty, OmitZero: f.OmitZero, Quoted: f.Quoted, Description: f.Description,
	}
	for _, rule := range f.Rules {
		rule.apply(p)
	}
}

func (e *expansion) items(f *Field) *Param {
	if f == nil {
		return nil
	}
	p := &e.allocate(1)[0]
	e.param(p, f)
	return p
}

// allocate returns n params, of slices that several share: allocating each apart took a tenth of a start.
func (e *expansion) allocate(n int) []Param {
	if n > len(e.free) {
		e.free = make([]Param, max(n, 64))
	}
	params := e.free[:n:n]
	e.free = e.free[n:]
	return params
}

// changed returns the fields of a type of changes: those that an update may change, none of them required.
func (e *expansion) changed(fields []Param) []Param {
	var out []Param
	for _, p := range fields {
		if p.Updatable() {
			out = append(out, e.change(p.Change()))
		}
	}
	return out
}

// change makes the type of a value that of its changes, in maps too. Arrays keep theirs: an update replaces them whole.
func (e *expansion) change(p Param) Param {
	if changes, ok := e.changes[p.Type]; ok {
		p.Type = changes
	}
	if p.Type == "object" && p.Items != nil {
		items := e.change(*p.Items)
		p.Items = &items
	}
	return p
}

// operation makes the definition of an operation.
func (e *expansion) operation(h *Handler) (Operation, error) {
	o := Operation{
		Name: h.Name, Category: h.Category, Family: h.Family, Description: h.Description,
		Danger: h.Danger, DangerSource: h.DangerSource, Reasons: h.Reasons, Confirm: h.Confirm,
		Params: e.params(h.Params), Examples: h.Examples, Timeout: h.Timeout,
		Deprecated: h.Deprecated, Replacement: h.Replacement, Source: h.Source, TypeToConfirm: h.TypeToConfirm,
	}
	if o.DangerSource == "" {
		o.DangerSource = DangerFromCategory
	}
	if h.Returns != "" {
		i, known := e.index[h.Returns]
		if !known {
			return o, fmt.Errorf("operation %s returns %s, which is not declared", h.Name, h.Returns)
		}
		t := &e.declared[i]
		o.Returns = Returns{Name: t.Name, Kind: t.Kind, Description: t.Description, Nullable: mayBeNil(h.Result)}
	}
	if h.Execution != nil {
		o.Lifecycle = &h.Execution.Lifecycle
	}
	if h.Call == nil && h.Execution == nil || h.Request == nil {
		return o, fmt.Errorf("operation %s has no handler", h.Name)
	}
	return o, nil
}

// mayBeNil reports whether a handler may return nil, where result is a nil pointer to the type that it returns.
func mayBeNil(result any) bool {
	return result != nil && reflect.TypeOf(result).Elem().Kind() == reflect.Pointer
}
