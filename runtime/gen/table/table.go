// Package table is the compact form in which generated code carries definitions: one row of text for each parameter, field
// and enum value, in the words of the aql tag grammar. A row costs a fraction of the literal of a gen.Param, in lines, in
// compile time and in the binary; it becomes one when the adapter is made. Print and Parse are each other's inverse.
package table

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Row is a parameter or field ("Title title string required,maxlen=200": the Go field, the wire name, the wire type and
// the rules), an enum value, or an example request; its second text is the description.
type Row [2]string

// Operation is a gen.Operation whose parameters and examples are rows, with the function that carries it out. Returns
// names a type of the same table; a danger level without a source is that of the category.
type Operation struct {
	Name         string
	Category     gen.Category
	Family       string
	Description  string
	Danger       gen.Danger
	DangerSource gen.DangerSource
	Reasons      []string
	Confirm      string
	Params       []Row
	Returns      string
	Examples     []Row
	Timeout      time.Duration
	Deprecated   string
	Replacement  string
	Source       string
	// Types are nil pointers: to the request struct, and to what the handler returns beside its error. The second one is
	// nil itself if that is nothing.
	Types [2]any
	// Handler carries the operation out. receiver is the value that methods are called on, request a pointer to the request
	// struct. The result has the type that Types tells, or is nil.
	Handler func(ctx context.Context, receiver, request any) (result any, err error)
}

// Type is a gen.Type whose values and fields are rows. The fields of a type that Changes another one are those of the
// other that may change.
type Type struct {
	Name        string
	Kind        gen.TypeKind
	Description string
	Values      []Row
	Fields      []Row
	Items       Row // of an object whose members all have one type
	Members     []string
	Changes     string
}

// Types turns the types of a table into definitions, in their order. The error names every row that cannot be read.
func Types(rows []Type) ([]gen.Type, error) {
	e := newExpansion(rows)
	types := make([]gen.Type, 0, len(rows))
	for i := range rows {
		t, err := e.expand(&rows[i])
		if err != nil {
			return nil, fmt.Errorf("type %s: %w", rows[i].Name, err)
		}
		types = append(types, t)
	}
	return types, nil
}

// Index finds types by their names.
type Index map[string]*gen.Type

// IndexOf returns the Index of types.
func IndexOf(types []gen.Type) Index {
	index := make(Index, len(types))
	for i := range types {
		index[types[i].Name] = &types[i]
	}
	return index
}

// Definition turns an operation of a table into its definition. types are those of the same table.
func (o *Operation) Definition(types Index) (gen.Operation, error) {
	out := gen.Operation{
		Name: o.Name, Category: o.Category, Family: o.Family, Description: o.Description, Danger: o.Danger,
		DangerSource: o.DangerSource, Reasons: o.Reasons, Confirm: o.Confirm, Timeout: o.Timeout,
		Deprecated: o.Deprecated, Replacement: o.Replacement, Source: o.Source,
	}
	if out.DangerSource == "" {
		out.DangerSource = gen.DangerFromCategory
	}
	out.Params = slices.Grow(out.Params, len(o.Params))
	for _, row := range o.Params {
		param, err := Parse(row)
		if err != nil {
			return out, fmt.Errorf("operation %s: %w", o.Name, err)
		}
		fillEnums(&param, func(name string) []gen.EnumValue {
			if t := types[name]; t != nil {
				return t.Values
			}
			return nil
		})
		out.Params = append(out.Params, param)
	}
	if o.Returns != "" {
		t := types[o.Returns]
		if t == nil {
			return out, fmt.Errorf("operation %s returns %s, which the table does not have", o.Name, o.Returns)
		}
		out.Returns = gen.Returns{Name: t.Name, Kind: t.Kind, Description: t.Description}
	}
	for _, row := range o.Examples {
		out.Examples = append(out.Examples, gen.Example{Params: row[0], Description: row[1]})
	}
	return out, nil
}

// expansion turns the rows of one table into definitions.
type expansion struct {
	types   map[string]*Type
	changed map[string]string // type to the type of its changes
}

func newExpansion(rows []Type) *expansion {
	e := &expansion{types: make(map[string]*Type, len(rows)), changed: make(map[string]string)}
	for i := range rows {
		e.types[rows[i].Name] = &rows[i]
		if rows[i].Changes != "" {
			e.changed[rows[i].Changes] = rows[i].Name
		}
	}
	return e
}

func (e *expansion) expand(row *Type) (gen.Type, error) {
	t := gen.Type{Name: row.Name, Kind: row.Kind, Description: row.Description, Members: row.Members, Changes: row.Changes}
	for _, value := range row.Values {
		t.Values = append(t.Values, gen.EnumValue{Value: value[0], Description: value[1]})
	}
	if row.Items != (Row{}) {
		items, err := Parse(row.Items)
		if err != nil {
			return t, err
		}
		fillEnums(&items, e.values)
		t.Items = &items
	}
	fields := row.Fields
	if row.Changes != "" {
		whole := e.types[row.Changes]
		if whole == nil {
			return t, fmt.Errorf("changes %s, which the table does not have", row.Changes)
		}
		fields = whole.Fields
	}
	t.Fields = slices.Grow(t.Fields, len(fields))
	for _, field := range fields {
		param, err := Parse(field)
		if err != nil {
			return t, err
		}
		fillEnums(&param, e.values)
		if row.Changes != "" {
			if !param.Updatable() {
				continue
			}
			param.Required, param.Default = false, ""
			e.change(&param)
		}
		t.Fields = append(t.Fields, param)
	}
	return t, nil
}

func (e *expansion) values(name string) []gen.EnumValue {
	t := e.types[name]
	if t == nil {
		return nil
	}
	values := make([]gen.EnumValue, len(t.Values))
	for i, value := range t.Values {
		values[i].Value = value[0]
	}
	return values
}

// change makes the type of a value that of its changes, through maps too: lists are replaced as a whole.
func (e *expansion) change(p *gen.Param) {
	if changes, ok := e.changed[p.Type]; ok {
		p.Type = changes
	}
	if p.Type == "object" && p.Items != nil {
		e.change(p.Items)
	}
}

// fillEnums gives values of an enum type the values of the type.
func fillEnums(p *gen.Param, values func(name string) []gen.EnumValue) {
	for ; p != nil; p = p.Items {
		if p.Enum != nil {
			continue
		}
		for _, value := range values(p.Type) {
			p.Enum = append(p.Enum, value.Value)
		}
	}
}
