// Package related loads what resources are related to: each relation once for all of a level, with the keys of all
// resources that have it. Walk follows relationships from one resource to others (MCP-AQL relationship queries).
package related

import (
	"context"
	"errors"
	"slices"

	"github.com/aqltag/aqltag/runtime/gen"
)

// MaxMany is how many resources one key leads to, where a relation leads to many.
const MaxMany = 25

// ErrTooMany is the error of a load that would make more resources than Loads.Most.
var ErrTooMany = errors.New("more related resources than may be loaded")

// Relation is a relation that can be loaded.
type Relation struct {
	Definition gen.Relation
	Of         string // element type of the resources that have it
	Target     string // element type of those to which it leads
	// Key returns the key of a resource; false: it leads nowhere.
	Key func(resource any) (key any, ok bool)
	// Load loads the resources of keys, each key once. Those of a key are in their order.
	Load func(ctx context.Context, keys []any) (map[any][]any, error)
}

// Guard decides which keys of a relation may be loaded.
type Guard interface {
	// Admit returns those of the keys that may be loaded, in their order, and what is to be called after the load. The
	// error refuses them all.
	Admit(ctx context.Context, r *Relation, keys []any) (admitted []any, done func(error), err error)
	// Cut learns that a relation leads from a key to more resources than it may have.
	Cut(ctx context.Context, r *Relation, there int)
}

// Loads are those of one request. The zero value of a field is not useful: all must be set.
type Loads struct {
	Guard Guard
	Most  int // greatest number of resources

	known  map[*Relation]map[any][]any
	loaded int
}

// Load loads a relation of resources, in one call for all keys that were not loaded before.
func (l *Loads) Load(ctx context.Context, r *Relation, resources []any) error {
	known := l.known[r]
	var keys []any
	asked := make(map[any]bool)
	for _, resource := range resources {
		key, ok := r.Key(resource)
		if _, before := known[key]; !ok || before || asked[key] {
			continue
		}
		asked[key] = true
		keys = append(keys, key)
	}
	if len(keys) == 0 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(keys) > l.Most-l.loaded && !r.Definition.Many {
		return ErrTooMany
	}
	admitted, done, err := l.Guard.Admit(ctx, r, keys)
	if err != nil {
		return err
	}
	var found map[any][]any
	if len(admitted) > 0 {
		if found, err = l.call(ctx, r, admitted, done); err != nil {
			return err
		}
	}
	return l.keep(ctx, r, keys, admitted, found)
}

// call calls the loader, and done also where it panics.
func (l *Loads) call(
	ctx context.Context, r *Relation, keys []any, done func(error),
) (found map[any][]any, err error) {
	err = errPanic
	defer func() { done(err) }()
	found, err = r.Load(ctx, slices.Clone(keys))
	return found, err
}

// errPanic is what done learns of a loader that did not return.
var errPanic = errors.New("the loader panicked")

// keep remembers what was found, and nothing of keys that were not asked for.
func (l *Loads) keep(ctx context.Context, r *Relation, keys, admitted []any, found map[any][]any) error {
	if l.known == nil {
		l.known = make(map[*Relation]map[any][]any)
	}
	if l.known[r] == nil {
		l.known[r] = make(map[any][]any, len(keys))
	}
	for _, key := range keys {
		l.known[r][key] = nil
	}
	most, cut := 1, 0
	if r.Definition.Many {
		most = MaxMany
	}
	for _, key := range admitted {
		resources := found[key]
		if len(resources) > most {
			cut = max(cut, len(resources))
			resources = resources[:most:most]
		}
		if l.loaded += len(resources); l.loaded > l.Most {
			return ErrTooMany
		}
		l.known[r][key] = resources
	}
	if cut > 0 {
		l.Guard.Cut(ctx, r, cut)
	}
	return nil
}

// Of returns the resources to which a relation of a resource leads, as far as they were loaded.
func (l *Loads) Of(r *Relation, resource any) []any {
	key, ok := r.Key(resource)
	if !ok {
		return nil
	}
	return l.known[r][key]
}
