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
	// Left learns that a key was not admitted by an earlier load, and now has nothing again.
	Left(r *Relation)
	// Failed returns the error of the request whose loader returned err.
	Failed(ctx context.Context, r *Relation, err error) error
	// Cut learns that a relation leads from a key to more resources than it may have.
	Cut(ctx context.Context, r *Relation, there int)
}

// Loads are those of one message, which may have several requests. The zero value of a field is not useful: all must be
// set.
type Loads struct {
	Guard Guard
	Most  int // greatest number of resources that one request loads

	known  map[*Relation]map[any]found
	loaded int
}

// found is what is known of a key.
type found struct {
	resources []any
	cut       int  // how many there are, if that is more than there may be
	left      bool // it was not admitted
}

// Begin begins another request, for which what was loaded is remembered.
func (l *Loads) Begin() { l.loaded = 0 }

// Forget forgets what was loaded.
func (l *Loads) Forget() { l.known = nil }

// Load loads a relation of resources, in one call for all keys that were not loaded before.
func (l *Loads) Load(ctx context.Context, r *Relation, resources []any) error {
	known := l.known[r]
	var keys []any
	asked := make(map[any]bool)
	for _, resource := range resources {
		key, ok := r.Key(resource)
		if !ok || asked[key] {
			continue
		}
		asked[key] = true
		switch f, before := known[key]; {
		case !before:
			keys = append(keys, key)
		case f.left:
			l.Guard.Left(r)
		case f.cut > 0:
			l.Guard.Cut(ctx, r, f.cut)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	admitted, done, err := l.Guard.Admit(ctx, r, keys)
	if err != nil {
		return err
	}
	var loaded map[any][]any
	if len(admitted) > 0 {
		if loaded, err = l.call(ctx, r, admitted, done); err != nil {
			return err
		}
	}
	return l.keep(ctx, r, keys, admitted, loaded)
}

// call calls the loader, and done also where it panics.
func (l *Loads) call(
	ctx context.Context, r *Relation, keys []any, done func(error),
) (found map[any][]any, err error) {
	err = errPanic
	defer func() { done(err) }()
	if found, err = r.Load(ctx, slices.Clone(keys)); err != nil {
		err = l.Guard.Failed(ctx, r, err)
	}
	return found, err
}

// errPanic is what done learns of a loader that did not return.
var errPanic = errors.New("the loader panicked")

// keep remembers what was loaded, and nothing of keys that were not asked for.
func (l *Loads) keep(ctx context.Context, r *Relation, keys, admitted []any, loaded map[any][]any) error {
	if l.known == nil {
		l.known = make(map[*Relation]map[any]found)
	}
	if l.known[r] == nil {
		l.known[r] = make(map[any]found, len(keys))
	}
	for _, key := range keys {
		l.known[r][key] = found{left: true}
	}
	most, cut := 1, 0
	if r.Definition.Many {
		most = MaxMany
	}
	for _, key := range admitted {
		f := found{resources: loaded[key]}
		if there := len(f.resources); there > most {
			f.resources = f.resources[:most:most]
			if r.Definition.Many {
				f.cut, cut = there, max(cut, there)
			}
		}
		if l.loaded += len(f.resources); l.loaded > l.Most {
			l.Forget()
			return ErrTooMany
		}
		l.known[r][key] = f
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
	return l.known[r][key].resources
}
