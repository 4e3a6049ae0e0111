package gen

import (
	"context"
	"slices"
)

// Computed is a computed field of a type, as generated code declares it (MCP-AQL computed fields). Its name is that
// behind ComputedPrefix.
type Computed struct {
	Field
	// Values says how the values come about. It is a computed.Method or a computed.Page, which package computed knows.
	Values any
	// Receivers are the places of the receivers that Values uses.
	Receivers []int
}

// ComputedPrefix begins the paths of computed fields in requests (MCP-AQL computed fields §2).
const ComputedPrefix = ComputedMember + "."

// ComputedMember is the member of a resource in results that holds its computed fields.
const ComputedMember = "_computed"

// computed makes the definitions of computed fields.
func (e *expansion) computed(declared []Computed) []Param {
	if declared == nil {
		return nil
	}
	params := e.allocate(len(declared))
	for i := range declared {
		e.param(&params[i], &declared[i].Field)
	}
	return params
}

// computedOf returns the computed fields of what an operation returns.
func (e *expansion) computedOf(returns string) []Computed {
	resource := ResourceOf(func(name string) *Type {
		if i, known := e.index[name]; known {
			return &e.types[i]
		}
		return nil
	}, returns)
	if resource == nil || resource.Computed == nil {
		return nil
	}
	return e.declared[e.index[resource.Name]].Computed
}

// ResourceOf returns the type of which an operation returns one value, or several in items. find returns a type by its
// name, nil if there is none. It returns nil where find does.
func ResourceOf(find func(name string) *Type, returns string) *Type {
	t := find(returns)
	if t == nil {
		return nil
	}
	for i := range t.Fields {
		f := &t.Fields[i]
		if f.Name != "items" || f.Type != "array" {
			continue
		}
		item := f
		for item.Items != nil {
			item = item.Items
		}
		if of := find(item.Type); of != nil && of.Kind == KindObject {
			return of
		}
	}
	return t
}

// Resource returns the type of which an operation returns one value, or several in items; nil: it is not known.
func (a *Definitions) Resource(o *Operation) *Type {
	return ResourceOf(func(name string) *Type {
		t, _ := a.Type(name)
		return t
	}, o.Returns.Name)
}

// ComputedField is a computed field as requests of one operation may use it.
type ComputedField struct {
	*Param
	Filterable bool // requests may filter by it
	Sortable   bool // requests may sort by it
}

// ComputedOf returns the computed fields of an operation: those that requests can select, or by which they can filter
// or sort (MCP-AQL computed fields §4).
func (a *Definitions) ComputedOf(o *Operation) []ComputedField {
	resource := a.Resource(o)
	if resource == nil || resource.Computed == nil {
		return nil
	}
	var fields []ComputedField
	for i := range resource.Computed {
		f := ComputedField{Param: &resource.Computed[i]}
		path := ComputedPrefix + f.Name
		if filter := a.typeOf(o, "filter"); filter != nil && filter.Filters == resource.Name {
			f.Filterable = slices.ContainsFunc(filter.Fields, func(p Param) bool { return p.Name == path })
		}
		if sort := a.typeOf(o, "sort"); sort != nil {
			f.Sortable = slices.ContainsFunc(sort.Fields, func(p Param) bool {
				return p.Name == "field" && slices.Contains(p.Enum, path)
			})
		}
		if o.SelectsFields() || f.Filterable || f.Sortable {
			fields = append(fields, f)
		}
	}
	return fields
}

// typeOf returns the type of a parameter; nil: it has none.
func (a *Definitions) typeOf(o *Operation, param string) *Type {
	p, ok := o.Param(param)
	if !ok {
		return nil
	}
	t, _ := a.Type(p.Type)
	return t
}

// Computes reports whether an operation has computed fields.
func (a *Definitions) Computes() bool {
	for i := range a.Operations {
		if a.ComputedOf(&a.Operations[i]) != nil {
			return true
		}
	}
	return false
}

// Computed returns the computed fields of what the operation returns, in the order of those of its type.
func (b *Bound) Computed() []Computed { return b.computed }

// CallThen carries the operation out as Call does, and then calls next with the result and the receivers. These are
// chosen for the call once: those of the handler, and those with the places also. Where next fails there is no result.
func (b *Bound) CallThen(
	ctx context.Context, request any, also []int, next func(receivers []any, result any) error,
) (result any, err error) {
	receivers, err := b.chosen(ctx, b.choices, also)
	if err != nil {
		return nil, err
	}
	if result, err = b.handler.Call(ctx, receivers, request); err != nil {
		return nil, err
	}
	if err = next(receivers, result); err != nil {
		return nil, err
	}
	return result, nil
}

// Receivers returns the receivers with some places.
func (b *Bound) Receivers(ctx context.Context, places []int) ([]any, error) {
	return b.chosen(ctx, nil, places)
}

// chosen returns receivers for a call: those that choices choose, and those with the places also.
func (b *Bound) chosen(ctx context.Context, choices []Choice, also []int) ([]any, error) {
	if b.every == nil {
		return b.receivers, nil
	}
	all := make([]Choice, len(b.every))
	copy(all, choices)
	for _, i := range also {
		all[i] = b.every[i]
	}
	return choose(ctx, all)
}
