package aql

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/codec"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// bound is a handler with its codecs.
type bound struct {
	*gen.Bound
	request reflect.Type
	decoder *codec.Request
	encoder *codec.Result // nil: the operation returns nothing
	// selector finds the fields of the result that a request selects; nil: a request cannot.
	selector    *codec.Selector
	listing     *listing // nil: the operation has no Query
	omitUnknown bool     // a selection of unknown fields is a warning
	intercept   []Interceptor
	// mask is what the caller does not get of results, and left what is left of this one; nil: all.
	mask *codec.Mask
	left *codec.Subset
}

func (b *bound) newCall(into *slots) call {
	request, place := b.decoder.New(b.request)
	into.handled = handled{bound: b, request: request, place: place}
	if b.listing != nil {
		into.handled.asking = &asking{}
	}
	return &into.handled
}

// handled is a request on its way through a handler.
type handled struct {
	*bound
	request any
	place   unsafe.Pointer // of what the request is decoded into
	given   codec.Given
	subset  *codec.Subset // the selected fields; nil: all
	omitted []string      // selected fields that do not exist
	asking  *asking       // nil: the operation has no Query
}

func (c *handled) next(r *wire.Reader) (known, more bool) {
	known, more = c.decoder.Next(r, c.place, &c.given)
	if c.asking != nil && known && more {
		c.asking.keep(r)
	}
	return known, more
}

func (c *handled) member(r *wire.Reader) (known bool) {
	if known = c.decoder.Member(r, c.place, &c.given); c.asking != nil && known {
		c.asking.keep(r)
	}
	return known
}

func (c *handled) keepFirst() { c.given.KeepFirst() }

func (c *handled) complete(r *wire.Reader) {
	c.decoder.Complete(r, c.place, &c.given)
	c.decoder.Finish(r, c.place, c.request)
	if c.selector != nil {
		c.selectFields(r)
	}
	if c.listing != nil {
		c.ask(r)
	}
}

// invoke calls the handler and writes what it returns. When it returns an error, w is to be discarded.
func (c *handled) invoke(ctx context.Context, w *wire.Writer) error {
	var result any
	var err error
	if c.asking != nil && c.asking.failed != nil {
		return c.asking.failed
	}
	if c.intercept == nil {
		result, err = c.Call(ctx, c.request)
	} else {
		result, err = c.intercepted(ctx)
	}
	if err != nil {
		return err
	}
	if c.encoder == nil {
		w.Null()
		return nil
	}
	if c.asking != nil {
		if err := c.asking.checkPage(ctx, result); err != nil {
			return err
		}
	}
	subset := c.subset
	if c.left != nil {
		subset = subset.Within(c.left)
	}
	c.encoder.Write(w, result, subset)
	return nil
}

// compile binds the handlers of the operations to their codecs. It fails where a Go type does not fit its definition,
// as after a change without generating again.
func compile(registry *Registry, types []gen.Type, options Options, c *cursors) (map[string]*bound, error) {
	set := codec.NewSet(types, registry.Codecs()...)
	operations := registry.Operations()
	handlers := make(map[string]*bound, len(operations))
	for i := range operations {
		o := &operations[i]
		b := &bound{Bound: o, request: o.Request(), omitUnknown: options.OmitUnknownFields, intercept: options.Intercept}
		var err error
		if b.decoder, err = set.Request(b.request, &o.Operation); err != nil {
			return nil, err
		}
		if result := o.Result(); result != nil {
			if b.encoder, err = set.Result(result, o.Returns.Name); err != nil {
				return nil, fmt.Errorf("operation %s: %w", o.Name, err)
			}
		}
		search := strings.HasPrefix(o.Name, "search_")
		if b.selector, err = set.Selector(b.decoder, b.encoder, search); err != nil {
			return nil, fmt.Errorf("operation %s: %w", o.Name, err)
		}
		query, err := set.Query(b.decoder, b.request, &o.Operation)
		if err != nil {
			return nil, err
		}
		if query != nil {
			b.listing = &listing{query, c}
		}
		handlers[o.Name] = b
	}
	return handlers, nil
}
