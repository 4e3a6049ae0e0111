package aql

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/codec"
)

// addComputed compiles the computed fields of what an operation returns. Their computations lead to the code behind
// that, and nothing else does: an adapter without computed fields does not link it.
func addComputed(set *codec.Set, o *gen.Bound) error {
	type computation interface {
		AddTo(codecs unsafe.Pointer, returns string, at int, f *gen.Computed) error
	}
	fields := o.Computed()
	for i := range fields {
		by, ok := fields[i].Values.(computation)
		if !ok {
			return fmt.Errorf("nothing computes the field %s; the generated code is out of date", fields[i].Name)
		}
		if err := by.AddTo(unsafe.Pointer(set), o.Returns.Name, i, &fields[i]); err != nil {
			return err
		}
	}
	return nil
}

// carryOut calls the handler, and loads what the request selects behind the fields of the result, with the same context
// and receivers. An error of that is an error of the call.
func (b *bound) carryOut(ctx context.Context, request any, behind codec.Behind) (any, *codec.Loaded, error) {
	if behind.IsEmpty() {
		result, err := b.Call(ctx, request)
		return result, nil, err
	}
	var loaded *codec.Loaded
	result, err := b.CallThen(ctx, request, b.selector.Receivers(behind), func(receivers []any, result any) (err error) {
		loaded, err = b.selector.Load(ctx, receivers, result, behind, b.mask)
		if err == nil && b.intercept != nil {
			loaded.Keep()
		}
		return err
	})
	return result, loaded, err
}

// loadAgain loads what the request selects behind the fields of a result that is not the handler's. before is what was
// loaded of that; nil: nothing.
func (b *bound) loadAgain(
	ctx context.Context, before *codec.Loaded, result any, behind codec.Behind,
) (*codec.Loaded, error) {
	receivers, err := b.Receivers(ctx, b.selector.Receivers(behind))
	if err != nil {
		return nil, err
	}
	return b.selector.LoadAgain(ctx, receivers, before, result, behind, b.mask)
}
