package aql

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/gen/table"
	"github.com/aqltag/aqltag/runtime/internal/codec"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// Definition is an operation as generated code declares it.
type Definition = table.Operation

// Type is a type that operations mention, as generated code declares it.
type Type = table.Type

// Row is a parameter, field, enum value or example, as generated code declares it.
type Row = table.Row

// Handler carries out an operation: see Definition.Handler.
type Handler = func(ctx context.Context, receiver, request any) (result any, err error)

// Operation ties a definition to the value whose method carries it out; nil for a plain function. Generated code makes
// it. Handler, where it is set, replaces that of the definition: only inside of a function can it speak of a generic
// type.
type Operation struct {
	Definition *Definition
	Receiver   any
	Handler    Handler
}

// entry is an operation of a registry.
type entry struct {
	Operation
	definition gen.Operation
}

// bound is a handler with its codecs.
type bound struct {
	Operation
	request reflect.Type
	decoder *codec.Request
	encoder *codec.Result // nil: the operation returns nothing
	// selector finds out which fields of the result a request asks for; nil: it cannot.
	selector *codec.Selector
	lenient  bool // leaves out fields that are not there
}

func (b *bound) newCall(into *slots) call {
	request := reflect.New(b.request)
	into.handled = handled{bound: b, request: request.Interface(), place: request.UnsafePointer()}
	return &into.handled
}

// handled is a request on its way through a handler.
type handled struct {
	*bound
	request any
	place   unsafe.Pointer // of the request struct
	given   codec.Given
	subset  *codec.Subset // what of the result is wanted
	omitted []string      // fields that were asked for and are not there
}

func (c *handled) next(r *wire.Reader) (known, more bool) {
	return c.decoder.Next(r, c.place, &c.given)
}
func (c *handled) member(r *wire.Reader) (known bool) { return c.decoder.Member(r, c.place, &c.given) }
func (c *handled) keepFirst()                         { c.given.KeepFirst() }

func (c *handled) complete(r *wire.Reader) {
	c.decoder.Complete(r, c.place, &c.given)
	if c.selector != nil {
		c.selectFields(r)
	}
}

// invoke calls the handler and writes what it returns. When it returns an error, w is to be discarded.
func (c *handled) invoke(ctx context.Context, w *wire.Writer) error {
	result, err := c.Handler(ctx, c.Receiver, c.request)
	if err != nil {
		return err
	}
	if c.encoder == nil {
		w.Null()
		return nil
	}
	c.encoder.Write(w, result, c.subset)
	return nil
}

// compile makes the codecs of the operations and returns what begins a call of each. It is where generated code that is
// older than the types it speaks of is found out.
func (r *Registry) compile(options Options) ([]func(*slots) call, error) {
	set := codec.NewSet(r.types)
	calls := make([]func(*slots) call, len(r.operations))
	for i := range r.operations {
		e := &r.operations[i]
		b := &bound{Operation: e.Operation, lenient: options.OmitUnknownFields}
		if b.Handler == nil {
			b.Handler = e.Definition.Handler
		}
		if b.Handler == nil || e.Definition.Types[0] == nil {
			return nil, fmt.Errorf("operation %s has no handler", e.definition.Name)
		}
		b.request = reflect.TypeOf(e.Definition.Types[0]).Elem()
		var err error
		if b.decoder, err = set.Request(b.request, &e.definition); err != nil {
			return nil, err
		}
		if result := e.Definition.Types[1]; result != nil {
			if b.encoder, err = set.Result(reflect.TypeOf(result).Elem(), e.definition.Returns.Name); err != nil {
				return nil, fmt.Errorf("operation %s: %w", e.definition.Name, err)
			}
		}
		search := strings.HasPrefix(e.definition.Name, "search_")
		if b.selector, err = set.Selector(b.decoder, b.encoder, search); err != nil {
			return nil, fmt.Errorf("operation %s: %w", e.definition.Name, err)
		}
		calls[i] = b.newCall
	}
	return calls, nil
}
