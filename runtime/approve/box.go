package approve

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
)

const (
	// prefix begins the keys of items in the store.
	prefix = "approve/"
	// remembered is how long an item stays in the store after it has expired.
	remembered = 30 * time.Minute
	// awaitedFor is how long what was decided about an Enquiry stays in the store, unless its execution ends before.
	awaitedFor = 365 * 24 * time.Hour
	// mostWaiting bounds the items of a caller that wait at the same time, and mostHeld all that the store has of it.
	mostWaiting, mostHeld = 200, 2000
	// pageSize is how many items are listed at a time.
	pageSize = 500
)

// Topic is what a store.Notifier notifies when items change.
const Topic = "approve"

// form is the first byte of an item in the store.
const form = '1'

var errDamaged = errors.New("an item in the store is damaged, or was written by a later version")

// box is an Inbox. There is one entry in the store for each binding: its key says whose it is.
type box struct{ store store.Store }

// start returns the beginning of the keys of the items that count together: those of a caller, or of the connection of
// an anonymous one.
func (q *Question) start() string {
	digest := sha256.Sum256([]byte(q.Caller.Key()))
	start := prefix + hex.EncodeToString(digest[:8]) + "/"
	if q.Caller.Anonymous() {
		start += q.connection() + "/"
	}
	return start
}

// connection identifies the connection of an anonymous caller. Those without one are one.
func (q *Question) connection() string {
	digest := sha256.Sum256([]byte(q.Session))
	return hex.EncodeToString(digest[:8])
}

// parse decodes an entry.
func parse(entry store.Entry) (Item, error) {
	var item Item
	text, ok := strings.CutPrefix(string(entry.Value), string(form))
	if !ok || json.Unmarshal([]byte(text), &item) != nil || !item.wellFormed() {
		return Item{}, errDamaged
	}
	item.key, item.version = entry.Key, entry.Version
	return item, nil
}

// put writes an item over the version that it was read from. It is kept as long as somebody may ask about it.
func (b *box) put(ctx context.Context, item *Item, now time.Time) error {
	ttl := max(item.Expires.Sub(now), 0) + remembered
	if item.awaited() {
		ttl = awaitedFor
	}
	err := b.write(ctx, item, ttl)
	if err == nil {
		b.tell(ctx)
	}
	return err
}

// write writes an item over the version that it was read from. It expires after a while.
func (b *box) write(ctx context.Context, item *Item, ttl time.Duration) error {
	text, err := json.Marshal(item)
	if err != nil {
		return fmt.Errorf("encoding an item: %w", err)
	}
	version, err := b.store.Put(ctx, item.key, append([]byte{form}, text...), item.version, ttl)
	if err != nil {
		return err
	}
	item.version = version
	return nil
}

// tell says that items have changed.
func (b *box) tell(ctx context.Context) {
	if n, ok := b.store.(store.Notifier); ok {
		_ = n.Notify(ctx, Topic) // a hint: the change is made
	}
}

func (b *box) Find(ctx context.Context, q Question) (Item, error) {
	item := Item{key: q.key()}
	entry, err := b.store.Get(ctx, item.key)
	if err == nil && entry.Exists() {
		item, err = parse(entry)
	}
	if err != nil {
		return Item{}, fmt.Errorf("looking up an item: %w", err)
	}
	if item.State != Denied && q.Kind != Enquiry && !q.demands(&item) {
		return Item{key: item.key, version: item.version}, nil
	}
	return item, nil
}

func (b *box) Ask(ctx context.Context, q Question) (item Item, opened bool, err error) {
	for ctx.Err() == nil {
		before, err := b.Find(ctx, q)
		if err != nil {
			return Item{}, false, err
		}
		if q.isAsked(&before) {
			return before, false, nil
		}
		if err := b.checkWaiting(ctx, &q, before.key); err != nil {
			return Item{}, false, err
		}
		item := q.Item()
		item.key, item.version = before.key, before.version
		if err := b.keepWhole(ctx, &item, &q); err != nil {
			return Item{}, false, fmt.Errorf("keeping what an item leaves out: %w", err)
		}
		switch err := b.put(ctx, &item, q.At); {
		case err == nil:
			return item, true, nil
		case !errors.Is(err, store.ErrConflict): // another request was not faster
			return Item{}, false, fmt.Errorf("opening an item: %w", err)
		}
	}
	return Item{}, false, fmt.Errorf("opening an item: %w", ctx.Err())
}

