// Package computed is the part of the runtime that generated code uses for computed fields: those that an
// //aql:computed directive makes of a method or of a function (MCP-AQL computed fields). Handlers have no need of it.
package computed

import (
	"context"
	"reflect"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/codec"
)

// Method computes the value of one element: it calls a method of T.
type Method[T, V any] func(ctx context.Context, element *T) V

// Page computes the values of all elements of a page at once, in their order.
type Page[T, V any] func(ctx context.Context, receivers []any, elements []*T) ([]V, error)

// AddTo compiles the field of what an operation returns. Package aql calls it, with a pointer to its set of codecs: in
// an interface the set would make the linker keep methods that nothing calls.
func (m Method[T, V]) AddTo(codecs unsafe.Pointer, returns string, at int, f *gen.Computed) error {
	return (*codec.Set)(codecs).AddComputed(returns, at, f, m)
}

// AddTo compiles the field of what an operation returns, as that of Method does.
func (p Page[T, V]) AddTo(codecs unsafe.Pointer, returns string, at int, f *gen.Computed) error {
	return (*codec.Set)(codecs).AddComputed(returns, at, f, p)
}

// Types returns T and V.
func (m Method[T, V]) Types() (element, value reflect.Type) {
	return reflect.TypeFor[T](), reflect.TypeFor[V]()
}

// Types returns T and V.
func (p Page[T, V]) Types() (element, value reflect.Type) {
	return reflect.TypeFor[T](), reflect.TypeFor[V]()
}

// Values computes the values of elements, which are pointers to T. It stops when ctx ends.
func (m Method[T, V]) Values(ctx context.Context, _ []any, elements []unsafe.Pointer) (unsafe.Pointer, int, error) {
	values := make([]V, len(elements))
	for i, p := range elements {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		values[i] = m(ctx, (*T)(p))
	}
	return unsafe.Pointer(unsafe.SliceData(values)), len(values), nil
}

// Values computes the values of elements, which are pointers to T.
func (p Page[T, V]) Values(
	ctx context.Context, receivers []any, elements []unsafe.Pointer,
) (unsafe.Pointer, int, error) {
	of := make([]*T, len(elements))
	for i, element := range elements {
		of[i] = (*T)(element)
	}
	values, err := p(ctx, receivers, of)
	return unsafe.Pointer(unsafe.SliceData(values)), len(values), err
}

// Value computes the value of an element, which is a pointer to T, and returns a pointer to it.
func (m Method[T, V]) Value(ctx context.Context, element unsafe.Pointer) unsafe.Pointer {
	value := m(ctx, (*T)(element))
	return unsafe.Pointer(&value)
}
