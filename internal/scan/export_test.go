package scan

import (
	"context"
	"errors"

	"github.com/aqltag/aqltag/internal/load"
	"github.com/aqltag/aqltag/model"
)

// RequestShape scans one package and returns what became of the request of its first operation.
func RequestShape(ctx context.Context, opts Options) (*model.Shape, error) {
	loaded, err := load.Load(ctx, load.Options{Dir: opts.Dir, Patterns: opts.Patterns, Env: opts.Env, Loader: opts.Loader, Cache: opts.Cache})
	if err != nil {
		return nil, err
	}
	p, roots := newProgram(loaded), loaded.Roots
	p.index(roots)
	operations := p.choose(roots, p.findOperations(roots[0]))
	if len(operations) == 0 {
		return nil, errors.New("no operations")
	}
	s := newShaper(p, roots[0].Types)
	w := newWireTypes(s)
	h, ok := s.buildHandler(operations[0])
	if !ok {
		return nil, errors.New("the handler cannot be built")
	}
	for _, field := range h.request.Fields {
		w.visit(field.Shape, false)
	}
	if h.result != nil {
		w.visitResult(h.result)
	}
	w.assignNames()
	w.complete([]handled{h})
	return h.request, nil
}
