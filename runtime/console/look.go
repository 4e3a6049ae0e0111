package console

import (
	"slices"
	"time"
)

// look is what lists show of the inbox at a time. Nobody changes one.
type look struct {
	at      time.Time
	all     []*head
	waiting []*head                      // those that are urgent first, and of these and of the others the oldest
	counts  [len(filters)]map[string]int // how many of those that wait have a value, by filter
	unread  int                          // entries that cannot be read
	until   time.Time                    // from when on it shows what is over; zero: nothing will be
}

// lookAt returns the look at heads, which may be in any order.
func lookAt(all []*head, unread int, now time.Time) *look {
	l := &look{at: now, all: all, unread: unread}
	for i := range l.counts {
		l.counts[i] = make(map[string]int)
	}
	var rest []*head
	for _, h := range all {
		if !h.over(now) {
			l.lasts(h.turns(now))
		}
		switch {
		case !h.waits(now):
			continue
		case h.urgent(now):
			l.waiting = append(l.waiting, h)
		default:
			rest = append(rest, h)
		}
		for i, value := range h.of {
			if value != "" {
				l.counts[i][value]++
			}
		}
	}
	slices.SortFunc(l.waiting, (*head).compare)
	slices.SortFunc(rest, (*head).compare)
	l.waiting = append(l.waiting, rest...)
	return l
}

// lasts notes when something turns; zero: never.
func (l *look) lasts(until time.Time) {
	if !until.IsZero() && (l.until.IsZero() || until.Before(l.until)) {
		l.until = until
	}
}

// holds reports whether the look shows at a time what is so, if nothing has changed.
func (l *look) holds(now time.Time) bool {
	return !now.Before(l.at) && (l.until.IsZero() || now.Before(l.until))
}

// holding returns the heads of items that wait and have an agent with a name stand still, or may have, because their
// execution may be one of its; the oldest first. Without a name it is any agent.
func (l *look) holding(name string) []*head {
	var some []*head
	for _, h := range l.waiting {
		if of := &h.holds; of.step != "" || of.agent != "" && (name == "" || of.agent == name) {
			some = append(some, h)
		}
	}
	slices.SortFunc(some, (*head).compare)
	return some
}

// head returns the head of an item; nil: there is none.
func (l *look) head(id string) *head {
	if i := slices.IndexFunc(l.all, func(h *head) bool { return h.id == id }); i >= 0 {
		return l.all[i]
	}
	return nil
}
