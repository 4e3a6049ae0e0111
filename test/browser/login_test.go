package browser

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/operator"
	"github.com/aqltag/aqltag/runtime/passphrase"
)

// terminal is one on which a person types.
type terminal struct {
	io.Reader
	bytes.Buffer
}

func (t *terminal) Read(p []byte) (int, error) { return t.Reader.Read(p) }
func (t *terminal) Close() error               { return nil }

var shownLink = regexp.MustCompile(`http://\S+/link/\S+`)

// link has operator link show a link for a person, as a terminal does.
func (s *site) link(name string) string {
	s.t.Helper()
	at := &terminal{Reader: strings.NewReader(secretWord + "\n")}
	code := operator.Command{}.Run(s.t.Context(), operator.Desk{
		Program: "notes", Inbox: s.inbox, State: s.state, Stdout: io.Discard, Stderr: at, Who: identity.User(name),
		Terminal: func() (io.ReadWriteCloser, error) { return at, nil },
	}, operator.Flags{}, []string{"link"})
	found := shownLink.FindString(at.String())
	if code != 0 || found == "" {
		s.t.Fatalf("no link is shown, code %d: %s", code, at)
	}
	return found
}

// A person opens a link from the terminal, as often as it likes, and uses it once.
func TestLink(t *testing.T) {
	s, b := newSite(t), open(t)
	link := s.link("eve")
	for range 2 {
		b.visit(link)
		b.waitForText("Log in as eve")
	}
	b.click("main button")
	b.waitFor("#rows")
	b.visit(link)
	b.waitForText("This link lets nobody in")
}

// enrol gives eve a role. Bob stays admin.
func (s *site) enrol(role identity.Role) {
	s.t.Helper()
	book := passphrase.Book{Store: s.state}
	known, err := book.Account(s.t.Context(), identity.User("eve"))
	if err == nil {
		err = book.Enrol(s.t.Context(), identity.User("eve"), known.Version, "", role)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// A viewer sees what waits, and no form and no code.
func TestViewer(t *testing.T) {
	s, b := newSite(t), open(t)
	s.enrol(identity.Viewer)
	item, held := s.ask(nil), s.hold(nil)
	s.logIn(b, "eve")
	for _, id := range []string{item, held} {
		b.visit(s.at(id))
		b.waitForText("You may look")
		if page := b.source(); strings.Contains(page, `action="/items/`) {
			t.Errorf("the page has a form: %s", page)
		}
	}
}

// elsewhere is a site of another name where everybody is logged in as one person.
type elsewhere struct{ at string }

// newElsewhere returns such a site, which leads back at once.
func newElsewhere(t *testing.T) *elsewhere {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, r.FormValue("back")+"?code=good", http.StatusFound)
	}))
	t.Cleanup(server.Close)
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return &elsewhere{at: "http://localhost:" + port + "/"}
}

func (e *elsewhere) with(o *console.Options) { o.Login = e }

func (e *elsewhere) Label() string { return "Log in with Example" }

func (e *elsewhere) Begin(_ context.Context, back string, _ bool) (to, kept string, err error) {
	return e.at + "?" + url.Values{"back": {back}}.Encode(), "kept", nil
}

func (e *elsewhere) Finish(context.Context, string, url.Values, string) (setup.Person, error) {
	return setup.Person{
		Who: identity.Caller{Subject: "carol", Issuer: e.at}, Role: identity.Approver, At: time.Now(),
	}, nil
}

// A person logs in at another site, which leads back to the item that was asked for: browsers send the session along.
func TestAnotherLogin(t *testing.T) {
	s, b := newSite(t, newElsewhere(t).with), open(t)
	id := s.ask(nil)
	b.visit(s.at(id))
	b.click("main a.main")
	b.waitFor("button[value=approve]")
	b.click("button[value=approve]")
	b.waitForText("delete_note is approved.")
	if state := s.stateOf(id); state != approve.Approved {
		t.Errorf("the item is %s", state)
	}
}

// logins are the pages of other ways to log in, and of who may only look.
func logins(t *testing.T) []state {
	t.Helper()
	s := newSite(t, newElsewhere(t).with)
	s.enrol(identity.Viewer)
	item := s.ask(nil)
	return []state{
		{"login-other", func(b *tab) { b.visit(s.url + "login") }},
		{"link", func(b *tab) { b.visit(s.link("bob")) }},
		{"link-over", func(b *tab) { b.visit(s.url + "link/x") }},
		{"inbox-of-a-viewer", func(b *tab) { s.logIn(b, "eve") }},
		{"item-of-a-viewer", func(b *tab) { b.visit(s.at(item)) }},
	}
}

// These pages are as accessible as the others.
func TestLoginPages(t *testing.T) { lookAtAll(t, logins(t)) }
