package aql

import (
	"context"
	"log/slog"
)

// steadyHandler is the service's handler of log records. A record at which it panics, which may be the fault of what
// the record has, is lost.
type steadyHandler struct{ slog.Handler }

func (h steadyHandler) Handle(ctx context.Context, r slog.Record) error {
	defer func() { _ = recover() }()
	return h.Handler.Handle(ctx, r)
}

func (h steadyHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	return steadyHandler{h.Handler.WithAttrs(attrs)}
}

func (h steadyHandler) WithGroup(name string) slog.Handler {
	return steadyHandler{h.Handler.WithGroup(name)}
}
