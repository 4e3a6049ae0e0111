package aql

import (
	"context"
	"reflect"
)

// Loader loads a relation from values of T, of which each has a key, to values of V. Generated code declares one for
// each //aql:relation directive.
type Loader[T any, K comparable, V any] struct {
	// Key returns the field of a T with its key. One that is nil, or points to a zero value, leads nowhere.
	Key func(of *T) *K
	// One loads what each of several keys leads to, and Many does where that is any number of values. One of them is set.
	// The order of the values is to be the same for each call: an answer has the first 25 of them.
	// receivers are those that NewRegistry was given, or NewRegistryFor has chosen.
	One  func(ctx context.Context, receivers []any, keys []K) (map[K]*V, error)
	Many func(ctx context.Context, receivers []any, keys []K) (map[K][]*V, error)
}

func (l *Loader[T, K, V]) key(of any) (any, bool) {
	key, zero := l.Key(of.(*T)), *new(K)
	if key == nil || *key == zero {
		return nil, false
	}
	return *key, true
}

func (l *Loader[T, K, V]) load(ctx context.Context, receivers, keys []any) (map[any][]any, error) {
	typed := make([]K, len(keys))
	for i, key := range keys {
		typed[i] = key.(K)
	}
	found := make(map[any][]any, len(keys))
	if l.Many == nil {
		loaded, err := l.One(ctx, receivers, typed)
		for key, value := range loaded {
			if value != nil {
				found[key] = []any{value}
			}
		}
		return found, err
	}
	loaded, err := l.Many(ctx, receivers, typed)
	for key, values := range loaded {
		for _, value := range values {
			if value != nil {
				found[key] = append(found[key], value)
			}
		}
	}
	return found, err
}

func (l *Loader[T, K, V]) types() (of, target reflect.Type) {
	return reflect.TypeFor[T](), reflect.TypeFor[V]()
}

// relate compiles the relations of a registry; see relate.
func (l *Loader[T, K, V]) relate(registry *Registry, c *cursors) (*Registry, relating, error) {
	return newRelations(registry, c)
}
