package aql

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/store"
)

// Open items are counted until they are decided or have expired, and the oldest of them says for how long people have
// been waited for.
func TestBacklogOfApprovals(t *testing.T) {
	d := newDesk(t, humanOnly())
	expect := func(want int, oldest time.Duration) {
		t.Helper()
		d.now = d.now.Add(backlogKept)
		got, err := d.adapter.Backlog(t.Context())
		if err != nil || got != (Backlog{Approvals: want, OldestApproval: oldest}) {
			t.Errorf("%+v, %v, want %d, the oldest of %v", got, err, want, oldest)
		}
	}
	expect(0, 0)
	id := d.ask("ann", deleteN1)
	expect(1, backlogKept)
	d.ask("bob", deleteN1)
	expect(2, 2*backlogKept)
	d.approve(id)
	expect(1, 2*backlogKept)
	d.now = d.now.Add(time.Hour)
	expect(0, 0)
}

// An entry that cannot be read, which everybody who can write the state can make, hides no others.
func TestBacklogBesideDamage(t *testing.T) {
	d := newDesk(t, humanOnly())
	d.ask("ann", deleteN1)
	if _, err := d.state.Put(t.Context(), "approve/damaged", []byte("?"), 0, 0); err != nil {
		t.Fatal(err)
	}
	if got, err := d.adapter.Backlog(t.Context()); err != nil || got.Approvals != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

// Records wait in the audit log of a process, if it has one.
func TestUnrecorded(t *testing.T) {
	without := newFixture(t, Options{}).adapter
	if n, ok := without.Unrecorded(); n != 0 || ok {
		t.Errorf("%d records wait where nothing is kept, %t", n, ok)
	}
	log := audit.New(audit.Options{Sinks: []audit.Sink{audit.Slog(slog.New(slog.DiscardHandler))}})
	if err := log.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n, ok := newFixture(t, Options{Audit: log}).adapter.Unrecorded(); n != 0 || !ok {
		t.Errorf("%d records wait in a log that is closed, %t", n, ok)
	}
}

// What cannot be read is not counted as nothing.
func TestBacklogThatCannotBeRead(t *testing.T) {
	f := newFixture(t, Options{
		State: brokenState{}, Confirmation: Confirmation{Inbox: func(s store.Store) approve.Inbox { return approve.New(s) }},
	})
	if _, err := f.session.adapter.Backlog(t.Context()); !errors.Is(err, errSecret) {
		t.Errorf("%v", err)
	}
}

// readState is a state that counts what is read of it, in calls and bytes, and takes a while for each.
type readState struct {
	store.Store
	calls, bytes int
	slow         func()
}

func (s *readState) List(ctx context.Context, prefix, after string, limit int) ([]store.Entry, error) {
	entries, err := s.Store.List(ctx, prefix, after, limit)
	s.calls++
	for _, e := range entries {
		s.bytes += len(e.Value)
	}
	if s.slow != nil {
		s.slow()
	}
	return entries, err
}

// openItems opens items in the inbox of a state, as many for each caller as may wait.
func openItems(t *testing.T, s store.Store, items int, at time.Time) {
	t.Helper()
	const each = 20
	inbox := approve.New(s)
	for i := range items {
		q := approve.Question{
			Kind: approve.Confirmation, Adapter: "notes", Operation: "delete_note", Danger: gen.Destructive,
			Caller: Caller{Subject: fmt.Sprint("ann", i/each), Issuer: "test"}, Params: `{"note_id":"n1"}`,
			At: at, Lifetime: time.Hour,
		}
		binary.BigEndian.PutUint64(q.Binding[:], uint64(i))
		if _, opened, err := inbox.Ask(t.Context(), q); err != nil || !opened {
			t.Fatalf("item %d: %t, %v", i, opened, err)
		}
	}
}

// Two thousand items are read once for all who ask within the time that a count is good for, and their count is good
// for the longer, the longer it took.
func TestBacklogIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a machine that is busy does not have the state time out
		const items, asked = 2000, 100
		state := &readState{Store: new(store.Memory)}
		options := humanOnly()
		options.State = state
		d := newDesk(t, options)
		openItems(t, state.Store, items, d.now)
		ask := func(why string, times, wantCalls int) (calls, bytes int) {
			t.Helper()
			state.calls, state.bytes = 0, 0
			for range times {
				if got, err := d.adapter.Backlog(t.Context()); err != nil || got.Approvals != items {
					t.Fatalf("%s: %+v, %v", why, got, err)
				}
			}
			if wantCalls >= 0 && state.calls != wantCalls {
				t.Errorf("%s: the state is read %d times, %d bytes; want %d times", why, state.calls, state.bytes, wantCalls)
			}
			return state.calls, state.bytes
		}
		once, bytes := ask("the first", 1, -1)
		if once == 0 || bytes > items<<10 {
			t.Errorf("the state is read %d times, %d bytes", once, bytes)
		}
		ask("within ten seconds", asked, 0)
		d.now = d.now.Add(backlogKept)
		if _, again := ask("later", asked, once); again != bytes {
			t.Errorf("later %d bytes are read, and %d before", again, bytes)
		}
		const slow = 100 * time.Millisecond
		state.slow = func() { d.now = d.now.Add(slow) }
		d.now = d.now.Add(backlogKept)
		ask("when it takes long", 1, once)
		d.now = d.now.Add(backlogShare*time.Duration(once)*slow - 1)
		ask("while that is good", asked, 0)
		d.now = d.now.Add(1)
		ask("when it is too old", 1, once)
	})
}

// What cannot be counted is not tried more often than what can.
func TestBacklogThatFailsIsBounded(t *testing.T) {
	state := &readState{Store: brokenState{}}
	f := newFixture(t, Options{State: state, Confirmation: Confirmation{Inbox: approve.New}})
	for range 10 {
		if _, err := f.adapter.Backlog(t.Context()); !errors.Is(err, errSecret) {
			t.Fatal(err)
		}
	}
	if state.calls != 1 {
		t.Errorf("the state is read %d times", state.calls)
	}
}

// A state that panics ends no goroutine of who reads metrics, and with it the process, and is not tried more often.
func TestBacklogOfAStateThatPanics(t *testing.T) {
	state := &readState{Store: new(store.Memory), slow: func() { panic("no state") }}
	f := newFixture(t, Options{State: state, Confirmation: Confirmation{Inbox: approve.New}})
	for range 10 {
		if got, err := f.adapter.Backlog(t.Context()); err == nil || got != (Backlog{}) {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	if state.calls != 1 {
		t.Errorf("the state is read %d times", state.calls)
	}
}

// Who asks and leaves does not keep others from the count.
func TestBacklogOutlivesWhoAsks(t *testing.T) {
	d := newDesk(t, humanOnly())
	d.ask("ann", deleteN1)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	for _, ctx := range []context.Context{gone, t.Context()} {
		if got, err := d.adapter.Backlog(ctx); err != nil || got.Approvals != 1 {
			t.Errorf("%+v, %v", got, err)
		}
	}
}
