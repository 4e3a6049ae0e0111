package console_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"testing/cryptotest"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/passphrase"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/verify"
)

const (
	host       = "localhost:9090"
	cookie     = "aql-9090" // of the console at host
	secretWord = "correct horse battery"
)

var (
	opened = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	ann    = identity.Caller{Subject: "ann", Issuer: "stdio"}
)

// site is a console in a test, with what waits there.
type site struct {
	http.Handler
	t     *testing.T
	store *store.Memory
	now   time.Time
	inbox approve.Inbox
	holds *verify.Box
}

// newSite returns a console without passphrases, half a minute after the first item was opened.
func newSite(t *testing.T, change func(*console.Options)) *site {
	t.Helper()
	cryptotest.SetGlobalRandom(t, 1)
	s := &site{t: t, now: opened.Add(30 * time.Second)}
	s.store = &store.Memory{Now: s.clock}
	s.inbox = approve.New(s.store)
	var err error
	s.holds, err = verify.New(verify.Options{Store: s.store, Adapter: "notes", Now: s.clock})
	if err != nil {
		t.Fatal(err)
	}
	o := console.Options{
		Name: "notes", Store: s.store, Hosts: []string{host}, Now: s.clock,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	if change != nil {
		change(&o)
	}
	if s.Handler, err = console.New(o); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *site) clock() time.Time { return s.now }

// knows gives a person a passphrase.
func (s *site) knows(name, typed string) {
	s.t.Helper()
	book, who := passphrase.Book{Store: s.store, Rounds: 10}, identity.User(name)
	before, err := book.Version(s.t.Context(), who)
	if err == nil {
		err = book.Choose(s.t.Context(), who, before, typed)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// ask opens an item.
func (s *site) ask(change func(*approve.Question)) approve.Item {
	s.t.Helper()
	q := approve.Question{
		Kind: approve.Confirmation, Adapter: "notes", Operation: "delete_note", Danger: gen.Destructive, Caller: ann,
		Message: "Delete note 'n1'? This cannot be undone.", Reasons: []string{"Removes the note and its history"},
		Params: `{"note_id":"n1","force":true}`, At: opened, Lifetime: 5 * time.Minute,
	}
	if change != nil {
		change(&q)
	}
	item, _, err := s.inbox.Ask(s.t.Context(), q)
	if err != nil {
		s.t.Fatal(err)
	}
	return item
}

// hold holds an agent, and returns its item.
func (s *site) hold(subject verify.Subject) approve.Item {
	s.t.Helper()
	subject.Caller = ann
	if _, err := s.holds.Open(s.t.Context(), subject); err != nil {
		s.t.Fatal(err)
	}
	items, err := s.holds.Inbox(s.inbox).List(s.t.Context())
	if err != nil {
		s.t.Fatal(err)
	}
	return items[len(items)-1]
}

// get returns an item as it is now.
func (s *site) get(id string) approve.Item {
	s.t.Helper()
	item, err := s.holds.Inbox(s.inbox).Get(s.t.Context(), id)
	if err != nil {
		s.t.Fatal(err)
	}
	return item
}

// use uses the approval of an item up.
func (s *site) use(id string) {
	s.t.Helper()
	if err := s.inbox.Use(s.t.Context(), s.get(id), s.now); err != nil {
		s.t.Fatal(err)
	}
}

// revision is that of an item as it is now.
func (s *site) revision(id string) string {
	s.t.Helper()
	item := s.get(id)
	return item.Revision()
}

// browser is what a person looks at the console with.
type browser struct {
	*site
	cookies map[string]string
}

func (s *site) browser() *browser { return &browser{s, make(map[string]string)} }

// send sends a request as browsers do, after the changes of a test.
func (b *browser) send(r *http.Request, changes ...func(*http.Request)) *httptest.ResponseRecorder {
	b.t.Helper()
	r.Host = host
	for name, value := range b.cookies {
		r.AddCookie(&http.Cookie{Name: name, Value: value})
	}
	for _, change := range changes {
		change(r)
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

func (b *browser) get(path string, changes ...func(*http.Request)) *httptest.ResponseRecorder {
	b.t.Helper()
	return b.send(httptest.NewRequest(http.MethodGet, path, nil), changes...)
}

func (b *browser) post(path string, form url.Values, changes ...func(*http.Request)) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequest(http.MethodPost, path, strings.NewReader(form.Encode()))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return b.send(r, changes...)
}

// logIn logs a person in, whose passphrase is secretWord.
func (b *browser) logIn(name string) *browser {
	b.t.Helper()
	answer := b.post("/login", url.Values{"name": {name}, "passphrase": {secretWord}})
	if answer.Code != http.StatusSeeOther {
		b.t.Fatalf("%s is not logged in: %d %s", name, answer.Code, answer.Body)
	}
	return b
}

// person returns the browser of a person who is logged in.
func (s *site) person(name string) *browser {
	s.t.Helper()
	s.knows(name, secretWord)
	return s.browser().logIn(name)
}

var hidden = regexp.MustCompile(`<input type="hidden" name="(csrf|revision)" value="([^"]*)"`)

// form returns the form of an item as its page has it, with an answer, and with the passphrase where it has a field for
// that.
func (b *browser) form(id, answer string) url.Values {
	b.t.Helper()
	form := url.Values{"answer": {answer}}
	page := b.get("/items/" + id).Body.String()
	for _, field := range hidden.FindAllStringSubmatch(page, -1) {
		form.Set(field[1], field[2])
	}
	if strings.Contains(page, `name="passphrase"`) {
		form.Set("passphrase", secretWord)
	}
	return form
}

// decide sends the form of an item.
func (b *browser) decide(id, answer string) *httptest.ResponseRecorder {
	b.t.Helper()
	return b.post("/items/"+id, b.form(id, answer))
}
