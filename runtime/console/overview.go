package console

import (
	"context"
	"hash/maphash"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/store"
)

// keptFor is how long the heads of all items are kept when nobody looks at the inbox.
const keptFor = time.Minute

// overview has the heads of all items, for all lists and events of a console together. Each look decodes only what has
// changed since the one before. While nobody looks it has nothing, and no goroutine.
type overview struct {
	inbox approve.Inbox
	store store.Store
	path  string
	now   func() time.Time

	turn    chan struct{} // has a value while somebody looks, who has the rest to themselves
	seed    maphash.Seed
	known   map[string]*noted // by the keys of the entries; nil: nobody has looked
	round   uint64            // of looks
	last    *look             // nil: there is none, or the one after it has failed
	began   time.Time         // when the last look did
	changes <-chan struct{}   // receives when items may have changed
	stop    context.CancelFunc
	unused  *time.Timer
}

// entry identifies what an entry of the store has. Its version would be enough, if nobody else could write the store.
type entry struct {
	key     string
	version store.Version
	sum     uint64 // of the value
}

// noted is an entry, and the head of what it has; nil: it cannot be read.
type noted struct {
	entry entry
	head  *head
	round uint64 // the last one that has found it
}

func newOverview(inbox approve.Inbox, o *Options) *overview {
	return &overview{
		inbox: inbox, store: o.Store, path: o.Path, now: o.Now, turn: make(chan struct{}, 1), seed: maphash.MakeSeed(),
	}
}

// enter waits for the turn to look.
func (o *overview) enter(ctx context.Context) error {
	select {
	case o.turn <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (o *overview) leave() { <-o.turn }

// current returns what is in the inbox. With sure, that was read since current was called. Otherwise nobody has told of
// a change since it was read, lookEvery ago at most: what is shown of it must be confirmed.
func (o *overview) current(ctx context.Context) (l *look, sure bool, err error) {
	if err := o.enter(ctx); err != nil {
		return nil, false, err
	}
	defer o.leave()
	o.use()
	if o.last == nil || o.changed() || time.Since(o.began) >= lookEvery {
		l, err := o.read(ctx)
		return l, true, err
	}
	if !o.last.holds(o.now()) {
		o.last = lookAt(o.last.all, o.last.unread, o.now())
	}
	return o.last, false, nil
}

// with returns what is in the inbox, and the heads of it that a page shows, as the store has them now. Some of them are
// looked up one by one where the rest is known.
func (o *overview) with(ctx context.Context, shown func(*look) []*head) (*look, []*head, error) {
	seen, sure, err := o.current(ctx)
	if err != nil {
		return nil, nil, err
	}
	if heads := shown(seen); sure || len(heads) <= perPage && o.confirm(ctx, heads) {
		return seen, heads, nil
	}
	if seen, err = o.anew(ctx); err != nil {
		return nil, nil, err
	}
	return seen, shown(seen), nil
}

// keyOf returns the key of the entry in which an item was the last time that somebody looked; empty: nobody knows.
func (o *overview) keyOf(ctx context.Context, id string) (string, error) {
	if err := o.enter(ctx); err != nil {
		return "", err
	}
	defer o.leave()
	if o.last != nil {
		if h := o.last.head(id); h != nil {
			return h.key, nil
		}
	}
	return "", nil
}

// anew returns what is in the inbox, and was read since anew was called.
func (o *overview) anew(ctx context.Context) (*look, error) {
	if err := o.enter(ctx); err != nil {
		return nil, err
	}
	defer o.leave()
	o.use()
	return o.read(ctx)
}

// confirm reports whether the store has heads as they are.
func (o *overview) confirm(ctx context.Context, heads []*head) bool {
	for _, h := range heads {
		found, err := o.store.Get(ctx, h.key)
		if err != nil || !found.Exists() || o.identify(&found) != h.entry { // who looks anew gets the error
			return false
		}
	}
	return true
}

// identify identifies what an entry has.
func (o *overview) identify(e *store.Entry) entry {
	return entry{e.Key, e.Version, maphash.Bytes(o.seed, e.Value)}
}

// changed reports whether somebody has told of a change.
func (o *overview) changed() bool {
	select {
	case _, ok := <-o.changes:
		if !ok { // the store is closed
			o.changes = nil
		}
		return true
	default:
		return false
	}
}

// read looks at the inbox. The look is the last one if that shows what is so.
func (o *overview) read(ctx context.Context) (*look, error) {
	o.changed() // until now
	before, same := o.last, o.last != nil
	o.last, o.began = nil, time.Now()
	o.round++
	err := o.inbox.Scan(ctx, func(e store.Entry, item func() (approve.Item, error)) bool {
		of := o.identify(&e)
		n := o.known[of.key]
		if n == nil || n.entry != of {
			same = false
			n = &noted{entry: of}
			if read, err := item(); err == nil {
				n.head = headOf(&read, of, o.path)
			}
			o.known[of.key] = n
		}
		n.round = o.round
		return true
	})
	if err != nil {
		return nil, err
	}
	if o.last = before; o.forgets() || !same || !before.holds(o.now()) {
		o.last = o.look()
	}
	return o.last, nil
}

// forgets removes entries that the last round has not found, and reports whether there are some.
func (o *overview) forgets() (some bool) {
	for key, n := range o.known {
		if n.round != o.round {
			delete(o.known, key)
			some = true
		}
	}
	return some
}

// look returns the look at all that is known.
func (o *overview) look() *look {
	all, unread := make([]*head, 0, len(o.known)), 0
	for _, n := range o.known {
		if n.head == nil {
			unread++
			continue
		}
		all = append(all, n.head)
	}
	return lookAt(all, unread, o.now())
}

// use begins to keep heads, until nobody has looked for a while.
func (o *overview) use() {
	if o.known == nil {
		var ctx context.Context
		ctx, o.stop = context.WithCancel(context.Background())
		o.known, o.changes = make(map[string]*noted), o.inbox.Changes(ctx)
	}
	if o.unused == nil {
		o.unused = time.AfterFunc(keptFor, o.drop)
	}
	o.unused.Reset(keptFor)
}

// drop forgets everything.
func (o *overview) drop() {
	o.turn <- struct{}{}
	defer o.leave()
	if o.stop != nil {
		o.stop()
	}
	o.known, o.last, o.changes, o.stop = nil, nil, nil, nil
}
