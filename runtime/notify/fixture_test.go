package notify_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/notify"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/verify"
)

var (
	ann = identity.Caller{Subject: "ann", Issuer: "test"}
	bob = identity.Caller{Subject: "bob", Issuer: "test"}
)

// bell is a channel that keeps what it was told.
type bell struct {
	name     string
	strength verify.Strength
	fails    func(notices int) error // called with how many notices came before; nil: none fails

	mu      sync.Mutex
	tried   int
	notices []notify.Notice
}

func (b *bell) Name() string { return b.name }

func (b *bell) Strength() verify.Strength { return b.strength }

func (b *bell) Tell(_ context.Context, n notify.Notice) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.tried++
	if b.fails != nil {
		if err := b.fails(b.tried - 1); err != nil {
			return err
		}
	}
	b.notices = append(b.notices, n)
	return nil
}

// told returns the notices that came since the last call.
func (b *bell) told() []notify.Notice {
	b.mu.Lock()
	defer b.mu.Unlock()
	notices := b.notices
	b.notices = nil
	return notices
}

// texts returns them as people see them.
func (b *bell) texts() string {
	var texts []string
	for _, n := range b.told() {
		texts = append(texts, n.Title()+"\n"+n.Text())
	}
	return strings.Join(texts, "\n\n")
}

// fixture is an adapter that people are told about, in a bubble with a clock of its own.
type fixture struct {
	*testing.T
	state store.Store
	inbox approve.Inbox // with what holds agents
	box   *verify.Box
	asked int
}

// isolated calls f in a bubble.
func isolated(t *testing.T, f func(*fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		state := new(store.Memory)
		defer state.Close()
		box, err := verify.New(verify.Options{Store: state, Adapter: "notes", Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		f(&fixture{T: t, state: state, inbox: box.Inbox(approve.New(state)), box: box})
	})
}

// start has a process tell people, and returns what ends it.
func (f *fixture) start(o notify.Options, channels ...notify.Channel) (end func()) {
	f.Helper()
	ctx, stop := context.WithCancel(f.Context())
	o.Store, o.Adapter, o.Channels = f.state, "notes", channels
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	wait, err := notify.Start(ctx, o)
	if err != nil {
		f.Fatal(err)
	}
	return func() {
		stop()
		wait()
	}
}

// ask puts an item into the inbox.
func (f *fixture) ask(caller identity.Caller) approve.Item {
	f.Helper()
	f.asked++
	item, _, err := f.inbox.Ask(f.Context(), approve.Question{
		Binding: approve.Binding{byte(f.asked), byte(f.asked >> 8)}, Kind: approve.Confirmation, Adapter: "notes",
		Operation: "delete_note", Danger: gen.Destructive, Caller: caller, Message: "Delete note 'n1'?",
		Reasons: []string{"Removes the note and its history"}, Params: `{"note_id":"n1"}`, At: time.Now(),
		Lifetime: 5 * time.Minute,
	})
	if err != nil {
		f.Fatal(err)
	}
	return item
}

// deny decides about an item.
func (f *fixture) deny(id string) {
	f.Helper()
	if _, err := f.inbox.Vote(f.Context(), id, approve.Vote{By: bob, At: time.Now()}); err != nil {
		f.Fatal(err)
	}
}

// pass lets time pass.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

// ids returns the IDs of items, in their order.
func ids(items []notify.Item) string {
	var all []string
	for _, item := range items {
		all = append(all, item.ID)
	}
	return strings.Join(all, " ")
}

// logged is a log that a test reads.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(text)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// logger returns what writes the log.
func (l *logged) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }
