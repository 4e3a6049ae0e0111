package console_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/invite"
	"github.com/aqltag/aqltag/runtime/passphrase"
)

// link makes a link for a person, as operator link does, and returns its path.
func (s *site) link(name string) string {
	s.t.Helper()
	s.knows(name, secretWord)
	who := identity.User(name)
	known, err := (passphrase.Book{Store: s.store}).Account(s.t.Context(), who)
	if err != nil {
		s.t.Fatal(err)
	}
	secret, err := invite.Book{Store: s.store, Now: s.clock}.New(s.t.Context(), who, known.Version)
	if err != nil {
		s.t.Fatal(err)
	}
	return "/link/" + secret
}

// Operations §5.4: a program that looks at a link before its person does leaves it good. A form of the page that it
// leads to lets the person in, once.
func TestLinksAreGoodOnce(t *testing.T) {
	s := newSite(t, nil)
	path := s.link("eve")
	for range 3 {
		scanner := s.browser()
		answer := scanner.get(path, func(r *http.Request) { r.Header.Set("Sec-Purpose", "prefetch") })
		if answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), "Log in as eve") {
			t.Fatalf("looking: %d %s", answer.Code, answer.Body)
		}
		if len(scanner.cookies) != 0 || scanner.get("/").Code == http.StatusOK {
			t.Errorf("looking has set %v", scanner.cookies)
		}
	}
	b := s.browser()
	if answer := b.post(path, nil); answer.Code != http.StatusSeeOther || answer.Header().Get("Location") != "/" {
		t.Fatalf("using it: %d %s", answer.Code, answer.Body)
	}
	if answer := b.get("/"); answer.Code != http.StatusOK || !strings.Contains(answer.Body.String(), "eve") {
		t.Errorf("the person is not let in: %d", answer.Code)
	}
	second := s.browser()
	if answer := second.post(path, nil); answer.Code != http.StatusGone || len(second.cookies) != 0 {
		t.Errorf("using it twice: %d, %v", answer.Code, second.cookies)
	}
	if answer := second.get(path); answer.Code != http.StatusGone {
		t.Errorf("looking at it afterwards: %d", answer.Code)
	}
}

// Of several browsers that use a link at the same time, one is let in.
func TestOneBrowserIsLetIn(t *testing.T) {
	s := newSite(t, nil)
	path := s.link("eve")
	browsers := make([]*browser, 4)
	var all sync.WaitGroup
	for i := range browsers {
		browsers[i] = s.browser()
		all.Go(func() { browsers[i].post(path, nil) })
	}
	all.Wait()
	in := 0
	for _, b := range browsers {
		in += len(b.cookies)
	}
	if in != 1 {
		t.Errorf("%d are let in", in)
	}
}

// A link lets nobody in who could not log in with the passphrase that made it.
func TestLinksThatAreOver(t *testing.T) {
	for name, tt := range map[string]struct {
		then   func(*site)
		change func(*http.Request)
		status int
	}{
		"at once":             {status: 303},
		"after nine minutes":  {then: func(s *site) { s.now = s.now.Add(9 * time.Minute) }, status: 303},
		"after ten minutes":   {then: func(s *site) { s.now = s.now.Add(10 * time.Minute) }, status: 410},
		"with another role":   {then: func(s *site) { s.enrol("eve", identity.Viewer) }, status: 410},
		"with another's role": {then: func(s *site) { s.enrol("bob", identity.Viewer) }, status: 303},
		"of another address":  {change: func(r *http.Request) { r.URL.Path += "X" }, status: 410},
		"from another site": {
			change: func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }, status: 403,
		},
		"from nowhere":            {change: func(r *http.Request) { r.Header.Del("Sec-Fetch-Site") }, status: 403},
		"by another name":         {change: func(r *http.Request) { r.Host = "evil.example:9090" }, status: 403},
		"with another passphrase": {then: func(s *site) { s.knows("eve", "another passphrase") }, status: 410},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, nil)
			path := s.link("eve")
			if tt.then != nil {
				tt.then(s)
			}
			if tt.change == nil {
				tt.change = func(*http.Request) {}
			}
			b := s.browser()
			answer := b.post(path, nil, tt.change)
			if in := len(b.cookies) > 0; answer.Code != tt.status || in != (tt.status == http.StatusSeeOther) {
				t.Errorf("%d, want %d, let in: %t", answer.Code, tt.status, in)
			}
		})
	}
}

// A link begins a session with a secret that nobody has set before, and ends the one that the browser had.
func TestLinksDrawNewSecrets(t *testing.T) {
	s := newSite(t, nil)
	const planted = "AAAAAAAAAAAAAAAAAAAAAAAAAA"
	b := s.browser()
	b.cookies[cookie] = planted
	b.post(s.link("eve"), nil)
	if secret := b.cookies[cookie]; secret == planted || secret == "" {
		t.Errorf("the secret of the session is %q", secret)
	}
	bob := s.person("bob")
	before, path := bob.cookies[cookie], s.link("carol")
	if page := bob.get(path).Body.String(); !strings.Contains(page, "You are logged in as bob") ||
		!strings.Contains(page, "Log in as carol") {
		t.Errorf("the page does not say who is logged in: %s", page)
	}
	bob.post(path, nil)
	old := func(r *http.Request) { r.Header.Set("Cookie", cookie+"="+before) }
	if answer := s.browser().get("/", old); answer.Code == http.StatusOK {
		t.Error("the session of before goes on")
	}
}

// A log-in is one line of the log, which says by what.
func TestLogInsInTheLog(t *testing.T) {
	var log bytes.Buffer
	s := newSite(t, func(o *console.Options) { o.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
	s.browser().post(s.link("eve"), nil)
	if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "person=eve by=link") {
		t.Errorf("the log of a link has:\n%s", text)
	}
	log.Reset()
	s.person("eve")
	if text := log.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "person=eve by=passphrase") {
		t.Errorf("the log of a passphrase has:\n%s", text)
	}
}
