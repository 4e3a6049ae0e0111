package approve

import (
	"context"
	"errors"
	"fmt"
)

const (
	// wholePrefix begins the keys of what items leave out. It is none of items, whose lists stay short.
	wholePrefix = "approve-whole/"
	// longestWhole bounds the parameters of an item that are kept although it leaves parts of them out, in bytes.
	longestWhole = 128 << 10
)

// ErrNotKept is the error of Whole if there is nothing but what the item shows.
var ErrNotKept = errors.New("not all of the parameters is kept: there was more than 128 KiB, or too much of callers " +
	"without a name, or the item has expired")

// keepWhole keeps the parameters of which an item leaves out parts, while people may look at it: until it expires, and
// as long again for those who decide after others.
func (b *box) keepWhole(ctx context.Context, item *Item, q *Question) error {
	if item.Whole == 0 || item.Whole > longestWhole {
		return nil
	}
	if q.Caller.Anonymous() {
		if may, err := b.mayKeepAnonymous(ctx, q); err != nil || !may {
			return err
		}
	}
	_, err := b.store.Put(ctx, wholePrefix+item.ID, []byte(q.Params), 0, 2*item.Lifetime)
	return err
}

// forgetWhole removes what keepWhole has kept, of an item at which nobody looks any more.
func (b *box) forgetWhole(ctx context.Context, item *Item) error {
	if item.Whole == 0 {
		return nil
	}
	entry, err := b.store.Get(ctx, wholePrefix+item.ID)
	if err == nil && entry.Exists() {
		err = b.store.Delete(ctx, entry.Key, entry.Version)
	}
	return err
}

func (b *box) Whole(ctx context.Context, item Item) (string, error) {
	if item.Whole == 0 {
		return item.Params, nil
	}
	entry, err := b.store.Get(ctx, wholePrefix+item.ID)
	switch {
	case err != nil:
		return "", fmt.Errorf("reading the parameters of an item: %w", err)
	case len(entry.Value) != item.Whole:
		return "", ErrNotKept
	}
	return string(entry.Value), nil
}
