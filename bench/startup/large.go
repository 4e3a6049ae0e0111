package main

import (
	"context"
	"fmt"

	"github.com/aqltag/aqltag/internal/catalogue"
	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
)

// request and record are the Go types of all operations of the catalogue: texts, numbers, a page and an update.
type request struct {
	T0, T1, T2, T3, T4, T5, T6, T7, T8, T9 string
	N0, N1, N2, N3                         float64
	First                                  int
	Input                                  aql.Patch[record]
}

type record struct {
	T0, T1, T2, T3, T4, T5, T6, T7, T8, T9 string
	N0, N1, N2, N3                         float64
}

// fields gives each parameter a field of request or record.
func fields(params []gen.Param) []gen.Field {
	list := make([]gen.Field, len(params))
	texts, numbers := 0, 0
	for i, p := range params {
		f := gen.Field{
			Name: p.Name, Type: p.Type, Required: p.Required, ID: p.ID, Description: p.Description,
		}
		switch p.Type {
		case "string":
			f.Go = fmt.Sprint("T", texts)
			texts++
		case "number":
			f.Go = fmt.Sprint("N", numbers)
			numbers++
		case "integer":
			f.Go, f.Rules = "First", gen.Rules{gen.Min(p.Minimum), gen.Max(p.Maximum)}
		default:
			f.Go = "Input"
		}
		list[i] = f
	}
	return list
}

// large returns what generated code declares for so many operations of the catalogue.
func large(operations int) ([]gen.Handler, []gen.WireType) {
	definitions := catalogue.Repeated((operations + 999) / 1000)
	types := []gen.WireType{{Name: "Nothing", Kind: gen.KindScalar, Description: "No data (null)."}}
	for _, t := range definitions.Types {
		declared := gen.WireType{Name: t.Name, Kind: t.Kind, Description: t.Description, Changes: t.Changes}
		if t.Changes == "" {
			declared.Fields = fields(t.Fields)
		}
		types = append(types, declared)
	}
	handlers := make([]gen.Handler, 0, operations)
	for _, o := range definitions.Operations[:operations] {
		h := gen.Handler{
			Name: o.Name, Category: o.Category, Danger: o.Danger, DangerSource: o.DangerSource, Description: o.Description,
			Params: fields(o.Params), Returns: "Nothing", Request: (*request)(nil),
			Call: func(context.Context, []any, any) (any, error) { return (*record)(nil), nil },
		}
		if o.Returns.Name != "" {
			h.Returns, h.Result = o.Returns.Name, (**record)(nil)
		}
		handlers = append(handlers, h)
	}
	return handlers, types
}
