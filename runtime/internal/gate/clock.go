package gate

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"sync"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

// clock is a clock that never goes back, by which tokens expire: when the clock of the machine is set back, it goes on
// from where it was.
type clock struct {
	read func() time.Time

	mu   sync.Mutex
	last time.Time // what read returned
	now  time.Time // what Now returned
}

// Now returns the time: that of the clock of the machine, or a later one if that was set back.
func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.advanced()
}

// advanced sets the clock to the time that it is, and returns that. The lock is held.
func (c *clock) advanced() time.Time {
	read := c.read()
	passed := max(read.Sub(c.last), 0) // by the monotonic clock, where read has it
	c.last = read
	if c.now.IsZero() || !read.Before(c.now.Add(passed)) {
		c.now = read.Round(0)
	} else {
		c.now = c.now.Add(passed)
	}
	return c.now
}

// advance sets the clock to a time that has been, if it has not come there yet.
func (c *clock) advance(to time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if to.After(c.advanced()) { // what has passed since the clock was read is in to, too
		c.now = to
	}
}

// resolution is how far the time in the store may be behind the latest time.
const resolution = time.Second

// clockKept is how long the store keeps the latest time after it was stored: longer than a token that has expired by
// it. One that was stored with another state key, or without one, is in the way for no longer.
const clockKept = longestLifetime + longestSkew + retention + 10*time.Minute

// farAhead is a difference of clocks that is logged.
const farAhead = time.Minute

// latest returns the latest time at which a process that shares the store has issued or checked a token, which is at
// least now, and stores it. So a token that has expired stays expired, after a restart and for processes whose clocks
// are behind.
func (g *Gate) latest(ctx context.Context, now time.Time) (time.Time, error) {
	if !g.bounded { // the memory of this process has no other clock
		return now, nil
	}
	key := "clock/" + g.adapter
	entry, err := g.options.Store.Get(ctx, key)
	if err != nil {
		return now, fmt.Errorf("looking up the latest time: %w", err)
	}
	var seen time.Time
	if entry.Exists() {
		if seen, err = parseTime(entry.Value); err != nil {
			return now, fmt.Errorf("looking up the latest time: %w", err)
		}
	}
	if seen.After(now) {
		if seen.Sub(now) > farAhead {
			g.options.Logger.LogAttrs(ctx, slog.LevelWarn, "the clock is behind the latest time in the state, which counts",
				slog.Time("clock", now), slog.Time("latest", seen))
		}
		g.clock.advance(seen)
		return seen, nil
	}
	if now.Sub(seen) < resolution {
		return now, nil
	}
	_, err = g.options.Store.Put(ctx, key, encodeTime(now), entry.Version, clockKept)
	if err != nil && !errors.Is(err, store.ErrConflict) { // another process has stored its time
		return now, fmt.Errorf("storing the latest time: %w", err)
	}
	return now, nil
}

// timeForm is the version of the encoding of a time.
const timeForm = 1

func encodeTime(t time.Time) []byte {
	return binary.BigEndian.AppendUint64([]byte{timeForm}, uint64(max(t.UnixMilli(), 0)))
}

// parseTime decodes what encodeTime has written, up to the year 9999.
func parseTime(data []byte) (time.Time, error) {
	if len(data) != 9 || data[0] != timeForm {
		return time.Time{}, errDamaged
	}
	ms := binary.BigEndian.Uint64(data[1:])
	if at := time.UnixMilli(int64(ms)).UTC(); ms <= math.MaxInt64 && at.Year() < 10000 {
		return at, nil
	}
	return time.Time{}, errDamaged
}
