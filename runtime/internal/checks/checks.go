// Package checks logs which checks of an adapter fail: what changes, and not each look.
package checks

import (
	"context"
	"log/slog"
	"sync"
)

// Log knows which checks fail. Its zero value knows of none.
type Log struct {
	mu     sync.Mutex
	failed map[string]bool
}

// Tell logs that a check has begun to fail, or to go well again. err is why it fails; nil: it does not.
func (l *Log) Tell(ctx context.Context, to *slog.Logger, check string, err error) {
	l.tell(ctx, to, check, err, "the adapter is not ready", "the adapter is ready again")
}

// TellDegraded is Tell for a check without which the adapter is ready all the same.
func (l *Log) TellDegraded(ctx context.Context, to *slog.Logger, check string, err error) {
	l.tell(ctx, to, check, err, "the adapter is degraded", "the adapter is not degraded any more")
}

func (l *Log) tell(ctx context.Context, to *slog.Logger, check string, err error, begins, ends string) {
	fails := err != nil
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case fails == l.failed[check]:
		return
	case fails:
		to.WarnContext(ctx, begins, slog.String("check", check), slog.Any("error", err))
	default:
		to.InfoContext(ctx, ends, slog.String("check", check))
	}
	if l.failed == nil {
		l.failed = make(map[string]bool)
	}
	l.failed[check] = fails
}
