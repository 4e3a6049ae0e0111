package scan

import (
	"context"
	"errors"

	"github.com/aqltag/aqltag/internal/load"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/internal/scan/wiretype"
)

// RequestShape scans one package and returns what became of the request of its first operation.
func RequestShape(ctx context.Context, opts Options) (*shapes.Shape, error) {
	loaded, err := load.Load(ctx, load.Options{
		Dir: opts.Dir, Patterns: opts.Patterns, Env: opts.Env, Loader: opts.Loader, Cache: opts.Cache,
	})
	if err != nil {
		return nil, err
	}
	p, roots := source.New(loaded), loaded.Roots
	tags := tags.NewReader(p)
	find := &scanner{Program: p, tags: tags}
	operations := find.choose(roots, find.findOperations(roots[0]))
	if len(operations) == 0 {
		return nil, errors.New("no operations")
	}
	w := wiretype.NewSet(p, roots[0].Types)
	h, ok := newBuilder(p, tags, roots[0].Types).buildHandler(operations[0])
	if !ok {
		return nil, errors.New("the handler cannot be built")
	}
	w.AddHandler(h.request, h.result)
	w.AssignNames()
	w.Complete(h.request)
	w.Complete(h.result)
	return h.request, nil
}

// Scan scans packages that were loaded already.
func Scan(loaded *load.Program) Result {
	p := source.New(loaded)
	return (&scanner{Program: p, tags: tags.NewReader(p)}).scan(loaded.Roots)
}

// RuntimeSource and CollectionSource declare queries for packages that do not import package aql.
const (
	RuntimeSource    = runtimeSource
	CollectionSource = collectionSource
)
