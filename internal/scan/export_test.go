package scan

import (
	"context"
	"errors"

	"github.com/aqltag/aqltag/internal/load"
)

// RequestShape scans one package and returns what became of the request of its first operation.
func RequestShape(ctx context.Context, opts Options) (*Shape, error) {
	loaded, err := load.Load(ctx, load.Options{Dir: opts.Dir, Patterns: opts.Patterns, Env: opts.Env, Loader: opts.Loader, Cache: opts.Cache})
	if err != nil {
		return nil, err
	}
	p, roots := newProgram(loaded), loaded.Roots
	p.index(roots)
	tags := newTagReader(p)
	find := &finder{p, tags}
	operations := find.choose(roots, find.findOperations(roots[0]))
	if len(operations) == 0 {
		return nil, errors.New("no operations")
	}
	w := newWireTypes(p, roots[0].Types)
	h, ok := newBuilder(p, tags, roots[0].Types).buildHandler(operations[0])
	if !ok {
		return nil, errors.New("the handler cannot be built")
	}
	w.addHandler(h.request, h.result)
	w.assignNames()
	w.complete(h.request)
	w.complete(h.result)
	return h.request, nil
}
