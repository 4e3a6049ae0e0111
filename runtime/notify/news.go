package notify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/verify"
)

const (
	// mostWaiting bounds the items that people are told of while they all wait. Beyond it blocks count, and the oldest.
	mostWaiting = 20_000
	// mostItems bounds the items that a notice has.
	mostItems = 10
)

// news is what a channel has to tell people at a time.
type news struct {
	items   []approve.Item // that are news, in the order of a notice
	soon    map[string]bool
	times   map[string]int  // how often people have been told of those of items, when they are told this
	waiting map[string]bool // all items that wait, by their IDs
	lifted  []Lifted
}

// waiting returns the items of the adapter that wait at a time: the oldest first, or blocks, if there are too many.
func (o *Options) waiting(items []approve.Item, now time.Time) []approve.Item {
	var open []approve.Item
	for i := range items {
		if item := &items[i]; item.Adapter == o.Adapter && item.StateAt(now) == approve.Open {
			open = append(open, *item)
		}
	}
	if len(open) > mostWaiting { // nobody asks so much that people do not hear of a block
		slices.SortStableFunc(open, func(x, y approve.Item) int { return cmp.Compare(urgency(&x), urgency(&y)) })
		open = open[:mostWaiting]
	}
	return open
}

// urgency orders items: what people must look at first is the least.
func urgency(item *approve.Item) int {
	switch item.Kind {
	case approve.Block:
		return 0
	case approve.Pause:
		return 1
	}
	return 2
}

// news returns what people were not told of what waits.
func (o *Options) news(waiting []approve.Item, t *told, now time.Time) news {
	n := news{soon: make(map[string]bool), times: make(map[string]int), waiting: make(map[string]bool, len(waiting))}
	for i := range waiting {
		item := &waiting[i]
		n.waiting[item.ID] = true
		soon := o.Again > 0 && !item.Expires.IsZero() && item.Expires.Sub(now) <= o.Again
		switch before := t.Items[item.ID].Times; {
		case before == 0 && soon, before == toldOnce && soon:
			n.times[item.ID], n.soon[item.ID] = toldAgain, true
		case before == 0:
			n.times[item.ID] = toldOnce
		default:
			continue
		}
		n.items = append(n.items, *item)
	}
	sortNews(n.items)
	return n
}

// sortNews puts the most urgent items first. Of equally urgent ones, each caller has one before another has a second,
// so that nobody who asks much hides what others ask.
func sortNews(items []approve.Item) {
	type place struct{ urgency, turn int }
	places := make(map[string]place, len(items))
	turns := make(map[string]int)
	for i := range items {
		of := string(rune('0'+urgency(&items[i]))) + items[i].Caller.Key()
		places[items[i].ID] = place{urgency(&items[i]), turns[of]}
		turns[of]++
	}
	slices.SortStableFunc(items, func(x, y approve.Item) int {
		one, two := places[x.ID], places[y.ID]
		return cmp.Or(cmp.Compare(one.urgency, two.urgency), cmp.Compare(one.turn, two.turn), x.Opened.Compare(y.Opened))
	})
}

// lifted returns the blocks that people were told of and that wait no more. What waits may have been read before
// another process has told them of one.
func lifted(ctx context.Context, inbox approve.Inbox, n *news, t *told) ([]Lifted, error) {
	var all []Lifted
	for _, id := range slices.Sorted(maps.Keys(t.Items)) {
		was := t.Items[id]
		if was.Agent == "" || was.Left != 0 || n.waiting[id] {
			continue
		}
		item, err := inbox.Get(ctx, id)
		_, unread := errors.AsType[*approve.UnreadableError](err)
		switch {
		case unread: // it may be in force, and cannot be read
			continue
		case errors.Is(err, approve.ErrUnknown):
		case err != nil:
			return nil, fmt.Errorf("reading what was lifted: %w", err)
		case item.State != approve.Used:
			continue
		}
		one := Lifted{ID: id, Agent: was.Agent, Caller: was.Caller}
		for _, vote := range item.Votes {
			one.By = append(one.By, vote.By)
		}
		all = append(all, one)
	}
	return all, nil
}

// none reports whether there is nothing to tell.
func (n *news) none() bool { return len(n.items) == 0 && len(n.lifted) == 0 }

// urgent reports whether an agent is blocked.
func (n *news) urgent() bool { return len(n.items) > 0 && n.items[0].Kind == approve.Block }

// notice returns the notice of news on a channel.
func (o *Options) notice(c Channel, key string, n *news, now time.Time) Notice {
	notice := Notice{
		Adapter: o.Adapter, At: now.UTC(), Waiting: len(n.waiting), More: max(len(n.items)-mostItems, 0), Link: o.Link,
		Lifted: n.lifted,
	}
	all := make([]Item, len(n.items))
	for i := range n.items {
		all[i] = o.item(c, &n.items[i], n.soon[n.items[i].ID])
	}
	notice.ID = noticeID(key, all, n.lifted)
	notice.Items = all[:min(len(all), mostItems)]
	if len(n.waiting) == 1 && len(all) == 1 {
		notice.Link = all[0].Link
	}
	return notice
}

// item returns what people are told of an item of the inbox.
func (o *Options) item(c Channel, from *approve.Item, soon bool) Item {
	item := Item{
		ID: from.ID, Kind: from.Kind, Operation: from.Operation, Danger: from.Danger, Caller: from.Caller,
		Agent: from.Agent, Opened: from.Opened, Expires: from.Expires, Soon: soon,
	}
	if o.Link != "" {
		item.Link = setup.ItemAddress(o.Link, from.ID)
	}
	if o.Details && c.Strength() >= verify.OtherDevice {
		item.Details = &Details{Message: from.Message, Reasons: from.Reasons, Params: from.Params}
	}
	return item
}
