package approve

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/store"
)

const (
	// mostAnonymous bounds the items that all anonymous callers open in each of anonymousWindows: each has as many
	// connections, and with them items, as it likes. On one connection mostWaiting are opened in that time, so that none
	// of them, which may withdraw what it opens, uses up all.
	mostAnonymous = 500
	// mostWholeAnonymous bounds what is kept whole of the items of all anonymous callers, in bytes, in twice each of
	// anonymousWindows, and mostWholeConnection that of one connection.
	mostWholeAnonymous, mostWholeConnection = 8 << 20, 1 << 20
)

// anonymousWindows are the times in which items of anonymous callers are counted: each in the shortest that is not
// shorter than its lifetime, so that it counts for as long as it waits. As there are only a few, what waits in all of
// them together is bounded, too, and many items that wait for a day leave room for those that wait for minutes. Nothing
// waits longer than the last: what executions ask waits for up to 30 days.
var anonymousWindows = [...]time.Duration{5 * time.Minute, time.Hour, 24 * time.Hour, 31 * 24 * time.Hour}

// windowOf returns the one of anonymousWindows in which an item counts.
func windowOf(lifetime time.Duration) (time.Duration, error) {
	for _, window := range anonymousWindows {
		if lifetime <= window {
			return window, nil
		}
	}
	return 0, fmt.Errorf("an item of a caller without a name would wait for %v; the longest is %v", lifetime,
		anonymousWindows[len(anonymousWindows)-1])
}

// openedKeys returns the keys of the counters of the items that anonymous callers open: of all of them, and of a
// connection.
func openedKeys(window time.Duration, connection string) (all, one string) {
	all = "approve-anonymous/" + window.String()
	return all, all + "/" + connection
}

// countAnonymous counts an item that an anonymous caller opens. It fails with a TooManyError if there are too many.
func (b *box) countAnonymous(ctx context.Context, q *Question) error {
	window, err := windowOf(q.Lifetime)
	if err != nil {
		return err
	}
	all, one := openedKeys(window, q.connection())
	counts, err := b.store.Take(ctx, []store.Claim{
		{Key: all, N: 1, Limit: mostAnonymous, Window: window},
		{Key: one, N: 1, Limit: mostWaiting, Window: window},
	})
	if err != nil {
		return fmt.Errorf("counting items: %w", err)
	}
	var until time.Time
	for _, count := range counts {
		if count.Refused && count.Free.After(until) {
			until = count.Free
		}
	}
	if !until.IsZero() {
		return &TooManyError{Until: until}
	}
	return nil
}

// decidedAnonymous makes room for another item after a person has decided about one. Where that fails, there is room
// when its window is over.
func (b *box) decidedAnonymous(ctx context.Context, item *Item) {
	parts := strings.Split(strings.TrimPrefix(item.key, prefix), "/") // of the caller, and of the connection: see start
	window, err := windowOf(item.Lifetime)
	if !item.Caller.Anonymous() || len(parts) < 3 || err != nil {
		return
	}
	all, one := openedKeys(window, parts[1])
	_, _ = b.store.Take(ctx, []store.Claim{{Key: all, N: -1, Window: window}, {Key: one, N: -1, Window: window}})
}

// mayKeepAnonymous reports whether so many bytes more of an anonymous caller may be kept whole. Else people see the
// ends of them, as of what is longer than longestWhole.
func (b *box) mayKeepAnonymous(ctx context.Context, q *Question) (bool, error) {
	window, err := windowOf(q.Lifetime)
	if err != nil {
		return false, err
	}
	window *= 2 // see keepWhole
	all, n := "approve-anonymous-whole/"+window.String(), int64(len(q.Params))
	counts, err := b.store.Take(ctx, []store.Claim{
		{Key: all, N: n, Limit: mostWholeAnonymous, Window: window},
		{Key: all + "/" + q.connection(), N: n, Limit: mostWholeConnection, Window: window},
	})
	if err != nil {
		return false, fmt.Errorf("counting bytes: %w", err)
	}
	return !counts[0].Refused && !counts[1].Refused, nil
}
