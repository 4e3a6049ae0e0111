package aql

import "context"

// Progress is told how much of a request is done: of a batch, how many of its operations.
type Progress func(done, total int)

type progressKey struct{}

// WithProgress returns a context with which Session.Call reports progress. The reports come one after the other, while the
// call runs (MCP integration §5.1).
func WithProgress(ctx context.Context, report Progress) context.Context {
	return context.WithValue(ctx, progressKey{}, report)
}

func progressOf(ctx context.Context) Progress {
	if report, ok := ctx.Value(progressKey{}).(Progress); ok && report != nil {
		return report
	}
	return func(int, int) {}
}
