package console_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
)

// elsewhere lets in whoever comes back with what the browser keeps.
type elsewhere struct {
	person setup.Person
	backs  []string
	agains int
}

func (e *elsewhere) Label() string { return "Log in with Example" }

func (e *elsewhere) Begin(_ context.Context, back string, again bool) (to, kept string, err error) {
	e.backs = append(e.backs, back)
	if again {
		e.agains++
	}
	return "https://login.example/?back=" + url.QueryEscape(back), "what is kept", nil
}

func (e *elsewhere) Finish(_ context.Context, back string, fields url.Values, kept string) (setup.Person, error) {
	e.backs = append(e.backs, back)
	if kept != "what is kept" || fields.Get("code") != "good" {
		return setup.Person{}, &setup.RefusedError{Says: "It is not you.", Err: errors.New("this is another code")}
	}
	return e.person, nil
}

// away is a console with another way to log in, by which its person has come just now.
func away(t *testing.T, role identity.Role, changes ...func(*console.Options)) (*site, *elsewhere) {
	t.Helper()
	e := &elsewhere{person: setup.Person{
		Who: identity.Caller{Subject: "eve", Issuer: "https://login.example"}, Role: role, Groups: []string{"ops"},
	}}
	s := newSite(t, func(o *console.Options) {
		o.Login = e
		for _, change := range changes {
			change(o)
		}
		o.Groups = func(context.Context, identity.Caller) ([]string, error) { return []string{"wheel"}, nil }
	})
	e.person.At = s.now
	return s, e
}

// The name of a person stands beside who it is, for whom it is shown to, and counts for nothing.
func TestNamesFromElsewhere(t *testing.T) {
	for name, tt := range map[string]struct{ name, shown string }{
		"a name":                           {"Eve Example", "eve (https://login.example) “Eve Example”"},
		"one word":                         {"eve", "eve (https://login.example) “eve”"},
		"one that looks like an identity":  {"root (stdio)", "eve (https://login.example) “root (stdio)”"},
		"one with marks of quotation":      {"a” root", `eve (https://login.example) “a\u201d root”`},
		"one with what cannot be seen":     {"E\u202eve\x1b[2J\u200b", "eve (https://login.example) “Eve[2J”"},
		"a long one":                       {strings.Repeat("é", 101), "“" + strings.Repeat("é", 100) + "…”"},
		"nothing that can be seen":         {"\u200b \u202e", "eve (https://login.example)<"},
		"none":                             {"", "eve (https://login.example)<"},
		"what a page would take for a tag": {"<b>eve</b>", "“&lt;b&gt;eve&lt;/b&gt;”"},
	} {
		t.Run(name, func(t *testing.T) {
			s, e := away(t, identity.Admin)
			e.person.Name = tt.name
			item := s.ask(func(q *approve.Question) {
				q.Caller, q.Needs.NotRequester = identity.Caller{Subject: "root", Issuer: "stdio"}, true
				q.Needs.Factors = []approve.Factor{{Count: 2}}
			})
			b := s.browser()
			b.comeBack("/login/other")
			if answer := b.post("/items/"+item.ID, b.form(item.ID, "approve")); answer.Code != http.StatusSeeOther {
				t.Fatalf("%d %s", answer.Code, answer.Body)
			}
			if page := b.get("/items/" + item.ID).Body.String(); !strings.Contains(page, tt.shown) {
				t.Errorf("the page has no %s: %s", tt.shown, page)
			}
			if votes := s.get(item.ID).Votes; len(votes) != 1 || votes[0].By.Key() != e.person.Who.Key() {
				t.Errorf("the votes are %+v", votes)
			}
		})
	}
}

