package verify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
)

const (
	// firstWindow is the time in which failures are counted at first, and longestWindow at last.
	firstWindow, longestWindow = time.Minute, time.Hour
	// mostLevels is how often a window is doubled until it is the longest.
	mostLevels = 6
	// failuresPart begins the keys of the counters of failures, and patiencePart those of the entries that say how long
	// their windows are.
	failuresPart, patiencePart = "verify-failures/", "verify-patience/"
)

// window returns the time in which failures are counted after they were too many for level times.
func window(level int) time.Duration { return min(firstWindow<<level, longestWindow) }

// patience is how often failures of a caller about an agent were too many lately.
type patience struct {
	Level int       `json:"level"`
	Until time.Time `json:"until"` // when they are counted again
}

// count counts an attempt as a failure, before it is looked at: so at most so many are looked at, however many come at
// the same time. It fails with a *TooManyError if they are too many.
func (b *Box) count(ctx context.Context, caller identity.Caller, agent string) (store.Claim, error) {
	whose := digestOf(b.o.Adapter, caller.Key(), agent)
	entry, err := b.o.Store.Get(ctx, patiencePart+whose)
	if err != nil {
		return store.Claim{}, fmt.Errorf("counting failures: %w", err)
	}
	var lately patience
	if entry.Exists() && (json.Unmarshal(entry.Value, &lately) != nil || lately.Level < 0 || lately.Level > mostLevels) {
		return store.Claim{}, fmt.Errorf("counting failures: %w", errDamaged)
	}
	now := b.now()
	if now.Before(lately.Until) {
		return store.Claim{}, &TooManyError{Until: lately.Until}
	}
	claim := store.Claim{
		Key: failuresPart + whose + "/" + strconv.Itoa(lately.Level), N: 1, Limit: int64(b.o.Failures),
		Window: window(lately.Level),
	}
	counts, err := b.o.Store.Take(ctx, []store.Claim{claim})
	switch {
	case err != nil:
		return claim, fmt.Errorf("counting failures: %w", err)
	case !counts[0].Refused:
		return claim, nil
	}
	until := now.Add(window(lately.Level))
	next := patience{Level: min(lately.Level+1, mostLevels)}
	if next.Level == lately.Level { // the same counter, which counts for a tenth longer
		until = until.Add(window(lately.Level) / 10)
	}
	next.Until = until
	text, err := json.Marshal(next)
	if err == nil {
		_, err = b.o.Store.Put(ctx, patiencePart+whose, text, entry.Version, until.Sub(now)+2*window(next.Level))
	}
	if err != nil && !errors.Is(err, store.ErrConflict) { // another process has seen it at the same time
		return claim, fmt.Errorf("counting failures: %w", err)
	}
	return claim, &TooManyError{Until: until}
}

// giveBack takes back what count has counted.
func (b *Box) giveBack(ctx context.Context, claim store.Claim) {
	claim.N = -1
	if _, err := b.o.Store.Take(ctx, []store.Claim{claim}); err != nil {
		b.o.Logger.LogAttrs(ctx, slog.LevelWarn, "a verification counts as a failure", slog.Any("error", err))
	}
}

// uncounted records an attempt that was not looked at because there were too many, and returns the error.
func (b *Box) uncounted(ctx context.Context, h *hold, caller identity.Caller, err error) error {
	if _, many := errors.AsType[*TooManyError](err); !many || b.o.Audit == nil {
		return err
	}
	record := b.unknown(caller)
	record.Time, record.Outcome, record.Reason, record.Agent = b.now(), audit.Denied, "too many failures", h.Item.Agent
	if failure := b.o.Audit.WriteRefusal(ctx, record); failure != nil {
		return fmt.Errorf("recording a verification that was refused: %w", failure)
	}
	return err
}