// Item returns a new item about the question, which is in no inbox.
func (q *Question) Item() Item {
	item := Item{
		ID: idPrefix + rand.Text(), Kind: q.Kind, Adapter: q.Adapter, Operation: q.Operation, Danger: q.Danger,
		Caller: identity.Caller{Subject: q.Caller.Subject, Issuer: q.Caller.Issuer}, Execution: q.Execution,
		Rule: q.Rule, Message: q.Message,
		Reasons: q.Reasons, State: Open, Needs: q.Needs, Typing: q.Typing,
		Opened: q.At.UTC(), Expires: q.At.Add(q.Lifetime).UTC(), Lifetime: q.Lifetime,
	}
	var partly bool
	if item.Params, partly = shown(q.Params); partly {
		item.Whole = len(q.Params)
	}
	if q.Cooldown > 0 {
		item.Ready = q.At.Add(q.Cooldown).UTC()
	}
	return item
}

// isAsked reports whether an item that was found is about the question, so that it is not asked again.
func (q *Question) isAsked(item *Item) bool {
	switch item.StateAt(q.At) {
	case Open, Approved:
		return q.demands(item)
	case Denied:
		return true
	case Used: // the execution has taken the approval, and may have been killed before it knew
		return item.Kind == Enquiry
	default: // it has expired, or there is none
		return false
	}
}

// demands reports whether an item was opened under the conditions of the question, and a confirmation for its reasons.
func (q *Question) demands(item *Item) bool {
	if q.Kind == Confirmation &&
		(item.Rule != q.Rule || item.Danger != q.Danger || !slices.Equal(item.Reasons, q.Reasons)) {
		return false
	}
	cooldown := time.Duration(0)
	if !item.Ready.IsZero() {
		cooldown = item.Ready.Sub(item.Opened)
	}
	return item.Needs.equal(&q.Needs) && item.Typing == q.Typing && item.Lifetime == q.Lifetime &&
		cooldown == max(q.Cooldown, 0)
}

// checkWaiting fails if so many items of a caller wait that people would no longer look at each, and removes those that
// have expired, except the one that is replaced. Two processes may exceed the bound by what they open at the same time.
func (b *box) checkWaiting(ctx context.Context, q *Question, replaced string) error {
	waiting, held := 0, 0
	var first time.Time // at which one of them expires
	var expired []Item
	_, err := b.each(ctx, q.start(), func(item Item) bool {
		switch state := item.StateAt(q.At); {
		case item.awaited(): // a person has done their part
			return true
		case !q.At.Before(item.Expires):
			expired = append(expired, Item{key: item.key, version: item.version})
			return len(expired) < mostHeld
		case state == Open:
			waiting++
		}
		held++
		if first.IsZero() || item.Expires.Before(first) {
			first = item.Expires
		}
		return waiting < mostWaiting && held < mostHeld
	})
	if err != nil {
		return err
	}
	for _, item := range expired {
		if item.key == replaced {
			continue
		}
		if err := b.store.Delete(ctx, item.key, item.version); err != nil && !errors.Is(err, store.ErrConflict) {
			return fmt.Errorf("removing what has expired: %w", err)
		}
	}
	if waiting >= mostWaiting || held >= mostHeld {
		return &TooManyError{Until: first}
	}
	if !q.Caller.Anonymous() {
		return nil
	}
	return b.countAnonymous(ctx, q)
}

// each calls f with the items whose keys begin with start, in the order of the keys, until f returns false. It leaves
// out, and counts, entries that are damaged or not sealed, which can be neither decided nor used.
func (b *box) each(ctx context.Context, start string, f func(Item) bool) (unreadable int, err error) {
	err = b.scan(ctx, start, func(entry store.Entry) bool {
		item, err := parse(entry)
		if err != nil {
			unreadable++
			return true
		}
		return f(item)
	})
	return unreadable, err
}