// comeBack has a browser log in elsewhere, and returns the answer when it comes back.
func (b *browser) comeBack(begin string) *httptest.ResponseRecorder {
	b.t.Helper()
	if answer := b.get(begin); answer.Code != http.StatusSeeOther ||
		!strings.HasPrefix(answer.Header().Get("Location"), "https://login.example/") {
		b.t.Fatalf("beginning: %d to %q", answer.Code, answer.Header().Get("Location"))
	}
	// Browsers send no strict cookie along with where another site leads.
	session := b.cookies[cookie]
	delete(b.cookies, cookie)
	answer := b.get("/login/back?code=good", func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") })
	if b.cookies[cookie] == "" && session != "" {
		b.cookies[cookie] = session
	}
	return answer
}

// Who comes back to the browser that has begun is let in, and led to the item that was asked for.
func TestAnotherLogin(t *testing.T) {
	s, e := away(t, identity.Admin)
	item := s.ask(nil)
	b := s.browser()
	login := b.get("/login?item=" + item.ID).Body.String()
	begin := "/login/other?item=" + item.ID
	if !strings.Contains(login, "Log in with Example") || !strings.Contains(login, `href="`+begin+`"`) ||
		strings.Contains(login, "Nobody has a passphrase") {
		t.Errorf("the page of the login: %s", login)
	}
	answer := b.comeBack(begin)
	if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), `content="0; url=/items/`+item.ID+`"`) {
		t.Fatalf("coming back: %d %s", answer.Code, answer.Body)
	}
	for _, back := range e.backs {
		if back != "http://"+host+"/login/back" {
			t.Errorf("the way back is %q", back)
		}
	}
	if page := b.get("/"); page.Code != http.StatusOK || !strings.Contains(page.Body.String(), "eve") {
		t.Errorf("the person is not logged in: %d", page.Code)
	}
	if len(b.cookies) != 1 {
		t.Errorf("the browser keeps %v", b.cookies)
	}
	b.decide(item.ID, "approve")
	votes := s.get(item.ID).Votes
	if len(votes) != 1 || votes[0].By.Issuer != "https://login.example" || strings.Join(votes[0].Groups, " ") != "ops" {
		t.Errorf("the votes are %+v", votes)
	}
}

// What comes back to a browser that has not begun, or is of nobody, lets nobody in.
func TestWhoIsNotLetIn(t *testing.T) {
	for name, tt := range map[string]struct {
		begins bool
		query  string
		change func(*elsewhere)
		status int
	}{
		"nothing is wrong": {begins: true, query: "code=good", status: 200},
		"another browser":  {query: "code=good", status: 403},
		"another code":     {begins: true, query: "code=bad", status: 403},
		"of nobody": {
			begins: true, query: "code=good", change: func(e *elsewhere) { e.person.Who.Subject = "" }, status: 502,
		},
		"without an issuer": {
			begins: true, query: "code=good", change: func(e *elsewhere) { e.person.Who.Issuer = "" }, status: 502,
		},
		"as a user of here": {
			begins: true, query: "code=good", change: func(e *elsewhere) { e.person.Who = identity.User("root") }, status: 502,
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, e := away(t, identity.Admin)
			if tt.change != nil {
				tt.change(e)
			}
			b := s.browser()
			if tt.begins {
				b.get("/login/other")
			}
			answer := b.get("/login/back?" + tt.query)
			if in := b.cookies[cookie] != ""; answer.Code != tt.status || in != (tt.status == http.StatusOK) {
				t.Errorf("%d, want %d, let in: %t", answer.Code, tt.status, in)
			}
		})
	}
}

// The role is the one that was said elsewhere, and without one nobody sees anything.
func TestRolesOfAnotherLogin(t *testing.T) {
	for role, want := range map[identity.Role]struct{ look, approve int }{
		identity.Admin: {200, 303}, identity.Approver: {200, 303}, identity.Viewer: {200, 403}, "": {303, 401},
		"root": {303, 401},
	} {
		s, _ := away(t, role)
		item, b := s.ask(nil), s.browser()
		b.comeBack("/login/other")
		if got := b.get("/").Code; got != want.look {
			t.Errorf("%q looks: %d, want %d", role, got, want.look)
		}
		form := url.Values{"answer": {"approve"}, "revision": {s.revision(item.ID)}}
		if want.look == http.StatusOK {
			form = b.filled(item.ID, "approve")
		}
		if got := b.post("/items/"+item.ID, form).Code; got != want.approve {
			t.Errorf("%q approves: %d, want %d", role, got, want.approve)
		}
	}
}

