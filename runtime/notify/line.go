package notify

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/store"
)

// line tells people what waits on one channel.
type line struct {
	o       *Options
	inbox   approve.Inbox
	channel Channel
	name    string
	key     string              // of what people were told
	items   chan []approve.Item // what waits now; it holds the last that was offered

	paused   time.Time    // until then the channel is left alone
	quiet    [2]time.Time // until then there is no room for a notice; the second for an urgent one
	failures int          // in a row
}

// offer has the line tell what waits, in place of what it was offered before.
func (l *line) offer(items []approve.Item) {
	select {
	case <-l.items:
	default:
	}
	l.items <- items
}

// run tells people what is offered, until ctx ends.
func (l *line) run(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case items := <-l.items:
			if l.o.Now().Before(l.paused) {
				continue
			}
			err := l.tell(ctx, items)
			if ctx.Err() == nil {
				l.ended(err)
			}
		}
	}
}

// ended notes how telling people has ended.
func (l *line) ended(err error) {
	if err == nil {
		if l.failures > 0 {
			l.o.Logger.Info("People are told again what waits for them", "channel", l.name)
		}
		l.failures = 0
		return
	}
	pause := min(firstPause<<min(l.failures, 16), longestPause)
	pause += time.Duration((rand.Float64() - 0.5) * 0.4 * float64(pause)) // so that processes do not try together
	var later interface{ RetryAfter() time.Duration }
	if errors.As(err, &later) {
		pause = min(max(pause, later.RetryAfter()), time.Hour)
	}
	l.failures++
	l.paused = l.o.Now().Add(pause)
	l.o.Logger.Error("people were not told what waits for them", slog.String("channel", l.name),
		slog.Duration("again_in", pause.Round(time.Millisecond)), slog.Any("error", err))
}

// tell tells people what is news to them, if it is the turn of this process.
func (l *line) tell(ctx context.Context, items []approve.Item) error {
	// What is begun is ended, so that a process that stops in between does not have another one tell it again.
	ctx = context.WithoutCancel(ctx)
	within := func() (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, storeTimeout) }
	before, cancel := within()
	defer cancel()
	if n, _, err := l.news(before, items); err != nil || n.none() || l.isQuiet(&n) {
		return err
	}
	endTurn, err := takeTurn(before, l.o.Store, l.key)
	if err != nil || endTurn == nil {
		return err
	}
	defer func() {
		after, cancel := within()
		defer cancel()
		endTurn(after)
	}()
	n, was, err := l.news(before, items) // another process may have told it just now
	if err != nil || n.none() || l.isQuiet(&n) {
		return err
	}
	last, ok, err := l.takeRoom(before, &n)
	if err != nil || !ok {
		return err
	}
	notice := l.o.notice(l.channel, l.key, &n, l.o.Now())
	notice.Last = last
	telling, cancel := context.WithTimeout(ctx, tellTimeout)
	defer cancel()
	err = l.channel.Tell(telling, notice)
	after, cancel := within()
	defer cancel()
	if err != nil {
		l.giveBack(after, &n)
		return err
	}
	return was.add(after, l.o.Store, &n, l.o.Now())
}

// news returns what people were not told of items, and what they were told.
func (l *line) news(ctx context.Context, items []approve.Item) (news, told, error) {
	was, err := readTold(ctx, l.o.Store, l.key)
	if err != nil {
		return news{}, was, err
	}
	n := l.o.news(items, &was, l.o.Now())
	n.lifted, err = lifted(ctx, l.inbox, &n, &was)
	return n, was, err
}

// quietFor returns until when there is no room for a notice of news.
func (l *line) quietFor(n *news) *time.Time {
	if n.urgent() {
		return &l.quiet[1]
	}
	return &l.quiet[0]
}

func (l *line) isQuiet(n *news) bool { return l.o.Now().Before(*l.quietFor(n)) }

// takeRoom takes the room of one notice, and reports whether it was the last one within the hour. If there is none, ok
// is false.
func (l *line) takeRoom(ctx context.Context, n *news) (last, ok bool, err error) {
	counts, err := l.o.Store.Take(ctx, l.room(n, 1))
	if err != nil {
		return false, false, err
	}
	for _, count := range counts {
		if count.Refused && count.Free.After(*l.quietFor(n)) {
			*l.quietFor(n) = count.Free
		}
	}
	for _, count := range counts {
		if count.Refused {
			return false, false, nil
		}
	}
	return counts[1].Used >= int64(l.o.PerHour), true, nil
}

// giveBack gives the room of a notice back that was not sent.
func (l *line) giveBack(ctx context.Context, n *news) {
	_, _ = l.o.Store.Take(ctx, l.room(n, -1)) // else people are told less, for an hour at the most
}

// room are the counters of notices: of a minute, and of an hour.
func (l *line) room(n *news, count int64) []store.Claim {
	key := "notify-notices/" + l.key
	if n.urgent() {
		key += "/urgent"
	}
	return []store.Claim{
		{Key: key + "/minute", N: count, Limit: perMinute, Window: time.Minute},
		{Key: key + "/hour", N: count, Limit: int64(l.o.PerHour), Window: time.Hour},
	}
}
