package aql

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/codec"
	"github.com/aqltag/aqltag/runtime/internal/related"
)

// relationLoads are the relations that the requests of a message select. What one request has loaded is there for those
// behind it.
type relationLoads struct {
	visit *visit
	loads *related.Loads
	fresh bool // each context loads what it needs: those of interceptors may differ in what handlers see
	last  context.Context
}

var _ codec.RelatedLoads = (*relationLoads)(nil)

type relationLoadsKey struct{}

// errNotSelecting is the error of a load whose context an interceptor has replaced.
var errNotSelecting = errors.New("relations were to be loaded with a context that is not that of the request")

func (a *relations) selecting(ctx context.Context, x *exchange) context.Context {
	if x.loads == nil {
		v := a.visit(x)
		x.loads = &relationLoads{
			visit: v, loads: &related.Loads{Guard: v, Most: a.cursors.options.MaxRelated},
			fresh: len(x.adapter.options.Intercept) > 0,
		}
	}
	return context.WithValue(ctx, relationLoadsKey{}, x.loads)
}

func (a *relations) addTo(codecs unsafe.Pointer) error {
	a.codecs = (*codec.Set)(codecs).AddRelated(func(ctx context.Context) (codec.RelatedLoads, error) {
		if s, ok := ctx.Value(relationLoadsKey{}).(*relationLoads); ok {
			return s, nil
		}
		return nil, errNotSelecting
	})
	for _, r := range a.all {
		if !r.selectable {
			continue
		}
		if err := a.codecs.Add(r.Relation, r.of, r.target); err != nil {
			return fmt.Errorf("relation %s.%s: %w", r.Definition.Of, r.Definition.Name, err)
		}
	}
	return nil
}

func (a *relations) keep(definitions *gen.Definitions) {
	kept := make(map[string]bool, len(definitions.Relations))
	for i := range definitions.Relations {
		kept[definitions.Relations[i].Of+"."+definitions.Relations[i].Name] = true
	}
	a.codecs.Keep(func(of, name string) bool { return kept[of+"."+name] })
}

// Begin begins the loads of one result.
func (s *relationLoads) Begin(ctx context.Context) {
	s.visit.forget()
	s.loads.Begin()
	if s.fresh {
		if !reflect.ValueOf(ctx).Comparable() || ctx != s.last {
			s.loads.Forget()
		}
		s.last = ctx
	}
}

// Load loads a relation.
func (s *relationLoads) Load(
	ctx context.Context, r *related.Relation, path string, named bool, resources []any,
) error {
	s.visit.path, s.visit.optional = path, !named
	err := s.loads.Load(ctx, r, resources)
	switch {
	case errors.Is(err, errLeftOut):
		s.visit.Left(r)
		return nil
	case errors.Is(err, related.ErrTooMany):
		return tooManyRelated(s.loads.Most, "ask for fewer items, or for fewer relations").WithDetail("param_name", "fields")
	}
	return err
}

// Of returns what a relation of a resource leads to.
func (s *relationLoads) Of(r *related.Relation, resource any) []any { return s.loads.Of(r, resource) }

// End returns what adds the warnings of the loads.
func (s *relationLoads) End() func(ctx context.Context) {
	list := s.visit.warnings()
	return func(ctx context.Context) {
		for _, w := range list {
			Warn(ctx, w)
		}
	}
}