// What takes a passphrase once more takes another login of who has none, which ends the session before.
func TestAnotherLoginOnceMore(t *testing.T) {
	s, e := away(t, identity.Admin)
	item := s.ask(func(q *approve.Question) { q.Danger, q.Lifetime = gen.Dangerous, time.Hour })
	held := s.hold(isBlocked)
	b := s.browser()
	b.comeBack("/login/other")
	if page := b.get("/items/" + item.ID).Body.String(); strings.Contains(page, "log in once more") ||
		strings.Contains(page, `name="passphrase"`) {
		t.Errorf("a moment after the login: %s", page)
	}
	s.now = s.now.Add(6 * time.Minute)
	begin := "/login/other?again=1&item=" + item.ID
	if page := b.get("/items/" + item.ID).Body.String(); !strings.Contains(page, strings.ReplaceAll(begin, "&", "&amp;")) {
		t.Errorf("later: %s", page)
	}
	if answer := b.decide(item.ID, "approve"); answer.Code != http.StatusForbidden {
		t.Errorf("an approval: %d", answer.Code)
	}
	if answer := b.post("/items/"+held.ID+"/code", b.filled(held.ID, "")); answer.Code != http.StatusForbidden ||
		shownCode.MatchString(answer.Body.String()) {
		t.Errorf("a code: %d", answer.Code)
	}
	before := b.cookies[cookie]
	e.person.At = s.now
	if b.comeBack(begin); e.agains != 1 {
		t.Errorf("asked to show who it is %d times", e.agains)
	}
	old := func(r *http.Request) { r.Header.Set("Cookie", cookie+"="+before) }
	if s.browser().get("/", old).Code == http.StatusOK {
		t.Error("the session before goes on")
	}
	if answer := b.decide(item.ID, "approve"); answer.Code != http.StatusSeeOther {
		t.Errorf("after another login: %d %s", answer.Code, answer.Body)
	}
	if answer := b.post("/items/"+held.ID+"/code", b.filled(held.ID, "")); !shownCode.MatchString(answer.Body.String()) {
		t.Errorf("a code after another login: %d", answer.Code)
	}
}

// To end a dangerous execution takes it, too.
func TestAnotherLoginEndsExecutions(t *testing.T) {
	of := &begun{all: []aql.Overseen{running("exec_1", func(of *aql.Overseen) { of.Danger = gen.Dangerous })}}
	s, e := away(t, identity.Admin, of.with)
	b := s.browser()
	b.comeBack("/login/other")
	s.now = s.now.Add(6 * time.Minute)
	page := b.get("/executions/exec_1").Body.String()
	if !strings.Contains(page, "log in once more") || strings.Contains(page, `name="passphrase"`) {
		t.Errorf("later: %s", page)
	}
	if answer := b.post("/executions/exec_1", b.cancelForm("exec_1")); answer.Code != http.StatusForbidden {
		t.Errorf("later: %d", answer.Code)
	}
	e.person.At = s.now
	b.comeBack("/login/other?again=1")
	if answer := b.post("/executions/exec_1", b.cancelForm("exec_1")); answer.Code != http.StatusSeeOther {
		t.Errorf("after another login: %d %s", answer.Code, answer.Body)
	}
	if len(of.cancelled) != 1 {
		t.Errorf("ended: %v", of.cancelled)
	}
}

// Without another way to log in, there is none, and a session that began by one is over.
func TestWithoutAnotherLogin(t *testing.T) {
	s, e := away(t, identity.Admin)
	b := s.browser()
	b.comeBack("/login/other")
	plain, err := console.New(console.Options{Name: "notes", Store: s.store, Hosts: []string{host}, Now: s.clock})
	if err != nil {
		t.Fatal(err)
	}
	s.Handler = plain
	began := len(e.backs)
	for path, want := range map[string]int{"/": 303, "/login/other": 303, "/login/back?code=good": 303} {
		if got := b.get(path).Code; got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	if len(e.backs) != began {
		t.Error("somebody was asked elsewhere")
	}
}
