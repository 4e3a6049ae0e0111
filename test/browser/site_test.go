package browser

import (
	"context"
	"io"
	"log/slog"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/observe"
	"github.com/aqltag/aqltag/runtime/passphrase"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/verify"
)

const secretWord = "correct horse battery"

var ann = identity.Caller{Subject: "ann", Issuer: "stdio"}

// site is a console that a browser can reach.
type site struct {
	t     *testing.T
	url   string // ends with a slash
	inbox approve.Inbox
	holds *verify.Box
	state *store.Memory
	hooks *observe.Hooks // with which the console sees calls
	shift atomic.Int64   // of the console's clock, in nanoseconds
	asked byte
}

func newSite(t *testing.T, changes ...func(*console.Options)) *site {
	t.Helper()
	state := new(store.Memory)
	for _, name := range []string{"eve", "bob"} {
		err := (passphrase.Book{Store: state, Rounds: 10}).Choose(t.Context(), identity.User(name), 0, secretWord)
		if err != nil {
			t.Fatal(err)
		}
	}
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	holds, err := verify.New(verify.Options{Store: state, Adapter: "notes", Logger: quiet})
	if err != nil {
		t.Fatal(err)
	}
	s := &site{t: t, inbox: holds.Inbox(approve.New(state)), holds: holds, state: state}
	o := console.Options{
		Name: "notes", Store: state, Logger: quiet,
		Now:     s.now,
		Observe: func(of *observe.Hooks) { s.hooks = of }, Caller: callerOf, Health: healthOf,
		Groups: func(context.Context, identity.Caller) ([]string, error) { return []string{"ops"}, nil },
	}
	for _, change := range changes {
		change(&o)
	}
	at, end, err := console.Serve(context.WithoutCancel(t.Context()), "127.0.0.1:0", o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	s.url = at()
	return s
}

// now is the clock of the console, which is in UTC wherever a test runs.
func (s *site) now() time.Time { return time.Now().UTC().Add(time.Duration(s.shift.Load())) }

// host returns the host of the site, with its port.
func (s *site) host() string {
	s.t.Helper()
	at, err := url.Parse(s.url)
	if err != nil {
		s.t.Fatal(err)
	}
	return at.Host
}

// ask opens an item, and returns its ID.
func (s *site) ask(change func(*approve.Question)) string {
	s.t.Helper()
	s.asked++
	q := approve.Question{
		Kind: approve.Confirmation, Adapter: "notes", Operation: "delete_note", Danger: gen.Destructive, Caller: ann,
		Message: "Delete note 'n1'? This cannot be undone.", Reasons: []string{"Removes the note and its history"},
		Params: `{"note_id":"n1","force":true}`, At: time.Now(), Lifetime: 30 * time.Minute,
	}
	q.Binding[0] = s.asked
	if change != nil {
		change(&q)
	}
	item, _, err := s.inbox.Ask(s.t.Context(), q)
	if err != nil {
		s.t.Fatal(err)
	}
	return item.ID
}

// hold blocks an agent, and returns the ID of the item.
func (s *site) hold(change func(*verify.Subject)) string {
	s.t.Helper()
	of := verify.Subject{
		Caller: ann, Agent: "release_bot", Block: true, Reasons: []string{"A rule of the policy denies rm -rf *"},
		Says: "executing shell command: rm -rf /srv/www",
	}
	if change != nil {
		change(&of)
	}
	if _, err := s.holds.Open(s.t.Context(), of); err != nil {
		s.t.Fatal(err)
	}
	items, err := s.inbox.List(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	for _, item := range items {
		if item.Agent == of.Agent {
			return item.ID
		}
	}
	s.t.Fatal("the agent is not held")
	return ""
}

// stateOf returns the state of an item.
func (s *site) stateOf(id string) approve.State {
	s.t.Helper()
	item, err := s.inbox.Get(s.t.Context(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	return item.State
}

// logIn logs a person in, by hand.
func (s *site) logIn(b *tab, name string) {
	s.t.Helper()
	b.visit(s.url + "login")
	b.types("#name", name)
	b.types("#passphrase", secretWord)
	b.click("main button")
	b.waitFor("#rows")
}

// showCode shows the code of a challenge, from the page of its item.
func (s *site) showCode(b *tab) {
	s.t.Helper()
	b.types("#passphrase-code", secretWord)
	b.click(`form[action$="/code"] button`)
	b.waitFor("#secret")
}

// at returns the address of an item.
func (s *site) at(id string) string { return s.url + "items/" + id }
