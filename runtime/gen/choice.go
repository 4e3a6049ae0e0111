package gen

import (
	"context"
	"errors"
	"fmt"
	"reflect"
)

// Choice returns the receiver of one call. Choose makes it.
type Choice func(ctx context.Context) (receiver any, err error)

// Choose returns the choice that a function makes; nil if the function is. A call fails for which the function returns
// neither a receiver nor an error.
func Choose[T any](receiver func(context.Context) (T, error)) Choice {
	if receiver == nil {
		return nil
	}
	return func(ctx context.Context) (any, error) {
		chosen, err := receiver(ctx)
		if err != nil {
			return nil, err
		}
		switch v := reflect.ValueOf(&chosen).Elem(); v.Kind() {
		case reflect.Pointer, reflect.Interface:
			if v.IsNil() {
				return nil, fmt.Errorf("choosing the %s of a call: the function returned nil", v.Type())
			}
		}
		return chosen, nil
	}
}

// NewRegistryFor makes a registry as NewRegistry does. The receivers of a handler are chosen when its operation is
// called, with the context of the call; an error is that of the operation.
func NewRegistryFor(handlers []Handler, types []WireType, choices ...Choice) *Registry {
	var missing error
	for i, choice := range choices {
		if choice == nil {
			missing = errors.Join(missing,
				fmt.Errorf("argument %d of NewRegistryFor is nil; it is the function that chooses a receiver", i+1))
		}
	}
	r := newRegistry(handlers, types, func(h *Handler, o Operation) Bound {
		return Bound{Operation: o, handler: h, choices: h.used(choices), every: choices}
	})
	r.choices = choices
	if missing != nil {
		r.faults = append(r.faults, missing)
	}
	return r
}

// used returns the choices of the receivers that a handler uses, each in its place; nil if there are none.
func (h *Handler) used(choices []Choice) []Choice { return usedOf(choices, h.Receivers) }

// usedOf returns the choices of the receivers at places, as used does.
func usedOf(choices []Choice, places []int) []Choice {
	if places == nil {
		return choices
	}
	if len(places) == 0 {
		return nil
	}
	used := make([]Choice, len(choices))
	for _, i := range places {
		used[i] = choices[i]
	}
	return used
}

// choose makes the choices that are not nil.
func choose(ctx context.Context, choices []Choice) ([]any, error) {
	receivers := make([]any, len(choices))
	for i, choice := range choices {
		if choice == nil {
			continue
		}
		var err error
		if receivers[i], err = choice(ctx); err != nil {
			return nil, err
		}
	}
	return receivers, nil
}
