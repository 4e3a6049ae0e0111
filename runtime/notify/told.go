package notify

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/store"
)

const (
	// prefix begins the keys of what the store has about channels. Behind it is the digest of adapter and channel.
	prefix = "notify/"
	// form is the first byte of what people were told, in the store.
	form = '1'
	// kept is how long the store knows what people were told last on a channel. What waits for longer, as only a block
	// does, is told again when nothing else was told meanwhile.
	kept = 30 * 24 * time.Hour
	// forgotten is how long after an item has waited for the last time it is not known any more that people were told.
	forgotten = 10 * time.Minute
	// turn is how long a process may tell people something before another one takes its place: longer than tellTimeout
	// and what the store takes.
	turn = 30 * time.Second
)

// How often people were told of an item.
const (
	toldOnce  = 1
	toldAgain = 2 // that it expires soon
)

// told is what people were told on a channel, by the IDs of items.
type told struct {
	Items map[string]telling `json:"items"`

	key     string
	version store.Version
}

// telling is how often people were told of an item, and since when it waits no more, in Unix seconds.
type telling struct {
	Times  int             `json:"n"`
	Left   int64           `json:"left,omitempty"`
	Agent  string          `json:"agent,omitempty"` // that the item blocks; empty: it is about something else
	Caller identity.Caller `json:"caller,omitzero"`
}

// keyOf returns the key of what people were told on a channel.
func keyOf(adapter, channel string) string {
	text := binary.AppendUvarint(nil, uint64(len(adapter)))
	sum := sha256.Sum256(append(append(text, adapter...), channel...))
	return prefix + hex.EncodeToString(sum[:sha256.Size/2])
}

// readTold returns what people were told. An entry that is damaged, or opens with none of the state keys, is as if they
// had been told nothing, and is written over.
func readTold(ctx context.Context, s store.Store, key string) (told, error) {
	t := told{key: key}
	entries, err := s.List(ctx, key, "", 1)
	if err != nil {
		return t, fmt.Errorf("reading what people were told: %w", err)
	}
	if len(entries) == 0 || entries[0].Key != key {
		return t, nil
	}
	t.version = entries[0].Version
	text, ok := strings.CutPrefix(string(entries[0].Value), string(form))
	if !ok || json.Unmarshal([]byte(text), &t) != nil {
		t.Items = nil
	}
	return t, nil
}

// add writes that people were told of items, and forgets those that have waited no more for a while. Another process
// may have told them of others meanwhile.
func (t *told) add(ctx context.Context, s store.Store, n *news, now time.Time) error {
	for ctx.Err() == nil {
		text, err := json.Marshal(told{Items: t.with(n, now)})
		if err != nil {
			return fmt.Errorf("encoding what people were told: %w", err)
		}
		_, err = s.Put(ctx, t.key, append([]byte{form}, text...), t.version, kept)
		switch {
		case err == nil:
			return nil
		case !errors.Is(err, store.ErrConflict):
			return fmt.Errorf("writing what people were told: %w", err)
		}
		if *t, err = readTold(ctx, s, t.key); err != nil {
			return err
		}
	}
	return fmt.Errorf("writing what people were told: %w", ctx.Err())
}

// with returns what people were told when they are told news as well. What is missing from a list may be an item that
// another process has seen already, so it is forgotten later.
func (t *told) with(n *news, now time.Time) map[string]telling {
	next := make(map[string]telling, len(n.waiting))
	for id, was := range t.Items {
		switch {
		case n.waiting[id]:
			was.Left = 0
		case was.Left == 0:
			was.Left = now.Unix()
		}
		if n.waiting[id] || now.Unix()-was.Left < int64(forgotten/time.Second) {
			next[id] = was
		}
	}
	for i := range n.items {
		item := &n.items[i]
		told := telling{Times: max(n.times[item.ID], t.Items[item.ID].Times)}
		if item.Kind == approve.Block {
			told.Agent, told.Caller = item.Agent, item.Caller
		}
		next[item.ID] = told
	}
	return next
}

// takeTurn has no other process tell people anything on a channel until the function that it returns is called, or this
// one has had its time. It returns nil if it is the turn of another one.
func takeTurn(ctx context.Context, s store.Store, key string) (end func(context.Context), err error) {
	key += "/turn"
	version, err := s.Put(ctx, key, []byte{form}, 0, turn)
	switch {
	case errors.Is(err, store.ErrConflict):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("taking the turn to tell people: %w", err)
	}
	return func(ctx context.Context) { _ = s.Delete(ctx, key, version) }, nil // else it ends by itself
}

// noticeID returns the identity of what is news on a channel.
func noticeID(key string, items []Item, lifted []Lifted) string {
	digest := sha256.New()
	digest.Write([]byte(key))
	for i := range items {
		fmt.Fprintf(digest, "/%s%t", items[i].ID, items[i].Soon)
	}
	for i := range lifted {
		fmt.Fprintf(digest, "/%s lifted", lifted[i].ID)
	}
	return "msg_" + base32.StdEncoding.EncodeToString(digest.Sum(nil)[:16])[:26]
}
