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
	lister      lister // nil: the operation has no Query
	omitUnknown bool   // a selection of unknown fields is a warning
	intercept   []Interceptor
	// mask is what the caller does not get of results, and left what is left of this one; nil: all.
	mask *codec.Mask
	left *codec.Subset
}

func (b *bound) newCall(into *slots) call {
	request, place := b.decoder.New(b.request)
	into.handled = handled{bound: b, request: request, place: place}
	if b.lister != nil {
		into.handled.inquiry = b.lister.begin()
	}
	return &into.handled
}

// handled is a request on its way through a handler.
type handled struct {
	*bound
	request any
	place   unsafe.Pointer // of what the request is decoded into
	given   codec.Given
	chosen  codec.Chosen  // what the request selects of the result
	loaded  *codec.Loaded // what of it is behind the fields; nil: nothing
	omitted []string      // selected fields that do not exist
	inquiry inquiry       // nil: the operation has no Query
}

func (c *handled) next(r *wire.Reader) (known, more bool) {
	known, more = c.decoder.Next(r, c.place, &c.given)
	if c.inquiry != nil && known && more {
		c.inquiry.keep(r)
	}
	return known, more
}

func (c *handled) member(r *wire.Reader) (known bool) {
	if known = c.decoder.Member(r, c.place, &c.given); c.inquiry != nil && known {
		c.inquiry.keep(r)
	}
	return known
}

func (c *handled) keepFirst() { c.given.KeepFirst() }

func (c *handled) complete(ctx context.Context, r *wire.Reader) {
	c.decoder.Complete(r, c.place, &c.given)
	c.decoder.Finish(r, c.place, c.request)
	if c.selector != nil {
		c.selectFields(r)
	}
	if c.inquiry != nil {
		c.inquiry.ask(ctx, c, r)
	}
}

// grouped returns how many summaries with groups the request wants.
func (c *handled) grouped() int {
	if c.inquiry == nil {
		return 0
	}
	return c.inquiry.grouped()
}

// invoke calls the handler and writes what it returns. When it returns an error, w is to be discarded.
func (c *handled) invoke(ctx context.Context, w *wire.Writer) error {
	var result any
	var err error
	if c.inquiry != nil && c.inquiry.err() != nil {
		return c.inquiry.err()
	}
	if c.intercept == nil {
		result, c.loaded, err = c.carryOut(ctx, c.request, c.chosen.Behind)
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
	if c.inquiry != nil {
		if err := c.inquiry.check(ctx, result); err != nil {
			return err
		}
	}
	subset := c.chosen.Subset
	if c.left != nil {
		subset = subset.Within(c.left)
	}
	if c.loaded != nil {
		c.loaded.Warn(ctx)
		subset = c.loaded.Into(subset)
	}
	c.encoder.Write(w, result, subset)
	return nil
}

// compile binds the handlers of the operations to their codecs. It fails where a Go type does not fit its definition,
// as after a change without generating again.
func compile(
	registry *Registry, types []gen.Type, options Options, c *cursors, r relating,
) (map[string]*bound, error) {
	set := codec.NewSet(types, registry.Codecs()...)
	if r != nil {
		if err := r.addTo(unsafe.Pointer(set)); err != nil {
			return nil, err
		}
	}
	operations := registry.Operations()
	handlers := make(map[string]*bound, len(operations))
	for i := range operations {
		o := &operations[i]
		b := &bound{Bound: o, request: o.Request(), omitUnknown: options.OmitUnknownFields, intercept: options.Intercept}
		var err error
		if err = addComputed(set, o); err != nil {
			return nil, fmt.Errorf("operation %s: %w", o.Name, err)
		}
		if codec.Queries(&o.Operation) {
			if b.lister, err = listerOf(set, o, c); err != nil {
				return nil, err
			}
		}
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
		handlers[o.Name] = b
	}
	return handlers, nil
}
