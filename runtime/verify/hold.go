package verify

import (
	"context"
	"crypto/sha256"
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
	// prefix begins the keys of holds in the store. Behind it are the digests of adapter and caller, and of the rest of
	// the subject.
	prefix = "verify/"
	// remembered is how long a pause stays in the store at least that is over.
	remembered = 30 * time.Minute
	// mostPaused bounds the executions of a caller that are paused at the same time.
	mostPaused = 200
	// pageSize is how many holds are listed at a time.
	pageSize = 500
)

// form is the first byte of a hold in the store.
const form = '1'

var errDamaged = errors.New("what holds an agent is damaged in the store, or was written by a later version")

// hold is what the store has of a subject. Its item is open, or used when it was lifted.
type hold struct {
	Item      approve.Item `json:"item"` // its Lifetime is that of challenges
	Challenge ID           `json:"challenge"`
	Expires   time.Time    `json:"expires"` // the challenge; of a pause the item, too
	// Digest is that of the code; empty: nobody was shown one.
	Digest []byte `json:"digest,omitempty"`
	Action string `json:"action,omitempty"`
	// Closed is the challenge before.
	Closed ID `json:"closed,omitzero"`
	// Remembered is how long it stays when it was lifted, by whatever process; zero: the least time.
	Remembered time.Duration `json:"remembered,omitzero"`

	key     string
	version store.Version
}

// digestOf returns the first half of the digest of texts, in hexadecimal.
func digestOf(texts ...string) string {
	var all []byte
	for _, text := range texts {
		all = append(binary.AppendUvarint(all, uint64(len(text))), text...)
	}
	sum := sha256.Sum256(all)
	return hex.EncodeToString(sum[:sha256.Size/2])
}

// start returns the beginning of the keys of the holds of a caller.
func start(adapter string, caller identity.Caller) string {
	return prefix + digestOf(adapter, caller.Key()) + "/"
}

// keyOf returns the key of the hold that an item is about.
func keyOf(item *approve.Item) string {
	return start(item.Adapter, item.Caller) + digestOf(string(item.Kind), item.Agent, item.Execution)
}

// newHold returns a hold with a challenge. Without a version, it is in no store.
func (b *Box) newHold(s *Subject, now time.Time) hold {
	q := approve.Question{
		Kind: approve.Block, Adapter: b.o.Adapter, Caller: s.Caller, Reasons: s.Reasons, Needs: b.o.Needs, At: now,
		Lifetime: b.o.Lifetime, Message: "The agent is blocked. May it go on?",
	}
	q.Needs.Reason = true
	if !s.Block {
		q.Kind, q.Message = approve.Pause, "The agent waits before its next step. May it go on?"
	}
	if s.Says != "" {
		params := make(map[string]string)
		approve.InParts(params, "next_action", s.Says)
		if text, err := json.Marshal(params); err == nil { // of texts, it cannot fail
			q.Params = string(text)
		}
	}
	h := hold{
		Item: q.Item(), Action: s.Action, Challenge: NewID(), Expires: now.Add(b.o.Lifetime),
		Remembered: b.o.Remembered,
	}
	h.Item.Agent, h.Item.Expires = s.Agent, time.Time{}
	if !s.Block {
		h.Item.Execution, h.Item.Expires = s.Execution, h.Expires
	}
	h.key = keyOf(&h.Item)
	return h
}

// block reports whether the hold is of an agent, in all its executions.
func (h *hold) block() bool { return h.Item.Kind == approve.Block }

// open reports whether the hold is in force at a time.
func (h *hold) open(now time.Time) bool {
	return h.version != 0 && h.Item.StateAt(now) == approve.Open
}

// replaced returns the hold with a challenge in the place of its own.
func (h *hold) replaced(now time.Time) hold {
	next := *h
	next.Closed, next.Challenge, next.Digest = h.Challenge, NewID(), nil
	next.Expires = now.Add(h.Item.Lifetime)
	if !h.block() {
		next.Item.Expires = next.Expires
	}
	return next
}

// lifted returns the hold when it was lifted.
func (h *hold) lifted(now time.Time) hold {
	next := *h
	next.Item.State, next.Item.UsedAt, next.Digest = approve.Used, now, nil
	return next
}

// item returns the hold as the inbox has it.
func (h *hold) item() approve.Item {
	item := h.Item
	item.Challenge = h.Challenge.String()
	return item
}

// parse decodes an entry. It must be the one of its key: who can write the store can put there what looks like one.
func parse(entry store.Entry) (hold, error) {
	var h hold
	text, ok := strings.CutPrefix(string(entry.Value), string(form))
	if !ok || json.Unmarshal([]byte(text), &h) != nil || !h.wellFormed() || keyOf(&h.Item) != entry.Key {
		return hold{}, errDamaged
	}
	h.key, h.version = entry.Key, entry.Version
	return h, nil
}

func (h *hold) wellFormed() bool {
	i := &h.Item
	return i.ID != "" && (h.block() && i.Expires.IsZero() || i.Kind == approve.Pause && !i.Expires.IsZero()) &&
		(i.State == approve.Open || i.State == approve.Used) && i.Lifetime > 0 && !i.Opened.IsZero() &&
		!h.Challenge.IsZero() && !h.Expires.IsZero()
}

// get returns the hold of a key; its version is zero if there is none.
func (b *Box) get(ctx context.Context, key string) (hold, error) {
	entry, err := b.o.Store.Get(ctx, key)
	if err != nil || !entry.Exists() {
		return hold{key: key}, err
	}
	return parse(entry)
}

// put writes a hold over the version that it was read from. A block stays until it is forgotten.
func (b *Box) put(ctx context.Context, h *hold, now time.Time) error {
	text, err := json.Marshal(h)
	if err != nil {
		return fmt.Errorf("encoding a hold: %w", err)
	}
	ttl := max(remembered, h.Remembered)
	switch {
	case h.block():
		ttl = 0
	case h.Item.State == approve.Used:
	default:
		ttl += max(h.Expires.Sub(now), 0)
	}
	version, err := b.o.Store.Put(ctx, h.key, append([]byte{form}, text...), h.version, ttl.Truncate(time.Millisecond))
	if err != nil {
		return err
	}
	h.version = version
	if n, ok := b.o.Store.(store.Notifier); ok {
		_ = n.Notify(ctx, approve.Topic) // a hint: the change is made
	}
	return nil
}

// each calls f with the holds whose keys begin with a text, until f returns false. It counts those that cannot be read.
func (b *Box) each(ctx context.Context, start string, f func(hold) bool) (unreadable int, err error) {
	err = b.scan(ctx, start, func(entry store.Entry) bool {
		h, err := parse(entry)
		if err != nil {
			unreadable++
			return true
		}
		return f(h)
	})
	return unreadable, err
}

// scan calls visit with the entries whose keys begin with a text, until visit returns false.
func (b *Box) scan(ctx context.Context, start string, visit func(store.Entry) bool) error {
	for after := ""; ; {
		entries, err := b.o.Store.List(ctx, start, after, pageSize)
		if err != nil {
			return fmt.Errorf("listing what holds agents: %w", err)
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
