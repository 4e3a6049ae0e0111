package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"github.com/aqltag/aqltag/runtime/store"
)

// mostNews bounds the notifications that wait to be read. The oldest ones are dropped, and readers are told how many.
const mostNews = 100

// news are notifications in the order in which they were made. Each agent reads on from its own position, so that one
// that is for all costs one write.
type news struct {
	// Last is the number of the last one, and First that before the first one. They begin with the time, so that those
	// which are made when the store has forgotten older ones come behind these.
	Last  uint64  `json:"last"`
	First uint64  `json:"first"`
	List  []entry `json:"list"`

	version store.Version
	lost    bool // those that the store has could not be read
}

type entry struct {
	Number uint64 `json:"number"`
	Notification
}

// newsOfAll is the key of what all agents are told, and newsOf of those of a caller.
func (k *Keeper) newsOfAll() string { return k.root + "x" }

func (k *Keeper) newsOf(w *Who) string { return k.root + "m/" + digestOf(w.Caller.Key(), anonymous(w)) }

// readNews reads notifications. Those that cannot be read, since they are damaged or sealed with a state key that has
// gone, are taken for none, and the next one takes their place: a block holds whether or not it was told.
func (k *Keeper) readNews(ctx context.Context, key string) (*news, error) {
	stored, err := k.o.Store.List(ctx, key, "", 1) // unlike Get, it has an entry that does not open
	if err != nil {
		return nil, fmt.Errorf("reading notifications: %w", err)
	}
	begin := uint64(max(k.now().UnixMilli(), 0))
	n := &news{Last: begin, First: begin}
	if len(stored) == 0 || stored[0].Key != key {
		return n, nil
	}
	if json.Unmarshal(stored[0].Value, n) != nil {
		n = &news{Last: begin, First: begin, lost: true}
	}
	n.version = stored[0].Version
	return n, nil
}

// changeNews changes notifications until nobody else has changed them meanwhile. change returns false if there is
// nothing to change.
func (k *Keeper) changeNews(ctx context.Context, key string, change func(*news) bool) error {
	for ctx.Err() == nil {
		n, err := k.readNews(ctx, key)
		if err != nil || !change(n) {
			return err
		}
		n.List = n.List[max(len(n.List)-mostNews, 0):]
		text, err := json.Marshal(n)
		if err != nil {
			return fmt.Errorf("encoding notifications: %w", err)
		}
		_, err = k.o.Store.Put(ctx, key, text, n.version, forgotten)
		if err == nil && n.lost {
			k.o.Logger.LogAttrs(ctx, slog.LevelWarn, "notifications of agents could not be read in the state, and are lost")
		}
		if !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
	return context.Cause(ctx)
}

func (k *Keeper) publish(ctx context.Context, key string, notification Notification) error {
	return k.changeNews(ctx, key, func(n *news) bool {
		n.Last++
		n.List = append(n.List, entry{n.Last, notification})
		return true
	})
}

// withdraw removes what is over from the notifications that were not read yet.
func (k *Keeper) withdraw(ctx context.Context, key string, over func(*Notification) bool) error {
	return k.changeNews(ctx, key, func(n *news) bool {
		before := len(n.List)
		n.List = slices.DeleteFunc(n.List, func(e entry) bool { return over(&e.Notification) })
		return len(n.List) < before
	})
}

// unread returns the notifications behind a position, and the position behind them.
func (k *Keeper) unread(ctx context.Context, key string, position uint64) ([]Notification, uint64, error) {
	n, err := k.readNews(ctx, key)
	if err != nil || n.Last <= position {
		return nil, max(position, lastOf(n)), err
	}
	var list []Notification
	if len(n.List) == mostNews && n.List[0].Number > max(position, n.First)+1 {
		list = append(list, Notification{
			Type: Status, At: n.List[0].At,
			Message: fmt.Sprintf("Notifications that came before were dropped: %d", n.List[0].Number-max(position, n.First)-1),
		})
	}
	for _, e := range n.List {
		if e.Number > position {
			list = append(list, e.Notification)
		}
	}
	return list, n.Last, nil
}

func lastOf(n *news) uint64 {
	if n == nil {
		return 0
	}
	return n.Last
}

// deliver returns the notifications that an execution has not been told, and moves its positions.
func (k *Keeper) deliver(ctx context.Context, w *Who, s *state) ([]Notification, error) {
	all, read, err := k.unread(ctx, k.newsOfAll(), s.Read)
	if err == nil && slices.ContainsFunc(all, func(n Notification) bool { return n.Type == DangerZone }) {
		if err = k.settle(ctx); err == nil { // whose agent it was may report late, or never
			all, read, err = k.unread(ctx, k.newsOfAll(), s.Read)
		}
	}
	if err != nil {
		return nil, err
	}
	own, readOwn, err := k.unread(ctx, k.newsOf(w), s.ReadOwn)
	if err != nil {
		return nil, err
	}
	s.Read, s.ReadOwn = read, readOwn
	list := append(all, own...)
	slices.SortStableFunc(list, func(x, y Notification) int { return x.At.Compare(y.At) })
	return list, nil
}

// Pending tells the agents of a caller, if some run, that an operation of theirs waits for a person.
func (k *Keeper) Pending(ctx context.Context, w Who, operation, level, reason string) error {
	running, err := k.o.Store.List(ctx, k.statesOf(&w, false), "", 1)
	if err != nil || len(running) == 0 {
		return err
	}
	return k.publish(ctx, k.newsOf(&w), Notification{
		Type: PermissionPending, Message: "Operation '" + operation + "' waits for a person", Operation: operation,
		Level: level, Reason: reason, At: k.now(),
	})
}

// Granted withdraws what Pending has told of an operation, once a person has let it run.
func (k *Keeper) Granted(ctx context.Context, w Who, operation string) error {
	return k.withdraw(ctx, k.newsOf(&w), func(n *Notification) bool {
		return n.Type == PermissionPending && n.Operation == operation
	})
}
