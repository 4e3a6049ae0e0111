package aql

import (
	"context"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/internal/observer"
	"github.com/aqltag/aqltag/runtime/observe"
	"github.com/aqltag/aqltag/runtime/store"
)

// observedInbox makes an inbox of which hooks are told, if some want that; nil: there is none.
func observedInbox(open func(store.Store) approve.Inbox, o *observer.Observer) func(store.Store) approve.Inbox {
	if open == nil || !o.Approvals() {
		return open
	}
	return func(s store.Store) approve.Inbox {
		inbox := open(s)
		if inbox == nil {
			return nil
		}
		return toldInbox{inbox, o}
	}
}

// toldInbox is an inbox of which hooks are told.
type toldInbox struct {
	approve.Inbox
	observer *observer.Observer
}

func (i toldInbox) Ask(ctx context.Context, q approve.Question) (approve.Item, bool, error) {
	item, opened, err := i.Inbox.Ask(ctx, q)
	if err == nil && opened {
		i.tell(ctx, &item, observe.Opened, 0)
	}
	return item, opened, err
}

func (i toldInbox) Use(ctx context.Context, item approve.Item, at time.Time) error {
	err := i.Inbox.Use(ctx, item, at)
	if err == nil {
		i.tell(ctx, &item, observe.Used, waited(&item))
	}
	return err
}

func (i toldInbox) tell(ctx context.Context, item *approve.Item, e observe.ApprovalEvent, waited time.Duration) {
	i.observer.Approval(ctx, observe.Approval{
		Operation: item.Operation, Kind: string(item.Kind), Event: e, Waited: waited,
	})
}

// waited is how long it took until the last person had voted about an item.
func waited(item *approve.Item) time.Duration {
	if len(item.Votes) == 0 {
		return 0
	}
	return max(item.Votes[len(item.Votes)-1].At.Sub(item.Opened), 0)
}
