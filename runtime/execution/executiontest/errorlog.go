package executiontest

import (
	"context"
	"log/slog"
	"strings"
)

// errorLog is a log in which there must be no errors of engines: a worker that finds a forgotten execution mends it,
// and says so there. A dispatcher may have errors of its own, as where its server is slow.
type errorLog struct{ s *scenario }

func (e errorLog) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelError }

func (e errorLog) Handle(_ context.Context, r slog.Record) error {
	if strings.HasPrefix(r.Message, "executions: ") {
		e.s.t.Errorf("%s: the log has an error: %s", e.s.title, r.Message)
	}
	return nil
}

func (e errorLog) WithAttrs([]slog.Attr) slog.Handler { return e }
func (e errorLog) WithGroup(string) slog.Handler      { return e }
