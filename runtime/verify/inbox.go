package verify

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/store"
)

// inbox is an inbox that has the holds of a box, too.
type inbox struct {
	approve.Inbox
	box *Box
}

// Inbox returns an inbox that has the items of another one, and those of the box: a Pause or a Block for each hold. Who
// approves one lifts the hold, whatever its code (MCP-AQL core §8.8.3, explicit admin override).
func (b *Box) Inbox(inner approve.Inbox) approve.Inbox { return &inbox{inner, b} }

func (i *inbox) Get(ctx context.Context, id string) (approve.Item, error) {
	h, err := i.box.named(ctx, id)
	if h.version == 0 && errors.Is(err, approve.ErrUnknown) {
		item, failure := i.Inbox.Get(ctx, id)
		if _, some := errors.AsType[*approve.UnreadableError](err); some && errors.Is(failure, approve.ErrUnknown) {
			return item, err // it may be one of those that cannot be read
		}
		return item, failure
	}
	if errors.Is(err, approve.ErrDecided) || errors.Is(err, approve.ErrExpired) {
		err = nil
	}
	return h.item(), err
}

func (i *inbox) List(ctx context.Context) ([]approve.Item, error) {
	items, err := i.Inbox.List(ctx)
	unread := 0
	if several, ok := errors.AsType[*approve.UnreadableError](err); ok {
		unread, err = several.Entries, nil
	}
	if err != nil {
		return items, err
	}
	more, err := i.box.each(ctx, prefix, func(h hold) bool {
		items = append(items, h.item())
		return true
	})
	if err == nil && unread+more > 0 {
		err = &approve.UnreadableError{Entries: unread + more}
	}
	slices.SortStableFunc(items, func(x, y approve.Item) int {
		return cmp.Or(x.Opened.Compare(y.Opened), cmp.Compare(x.ID, y.ID))
	})
	return items, err
}

func (i *inbox) Scan(
	ctx context.Context, visit func(entry store.Entry, item func() (approve.Item, error)) bool,
) error {
	more := true
	err := i.Inbox.Scan(ctx, func(entry store.Entry, item func() (approve.Item, error)) bool {
		more = visit(entry, item)
		return more
	})
	if err != nil || !more {
		return err
	}
	return i.box.scan(ctx, prefix, func(entry store.Entry) bool {
		return visit(entry, func() (approve.Item, error) {
			h, err := parse(entry)
			return h.item(), err
		})
	})
}

func (i *inbox) Vote(ctx context.Context, id string, v approve.Vote) (approve.Item, error) {
	for ctx.Err() == nil {
		h, err := i.box.named(ctx, id)
		switch {
		case h.version == 0 && errors.Is(err, approve.ErrUnknown):
			return i.Inbox.Vote(ctx, id, v)
		case err != nil:
			return h.item(), err
		case !v.Approve:
			return h.item(), approve.ErrHeld
		}
		if err := i.box.override(ctx, &h, v); !errors.Is(err, store.ErrConflict) {
			return h.item(), err
		}
	}
	return approve.Item{}, fmt.Errorf("voting: %w", ctx.Err())
}

// override adds a vote to a hold, and lifts it when that is enough.
func (b *Box) override(ctx context.Context, h *hold, v approve.Vote) error {
	expires := h.Item.Expires
	if err := h.Item.Decide(v); err != nil {
		return err
	}
	if h.Item.State != approve.Approved {
		if err := b.put(ctx, h, b.now()); err != nil {
			return fmt.Errorf("voting: %w", err)
		}
		return nil
	}
	vote := &h.Item.Votes[len(h.Item.Votes)-1]
	h.Item.Expires = expires
	overridden := h.record(audit.AdminOverride, audit.Allowed, vote.Reason)
	overridden.Caller = vote.By
	if err := b.write(ctx, overridden); err != nil {
		return err
	}
	next := h.lifted(b.now())
	if err := b.put(ctx, &next, b.now()); err != nil {
		return fmt.Errorf("lifting what holds an agent: %w", err)
	}
	*h = next
	return nil
}