// scan calls visit with the entries whose keys begin with start, in the order of the keys, until visit returns false.
func (b *box) scan(ctx context.Context, start string, visit func(store.Entry) bool) error {
	for after := ""; ; {
		entries, err := b.store.List(ctx, start, after, pageSize)
		if err != nil {
			return fmt.Errorf("listing items: %w", err)
		}
		for _, entry := range entries {
			if !visit(entry) {
				return nil
			}
			after = entry.Key
		}
		if len(entries) < pageSize {
			return nil
		}
	}
}

func (b *box) Scan(ctx context.Context, visit func(entry store.Entry, item func() (Item, error)) bool) error {
	return b.scan(ctx, prefix, func(entry store.Entry) bool {
		return visit(entry, func() (Item, error) { return parse(entry) })
	})
}

func (b *box) Use(ctx context.Context, item Item, at time.Time) error {
	if item.StateAt(at) != Approved {
		return ErrNotApproved
	}
	item.State, item.UsedAt = Used, at.UTC()
	switch err := b.put(ctx, &item, at); {
	case errors.Is(err, store.ErrConflict):
		return ErrNotApproved
	case err != nil:
		return fmt.Errorf("using an approval: %w", err)
	}
	return nil
}

func (b *box) Remove(ctx context.Context, item Item) error {
	if item.key == "" { // it is of no inbox
		return ErrUnknown
	}
	if err := b.store.Delete(ctx, item.key, item.version); err != nil {
		return fmt.Errorf("removing an item: %w", err)
	}
	_ = b.forgetWhole(ctx, &item) // it expires anyway
	b.tell(ctx)
	return nil
}

func (b *box) Vote(ctx context.Context, id string, v Vote) (Item, error) {
	for ctx.Err() == nil {
		item, err := b.Get(ctx, id)
		before := item.State
		if err == nil {
			err = item.Decide(v)
		}
		if err != nil {
			return item, err
		}
		switch err := b.put(ctx, &item, item.Votes[len(item.Votes)-1].At); {
		case err == nil:
			if before == Open && item.State != Open {
				b.decidedAnonymous(ctx, &item)
			}
			return item, nil
		case !errors.Is(err, store.ErrConflict): // nobody else has voted meanwhile
			return Item{}, fmt.Errorf("voting: %w", err)
		}
	}
	return Item{}, fmt.Errorf("voting: %w", ctx.Err())
}

func (b *box) Get(ctx context.Context, id string) (Item, error) {
	var found Item
	if isID(id) { // which stands in its entry as it is, so most of the others need not be decoded
		err := b.scan(ctx, prefix, func(entry store.Entry) bool {
			if bytes.Contains(entry.Value, []byte(id)) {
				if item, err := parse(entry); err == nil && item.ID == id {
					found = item
				}
			}
			return found.ID == ""
		})
		if err != nil || found.ID != "" {
			return found, err
		}
	}
	unreadable, err := b.each(ctx, prefix, func(item Item) bool {
		if item.ID == id {
			found = item
		}
		return found.ID == ""
	})
	if err == nil && found.ID == "" {
		err = ErrUnknown
		if unreadable > 0 {
			err = fmt.Errorf("%w; %w", ErrUnknown, &UnreadableError{unreadable})
		}
	}
	return found, err
}

func (b *box) List(ctx context.Context) ([]Item, error) {
	var items []Item
	unreadable, err := b.each(ctx, prefix, func(item Item) bool {
		items = append(items, item)
		return true
	})
	if err == nil && unreadable > 0 {
		err = &UnreadableError{unreadable}
	}
	slices.SortStableFunc(items, func(x, y Item) int {
		return cmp.Or(x.Opened.Compare(y.Opened), cmp.Compare(x.ID, y.ID))
	})
	return items, err
}

func (b *box) Changes(ctx context.Context) <-chan struct{} {
	if n, ok := b.store.(store.Notifier); ok {
		return n.Listen(ctx, Topic)
	}
	return nil
}
