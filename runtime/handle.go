package aql

import (
	"context"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/model/table"
	"github.com/aqltag/aqltag/runtime/codec"
	"github.com/aqltag/aqltag/runtime/wire"
)

// Definition is an operation as generated code declares it.
type Definition = table.Operation

// Type is a type that operations mention, as generated code declares it.
type Type = table.Type

// Row is a parameter, field, enum value or example, as generated code declares it.
type Row = table.Row

// Operation ties the definition of an operation to the Go function that carries it out. Handle and Do make it.
type Operation struct {
	table      *Definition
	definition model.Operation
	request    reflect.Type
	result     reflect.Type // nil: the operation returns nothing
	newCall    func() call
	link       func(request *codec.Request, result *codec.Result) func() call
}

// call is one request to one operation, used once by one goroutine.
type call interface {
	// member decodes the value of the member at which r stands into the request. It returns false, with the value not
	// read, when the operation has no parameter of that name.
	member(r *wire.Reader) bool
	// complete reports the required parameters that are absent and fills in the defaults of the others.
	complete(r *wire.Reader)
	// invoke calls the handler and writes what it returns. When it returns an error, w is discarded.
	invoke(ctx context.Context, w *wire.Writer) error
}

// Handle ties a definition to a handler that returns a result. Generated code calls it: Q is the request struct, and R
// what the handler returns beside its error.
func Handle[Q, R any](definition *Definition, handler func(ctx context.Context, request *Q) (R, error)) Operation {
	return Operation{
		table: definition, request: reflect.TypeFor[Q](), result: reflect.TypeFor[R](),
		link: func(request *codec.Request, result *codec.Result) func() call {
			b := &bound[Q, R]{handler, request, result}
			return func() call { return &handled[Q, R]{bound: b} }
		},
	}
}

// Do ties a definition to a handler that returns nothing but an error. Generated code calls it.
func Do[Q any](definition *Definition, handler func(ctx context.Context, request *Q) error) Operation {
	o := Handle(definition, func(ctx context.Context, request *Q) (struct{}, error) {
		return struct{}{}, handler(ctx, request)
	})
	o.result = nil
	return o
}

// bound is a handler with its codecs.
type bound[Q, R any] struct {
	handler func(ctx context.Context, request *Q) (R, error)
	decoder *codec.Request
	encoder *codec.Result // nil: the operation returns nothing
}

// handled is a request on its way through a handler.
type handled[Q, R any] struct {
	*bound[Q, R]
	given   codec.Given
	request Q
	result  R
}

func (c *handled[Q, R]) member(r *wire.Reader) bool {
	return c.decoder.Member(r, unsafe.Pointer(&c.request), &c.given)
}

func (c *handled[Q, R]) complete(r *wire.Reader) {
	c.decoder.Complete(r, unsafe.Pointer(&c.request), &c.given)
}

func (c *handled[Q, R]) invoke(ctx context.Context, w *wire.Writer) (err error) {
	if c.result, err = c.handler(ctx, &c.request); err != nil {
		return err
	}
	if c.encoder == nil {
		w.Null()
		return nil
	}
	c.encoder.Write(w, unsafe.Pointer(&c.result))
	return nil
}

// compile makes the codecs of the operations and returns what begins a call of each. It is where generated code that is
// older than the types it speaks of is found out.
func (r *Registry) compile() ([]func() call, error) {
	set := codec.NewSet(r.types)
	calls := make([]func() call, len(r.operations))
	for i := range r.operations {
		o := &r.operations[i]
		if calls[i] = o.newCall; o.link == nil {
			continue
		}
		request, err := set.Request(o.request, &o.definition)
		if err != nil {
			return nil, err
		}
		var result *codec.Result
		if o.result != nil {
			if result, err = set.Result(o.result, o.definition.Returns.Name); err != nil {
				return nil, fmt.Errorf("operation %s: %w", o.definition.Name, err)
			}
		}
		calls[i] = o.link(request, result)
	}
	return calls, nil
}
