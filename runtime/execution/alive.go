package execution

import "context"

// WorksStill reports whether the worker of an execution is alive, as far as the store knows. The execution of one that
// is not goes on with another worker.
func (e *Engine) WorksStill(ctx context.Context, r *Record) (bool, error) {
	if r.Worker == "" {
		return false, nil
	}
	entry, err := e.o.Store.Get(ctx, e.root+alivePart+r.Worker)
	return err == nil && entry.Exists(), err
}
