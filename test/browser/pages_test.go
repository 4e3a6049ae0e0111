package browser

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/aqltag/aqltag/internal/scratch"
	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/verify"
)

// folder makes a folder for what these tests make, below bin, and returns its path.
func folder(t *testing.T, names ...string) string {
	t.Helper()
	root, err := scratch.Root()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(root, "bin", filepath.Join(names...))
	if err := os.MkdirAll(path, 0o755); err != nil {
		t.Fatal(err)
	}
	return path
}

// F63: every page, in light and dark, on a wide and on a narrow screen, is as accessible as axe-core can tell, and no
// wider than the screen. A picture of each is in bin/artefacts/pictures/console.
func TestPages(t *testing.T) { lookAtAll(t, pages(newSite(t))) }

// F63: so is every page of what the adapter has besides the inbox.
func TestSections(t *testing.T) {
	without, with := sections(t)
	t.Run("without", func(t *testing.T) { lookAtAll(t, without) })
	t.Run("with", func(t *testing.T) { lookAtAll(t, with) })
}

// lookAtAll judges pages.
func lookAtAll(t *testing.T, all []state) {
	t.Helper()
	lookAtAllIn(t, open(t), all)
}

// lookAtAllIn judges pages in a browser.
func lookAtAllIn(t *testing.T, b *tab, all []state) {
	t.Helper()
	at := folder(t, "artefacts", "pictures", "console")
	axe, err := Axe(t.Context(), folder(t, "axe"))
	need(t, err)
	for _, tt := range all {
		t.Run(tt.name, func(t *testing.T) {
			b := &tab{t, b.Tab}
			tt.visit(b)
			for _, scheme := range []string{"light", "dark"} {
				for screen, width := range map[string]int64{"wide": Wide, "narrow": Narrow} {
					b.look(scheme, width)
					picture := run(b, chromedp.FullScreenshot(100))
					name := filepath.Join(at, fmt.Sprintf("%s-%s-%s.png", tt.name, scheme, screen))
					if err := os.WriteFile(name, picture, 0o644); err != nil {
						t.Fatal(err)
					}
					faults, err := b.Faults(axe, "best-practice")
					if err != nil {
						t.Fatal(err)
					}
					if len(faults) > 0 {
						t.Errorf("%s, %s: %s", scheme, screen, strings.Join(faults, "\n"))
					}
				}
			}
		})
	}
}

// state is a page in one of its states.
type state struct {
	name  string
	visit func(b *tab)
}

// pages returns all pages. Those of people who are logged in come after the login.
func pages(s *site) []state {
	empty, full := newSite(s.t), newSite(s.t)
	item := func(id string) func(*tab) { return func(b *tab) { b.visit(s.at(id)) } }
	group := func(q *approve.Question) {
		q.Operation, q.Danger = "empty_trash", gen.Dangerous
		q.Needs = approve.Needs{
			Factors: []approve.Factor{{Count: 2, Groups: []string{"ops"}}}, NotRequester: true, Reason: true,
		}
		q.Typing = approve.Typing{Param: "note_id", Value: "n1"}
	}
	vote := func(id string, approves bool) string {
		if _, err := s.inbox.Vote(s.t.Context(), id, approve.Vote{
			By: identity.User("bob"), Groups: []string{"ops"}, Channel: approve.Console, Approve: approves,
			Reason: "I have looked at it", Typed: "n1", At: time.Now(),
		}); err != nil {
			s.t.Fatal(err)
		}
		return id
	}
	long := s.ask(func(q *approve.Question) {
		q.Message = strings.Repeat("W", 300)
		q.Params = `{"body":"` + strings.Repeat("a", 2000) + `","` + strings.Repeat("n", 500) + `":[1,2]}`
	})
	for i := range 60 {
		full.ask(func(q *approve.Question) {
			q.Caller.Subject = []string{"ann", "bob", "release_bot"}[i%3]
			q.Operation = []string{"delete_note", "share_note", "empty_trash", "archive_notebook"}[i%4]
			q.Danger = gen.Dangers()[i%4+1]
			q.Message = fmt.Sprintf("%s of note 'n%d'?", q.Operation, i)
			q.Params = fmt.Sprintf(`{"note_id":"n%d","force":true,"notebook":"work","dry_run":false}`, i)
		})
	}
	full.hold(nil)
	return []state{
		{"login", func(b *tab) { b.visit(s.url + "login") }},
		{"login-wrong", func(b *tab) {
			b.visit(s.url + "login")
			b.types("#name", "eve")
			b.types("#passphrase", "a wrong passphrase")
			b.click("main button")
			b.waitFor("[role=alert]")
		}},
		{"inbox-empty", func(b *tab) { empty.logIn(b, "eve") }},
		{"inbox-many", func(b *tab) { full.logIn(b, "eve") }},
		{"inbox-page-2", func(b *tab) {
			b.click("a[rel=next]")
			b.waitFor("a[rel=prev]")
		}},
		{"calls", func(b *tab) {
			full.call(200, time.Hour)
			b.visit(full.url + "calls")
			b.waitFor("#numbers")
		}},
		{"calls-numbers", func(b *tab) {
			b.click("#numbers summary")
			b.waitFor("#numbers[open]")
		}},
		{"calls-paused", func(b *tab) {
			b.click(".beside .button")
			b.waitForText("This page stands still")
		}},
		{"health", func(b *tab) { b.visit(full.url + "health") }},
		{"inbox-filter-leaves-none", func(b *tab) { b.visit(full.url + "?operation=search_notes") }},
		{"inbox", func(b *tab) { s.logIn(b, "eve") }},
		{"calls-empty", func(b *tab) { b.visit(s.url + "calls") }},
		{"health-fails", func(b *tab) {
			ready.Store(false)
			defer ready.Store(true)
			b.visit(s.url + "health")
			b.waitFor("[role=alert]")
		}},
		{"item", item(s.ask(nil))},
		{"item-group", item(s.ask(group))},
		{"item-half-approved", item(vote(s.ask(group), true))},
		{"item-approved", item(vote(s.ask(nil), true))},
		{"item-denied", item(vote(s.ask(nil), false))},
		{"item-quota", item(s.ask(func(q *approve.Question) {
			q.Kind, q.Reasons, q.Params = approve.Continuation, nil, ""
			q.Message = "Quota requests_per_day of this caller pauses at 900, and 900 is used. It stops at 1000.\n" +
				"Let all calls of this caller, of whatever operation, go on until 2026-03-02T00:00:00Z?"
		}))},
		{"item-question", item(s.ask(func(q *approve.Question) {
			q.Kind, q.Execution, q.Params, q.Operation = approve.Enquiry, "exec_1", "", "import_notes"
			q.Message = "312 of 5,000 notes are there already. Replace them?"
		}))},
		{"item-long", item(long)},
		{"whole", item(long + "/whole")},
		{"item-blocked", item(s.hold(nil))},
		{"item-paused", item(s.hold(func(of *verify.Subject) {
			of.Agent, of.Block, of.Execution = "import_bot", false, "exec_1"
		}))},
		{"item-wrong-passphrase", func(b *tab) {
			b.types("#passphrase-code", "a wrong passphrase")
			b.click(`form[action$="/code"] button`)
			b.waitFor("[role=alert]")
		}},
		{"code", s.showCode},
		{"item-gone", item("ask_1")},
		{"no-such-page", func(b *tab) { b.visit(s.url + "executive") }},
		{"other-host", func(b *tab) { b.visit(strings.Replace(s.url, "127.0.0.1", "evil.example", 1)) }},
	}
}
