package webauthn_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/console/webauthn"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/passphrase"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/verify"
)

const (
	host       = "console.example:9090"
	secretWord = "correct horse battery"
)

// site is a console with passkeys in a test.
type site struct {
	http.Handler
	t     *testing.T
	host  string // at which browsers are
	store store.Store
	now   time.Time
	inbox approve.Inbox
	holds *verify.Box
	log   bytes.Buffer // the audit log
}

func newSite(t *testing.T, changes ...func(*console.Options)) *site {
	t.Helper()
	s := &site{t: t, host: host, now: time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)}
	clock := func() time.Time { return s.now }
	s.store = &store.Memory{Now: clock}
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	log := audit.New(audit.Options{
		Sinks: []audit.Sink{audit.Slog(slog.New(slog.NewJSONHandler(&s.log, nil)))}, Wait: true,
	})
	t.Cleanup(func() {
		if err := log.Close(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	var err error
	if s.holds, err = verify.New(verify.Options{Store: s.store, Adapter: "notes", Logger: quiet, Now: clock}); err != nil {
		t.Fatal(err)
	}
	s.inbox = s.holds.Inbox(approve.New(s.store))
	o := console.Options{
		Name: "notes", Store: s.store, Hosts: []string{host}, Secure: true, Now: clock, Logger: quiet, Audit: log,
		Passkeys: webauthn.New(),
	}
	for _, change := range changes {
		change(&o)
	}
	s.host, s.store = o.Hosts[0], o.Store
	if s.Handler, err = console.New(o); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"eve", "bob"} {
		if known, err := s.book().Version(t.Context(), identity.User(name)); err != nil || known == 0 {
			s.choose(name)
		}
	}
	return s
}

func (s *site) book() passphrase.Book { return passphrase.Book{Store: s.store, Rounds: 10} }

// choose gives a person the passphrase, which is another choice each time.
func (s *site) choose(name string) {
	s.t.Helper()
	book, who := s.book(), identity.User(name)
	before, err := book.Version(s.t.Context(), who)
	if err == nil {
		err = book.Choose(s.t.Context(), who, before, secretWord)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// enrol gives a person a role.
func (s *site) enrol(name string, role identity.Role) {
	s.t.Helper()
	who := identity.User(name)
	before, err := s.book().Version(s.t.Context(), who)
	if err == nil {
		err = s.book().Enrol(s.t.Context(), who, before, "", role)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// ask opens a dangerous item.
func (s *site) ask(note string) approve.Item {
	s.t.Helper()
	q := approve.Question{
		Kind: approve.Confirmation, Adapter: "notes", Operation: "delete_note", Danger: gen.Dangerous,
		Caller: identity.User("ann"), Message: "Delete note " + note + "?", Params: `{"note_id":"` + note + `"}`, At: s.now,
		Lifetime: time.Hour,
	}
	copy(q.Binding[:], note)
	item, _, err := s.inbox.Ask(s.t.Context(), q)
	if err != nil {
		s.t.Fatal(err)
	}
	return item
}

// hold holds an agent, and returns its item.
func (s *site) hold() approve.Item {
	s.t.Helper()
	_, err := s.holds.Open(s.t.Context(), verify.Subject{
		Caller: identity.User("ann"), Agent: "bot", Block: true, Reasons: []string{"It deletes"}, Says: "rm -rf /",
	})
	if err != nil {
		s.t.Fatal(err)
	}
	items, err := s.inbox.List(s.t.Context())
	if err != nil || len(items) == 0 {
		s.t.Fatalf("%d items, %v", len(items), err)
	}
	return items[len(items)-1]
}

func (s *site) get(id string) approve.Item {
	s.t.Helper()
	item, err := s.inbox.Get(s.t.Context(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	return item
}

// browser is what a person looks at the console with.
type browser struct {
	*site
	cookies map[string]string
}

func (s *site) browser() *browser { return &browser{s, make(map[string]string)} }

func (b *browser) send(method, path string, form url.Values) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequest(method, path, strings.NewReader(form.Encode()))
	r.Host = b.host
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Sec-Fetch-Site", "same-origin")
	}
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	answer := httptest.NewRecorder()
	b.ServeHTTP(answer, r)
	for _, set := range answer.Result().Cookies() {
		if b.cookies[set.Name] = set.Value; set.MaxAge < 0 {
			delete(b.cookies, set.Name)
		}
	}
	return answer
}

func (b *browser) page(path string) string {
	b.t.Helper()
	return b.send(http.MethodGet, path, nil).Body.String()
}

func (b *browser) post(path string, form url.Values) *httptest.ResponseRecorder {
	b.t.Helper()
	return b.send(http.MethodPost, path, form)
}

// person returns the browser of a person who is logged in with the passphrase.
func (s *site) person(name string) *browser {
	s.t.Helper()
	b := s.browser()
	answer := b.post("/login", url.Values{"name": {name}, "passphrase": {secretWord}})
	if answer.Code != http.StatusSeeOther {
		s.t.Fatalf("%s is not logged in: %d %s", name, answer.Code, answer.Body)
	}
	return b
}

var hidden = regexp.MustCompile(`<input type="hidden" name="(csrf|revision)" value="([^"]*)"`)

// form returns the hidden fields of a page, and others.
func (b *browser) form(path string, fields ...string) url.Values {
	b.t.Helper()
	form := url.Values{}
	for _, field := range hidden.FindAllStringSubmatch(b.page(path), -1) {
		form.Set(field[1], field[2])
	}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	return form
}

// challenge asks for a challenge, as the script does, and returns the options.
func (b *browser) challenge(path string, form url.Values) []byte {
	b.t.Helper()
	answer := b.post(path, form)
	var of struct{ Options json.RawMessage }
	if err := json.Unmarshal(answer.Body.Bytes(), &of); err != nil || answer.Code != http.StatusOK {
		b.t.Fatalf("%d %s: %v", answer.Code, answer.Body, err)
	}
	return of.Options
}

// register registers an authenticator.
func (b *browser) register(a *authenticator, name string) *httptest.ResponseRecorder {
	b.t.Helper()
	options := b.challenge("/challenge", b.form("/passkeys", "does", "register", "passphrase", secretWord))
	return b.post("/passkeys", b.form("/passkeys", "name", name, "passkey", string(a.create(options))))
}

// with returns an authenticator that is registered for a person, and the person's browser.
func (s *site) with(name string) (*authenticator, *browser) {
	s.t.Helper()
	a, b := newAuthenticator(s.t, "https://"+host, "console.example"), s.person(name)
	if answer := b.register(a, name+"'s key"); answer.Code != http.StatusSeeOther {
		s.t.Fatalf("not registered: %d %s", answer.Code, answer.Body)
	}
	return a, b
}
