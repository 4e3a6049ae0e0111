package console

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/verify"
)

// near returns the inbox for who wants the item with an ID: where the overview knows the item's entry, the others are
// not read.
func (c *console) near(ctx context.Context, id string) (approve.Inbox, error) {
	key, err := c.overview.keyOf(ctx, id)
	if err != nil || key == "" {
		return c.inbox, err
	}
	o := c.o
	o.Store = oneEntry{c.o.Store, key}
	_, inbox, err := openInbox(&o)
	return nearInbox{c.inbox, inbox}, err
}

// openInbox opens what holds agents, and the inbox that has it, too.
func openInbox(o *Options) (*verify.Box, approve.Inbox, error) {
	holds, err := verify.New(verify.Options{Store: o.Store, Audit: o.Audit, Logger: o.Logger, Now: o.Now})
	if err != nil {
		return nil, nil, fmt.Errorf("opening what holds agents: %w", err)
	}
	return holds, holds.Inbox(approve.New(o.Store)), nil
}

// item returns an item by its ID. It fails with approve.ErrUnknown if there is none.
func (c *console) item(ctx context.Context, id string) (approve.Item, error) {
	inbox, err := c.near(ctx, id)
	if err != nil {
		return approve.Item{}, err
	}
	return inbox.Get(ctx, id)
}

// nearInbox is an inbox that looks for an item in one entry first: it may have gone since the overview saw it there.
type nearInbox struct {
	approve.Inbox
	one approve.Inbox
}

func (n nearInbox) Get(ctx context.Context, id string) (approve.Item, error) {
	if item, err := n.one.Get(ctx, id); err == nil {
		return item, nil
	}
	return n.Inbox.Get(ctx, id)
}

func (n nearInbox) Vote(ctx context.Context, id string, v approve.Vote) (approve.Item, error) {
	item, err := n.one.Vote(ctx, id, v)
	if errors.Is(err, approve.ErrUnknown) { // nobody has voted
		return n.Inbox.Vote(ctx, id, v)
	}
	return item, err
}

// oneEntry is a store that lists one of its entries.
type oneEntry struct {
	store.Store
	key string
}

func (s oneEntry) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	if !strings.HasPrefix(s.key, prefix) || s.key <= after || limit < 1 {
		return nil, nil
	}
	found, err := s.Get(ctx, s.key)
	if err != nil || !found.Exists() {
		return nil, err
	}
	return []store.Entry{found}, nil
}

// Notify implements store.Notifier, where the store does.
func (s oneEntry) Notify(ctx context.Context, topic string) error {
	if n, ok := s.Store.(store.Notifier); ok {
		return n.Notify(ctx, topic)
	}
	return nil
}

// Listen implements store.Notifier. Where the store does not, the channel never receives.
func (s oneEntry) Listen(ctx context.Context, topic string) <-chan struct{} {
	if n, ok := s.Store.(store.Notifier); ok {
		return n.Listen(ctx, topic)
	}
	return nil
}
