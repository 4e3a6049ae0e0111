package console_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/observe"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/verify"
)

var update = flag.Bool("update", false, "rewrite the pages in testdata")

var isBlocked = verify.Subject{
	Agent: "release_bot", Block: true, Reasons: []string{"A rule denies rm -rf *"},
	Says: "executing shell command: rm -rf /srv/www",
}

// factors is what an item needs that two people of a group approve, who are not who asks, each with a reason.
func factors(q *approve.Question) {
	q.Needs = approve.Needs{
		Factors: []approve.Factor{{Count: 2, Groups: []string{"ops"}}}, NotRequester: true, Reason: true,
	}
	q.Typing = approve.Typing{Param: "note_id", Value: "n1"}
}

// quotaPause asks whether the calls of a caller go on after the pause of a quota.
func quotaPause(q *approve.Question) {
	q.Kind, q.Reasons, q.Params = approve.Continuation, nil, ""
	q.Message = "Quota requests_per_day of this caller pauses at 900, and 900 is used. It stops at 1000.\n" +
		"Let all calls of this caller, of whatever operation, go on until 2026-03-02T00:00:00Z?"
}

// fill opens many items of several agents and operations, ten seconds apart.
func fill(s *site, count int) {
	for i := range count {
		s.ask(func(q *approve.Question) {
			q.At = opened.Add(time.Duration(i) * 10 * time.Second)
			q.Caller.Subject = []string{"ann", "bob", "release_bot"}[i%3]
			q.Operation = []string{"delete_note", "share_note", "empty_trash", "archive_notebook"}[i%4]
			q.Danger = gen.Dangers()[i%4+1]
			q.Binding[0], q.Binding[1] = byte(i), byte(i>>8)
			q.Message = fmt.Sprintf("%s of note 'n%d'?", q.Operation, i)
			q.Params = fmt.Sprintf(`{"note_id":"n%d","force":true,"notebook":"work","dry_run":false}`, i)
			q.Lifetime = time.Hour
		})
	}
	s.now = opened.Add(time.Duration(count) * 10 * time.Second)
}

// answer is what a browser gets.
type answer = *httptest.ResponseRecorder

// F63: every page in each of its states, as browsers get it. -update rewrites the files.
func TestPages(t *testing.T) {
	inOps := func(o *console.Options) {
		o.Groups = func(context.Context, identity.Caller) ([]string, error) { return []string{"ops"}, nil }
	}
	item := func(change func(*approve.Question), then func(*site, approve.Item)) func(*site) answer {
		return func(s *site) answer {
			item := s.ask(change)
			if then != nil {
				then(s, item)
			}
			return s.person("eve").get("/items/" + item.ID)
		}
	}
	var hooks *observe.Hooks
	for name, tt := range map[string]struct {
		change func(*console.Options)
		visit  func(*site) answer
		status int
	}{
		"login-nobody": {visit: func(s *site) answer { return s.browser().get("/login") }, status: 200},
		"link":         {visit: func(s *site) answer { return s.person("bob").get(s.link("eve")) }, status: 200},
		"link-used": {visit: func(s *site) answer {
			path := s.link("eve")
			s.browser().post(path, nil)
			return s.browser().get(path)
		}, status: 410},
		"item-of-a-viewer": {visit: func(s *site) answer {
			return s.as("eve", identity.Viewer).get("/items/" + s.ask(nil).ID)
		}, status: 200},
		"item-blocked-for-an-approver": {visit: func(s *site) answer {
			return s.as("eve", identity.Approver).get("/items/" + s.hold(isBlocked).ID)
		}, status: 200},
		"login": {visit: func(s *site) answer {
			s.knows("eve", secretWord)
			return s.browser().get("/login?item=ask_1")
		}, status: 200},
		"login-wrong": {visit: func(s *site) answer {
			s.knows("eve", secretWord)
			return s.browser().post("/login", url.Values{"name": {"eve"}, "passphrase": {"a wrong passphrase"}})
		}, status: 403},
		"login-too-many": {visit: func(s *site) answer {
			s.knows("eve", secretWord)
			for range 10 {
				s.browser().post("/login", url.Values{"name": {"eve"}, "passphrase": {"a wrong passphrase"}})
			}
			return s.browser().post("/login", url.Values{"name": {"eve"}, "passphrase": {secretWord}})
		}, status: 429},
		"login-ended": {visit: func(s *site) answer {
			s.knows("eve", secretWord)
			return s.browser().get("/login?ended=1")
		}, status: 200},
		"inbox-empty": {visit: func(s *site) answer { return s.person("eve").get("/") }, status: 200},
		"inbox-one": {visit: func(s *site) answer {
			s.ask(nil)
			return s.person("eve").get("/")
		}, status: 200},
		"inbox-many": {visit: func(s *site) answer {
			fill(s, 60)
			s.hold(isBlocked)
			return s.person("eve").get("/")
		}, status: 200},
		"inbox-last-page": {visit: func(s *site) answer {
			fill(s, 52)
			b := s.person("eve")
			return b.get(beside(b.get("/").Body.String(), "next"))
		}, status: 200},
		"inbox-filtered": {visit: func(s *site) answer {
			fill(s, 12)
			return s.person("eve").get("/?agent=bob+(stdio)&danger=dangerous")
		}, status: 200},
		"inbox-filter-leaves-none": {visit: func(s *site) answer {
			s.ask(nil)
			return s.person("eve").get("/?operation=share_note")
		}, status: 200},
		"inbox-unreadable": {visit: func(s *site) answer {
			if _, err := s.store.Put(s.t.Context(), "approve/x", []byte("?"), 0, 0); err != nil {
				s.t.Fatal(err)
			}
			return s.person("eve").get("/")
		}, status: 200},
		"inbox-decided": {visit: func(s *site) answer {
			b := s.person("eve")
			return b.get(b.decide(s.ask(nil).ID, "approve").Header().Get("Location"))
		}, status: 200},
		"calls-empty": {change: withCalls(&hooks), visit: func(s *site) answer {
			return s.person("eve").get("/calls")
		}, status: 200},
		"calls-one": {change: withCalls(&hooks), visit: func(s *site) answer {
			s.call(hooks, kinds[1])
			return s.person("eve").get("/calls")
		}, status: 200},
		"calls-many": {change: withCalls(&hooks), visit: func(s *site) answer {
			s.many(hooks, 200)
			return s.person("eve").get("/calls")
		}, status: 200},
		"calls-paused": {change: withCalls(&hooks), visit: func(s *site) answer {
			s.many(hooks, 20)
			return s.person("eve").get("/calls?before=1772356500000000000.0.")
		}, status: 200},
		"calls-none-older": {change: withCalls(&hooks), visit: func(s *site) answer {
			s.many(hooks, 20)
			return s.person("eve").get("/calls?before=1.0.")
		}, status: 200},
		"calls-of-replicas": {change: withCalls(&hooks), visit: func(s *site) answer {
			s.many(hooks, 5)
			s.tells("web-2", 4711, kinds[:3])
			return s.person("eve").get("/calls")
		}, status: 200},
		"calls-of-this-one-alone": {change: func(o *console.Options) {
			withCalls(&hooks)(o)
			o.Store = listless{o.Store}
		}, visit: func(s *site) answer {
			s.call(hooks, kinds[2])
			return s.person("eve").get("/calls")
		}, status: 200},
		"health": {change: withHealth(&hooks, well), visit: func(s *site) answer {
			s.many(hooks, 20)
			s.tells("web-2", 4711, kinds[:3])
			return s.person("eve").get("/health")
		}, status: 200},
		"health-alone": {change: withHealth(&hooks, setup.Health{
			Checks: []setup.Check{{Name: "store"}}, Backlog: new(setup.Backlog),
		}), visit: func(s *site) answer { return s.person("eve").get("/health") }, status: 200},
		"health-fails": {change: func(o *console.Options) {
			withHealth(&hooks, ill)(o)
			o.Store = listless{o.Store}
		}, visit: func(s *site) answer { return s.person("eve").get("/health") }, status: 200},
		"item-open":  {visit: item(nil, nil), status: 200},
		"item-quota": {visit: item(quotaPause, nil), status: 200},
		"item-quota-approved": {visit: item(quotaPause, func(s *site, item approve.Item) {
			s.person("bob").decide(item.ID, "approve")
		}), status: 200},
		"item-quota-used": {visit: item(quotaPause, func(s *site, item approve.Item) {
			s.person("bob").decide(item.ID, "approve")
			s.use(item.ID)
		}), status: 200},
		"inbox-quota-approved": {visit: func(s *site) answer {
			b := s.person("eve")
			return b.get(b.decide(s.ask(quotaPause).ID, "approve").Header().Get("Location"))
		}, status: 200},
		"inbox-quota": {visit: func(s *site) answer {
			s.ask(quotaPause)
			return s.person("eve").get("/")
		}, status: 200},
		"item-group":  {visit: item(factors, nil), status: 200},
		"item-typing": {change: inOps, visit: item(factors, nil), status: 200},
		"item-half-approved": {change: inOps, visit: item(factors, func(s *site, item approve.Item) {
			b := s.person("bob")
			form := b.form(item.ID, "approve")
			form.Set("typed", "n1")
			form.Set("reason", "The note is a copy")
			b.post("/items/"+item.ID, form)
		}), status: 200},
		"item-of-requester": {change: inOps, visit: item(func(q *approve.Question) {
			factors(q)
			q.Caller.Subject = "eve"
		}, nil), status: 200},
		"item-too-early": {visit: item(func(q *approve.Question) { q.Cooldown = 2 * time.Minute }, nil), status: 200},
		"item-dangerous": {visit: item(func(q *approve.Question) { q.Danger = gen.Dangerous }, nil), status: 200},
		"item-wrong-passphrase": {visit: func(s *site) answer {
			b, item := s.person("eve"), s.ask(func(q *approve.Question) { q.Danger = gen.Dangerous })
			form := b.form(item.ID, "approve")
			form.Set("passphrase", "a wrong passphrase")
			form.Set("reason", "The note is a copy")
			return b.post("/items/"+item.ID, form)
		}, status: 403},
		"item-long": {visit: item(long, nil), status: 200},
		"whole": {visit: func(s *site) answer {
			return s.person("eve").get("/items/" + s.ask(long).ID + "/whole")
		}, status: 200},
		"whole-many": {visit: func(s *site) answer {
			return s.person("eve").get("/items/" + s.ask(veryMany).ID + "/whole")
		}, status: 200},
		"whole-not-kept": {visit: func(s *site) answer {
			return s.person("eve").get("/items/" + s.ask(tooLong).ID + "/whole")
		}, status: 404},
		"item-question": {visit: item(func(q *approve.Question) {
			q.Kind, q.Execution, q.Params = approve.Enquiry, "exec_1", ""
		}, nil), status: 200},
		"item-approved": {visit: item(nil, func(s *site, item approve.Item) {
			s.person("bob").decide(item.ID, "approve")
		}), status: 200},
		"item-denied": {visit: item(nil, func(s *site, item approve.Item) {
			b := s.person("bob")
			form := b.form(item.ID, "deny")
			form.Set("reason", "Not on a Friday")
			b.post("/items/"+item.ID, form)
		}), status: 200},
		"item-used": {visit: item(nil, func(s *site, item approve.Item) {
			s.person("bob").decide(item.ID, "approve")
			s.use(item.ID)
		}), status: 200},
		"item-expired": {visit: item(nil, func(s *site, _ approve.Item) {
			s.now = opened.Add(6 * time.Minute)
		}), status: 200},
		"item-gone": {visit: func(s *site) answer { return s.person("eve").get("/items/ask_1") }, status: 404},
		"item-mistyped": {change: inOps, visit: func(s *site) answer {
			b, item := s.person("eve"), s.ask(factors)
			form := b.form(item.ID, "approve")
			form.Set("reason", "The note is a copy")
			form.Set("typed", "n2")
			return b.post("/items/"+item.ID, form)
		}, status: 422},
		"item-somebody-was-faster": {visit: func(s *site) answer {
			eve, item := s.person("eve"), s.ask(nil)
			form := eve.form(item.ID, "approve")
			s.person("bob").decide(item.ID, "deny")
			return eve.post("/items/"+item.ID, form)
		}, status: 409},
		"item-blocked": {visit: func(s *site) answer {
			return s.person("eve").get("/items/" + s.hold(isBlocked).ID)
		}, status: 200},
		"item-paused": {visit: func(s *site) answer {
			paused := isBlocked
			paused.Block, paused.Execution = false, "exec_1"
			return s.person("eve").get("/items/" + s.hold(paused).ID)
		}, status: 200},
		"item-lifted": {visit: func(s *site) answer {
			b, held := s.person("eve"), s.hold(isBlocked)
			form := b.form(held.ID, "approve")
			form.Set("reason", "I have looked at what it does")
			b.post("/items/"+held.ID, form)
			return b.get("/items/" + held.ID)
		}, status: 200},
		"code": {visit: func(s *site) answer {
			b, held := s.person("eve"), s.hold(isBlocked)
			return b.post("/items/"+held.ID+"/code", b.form(held.ID, ""))
		}, status: 200},
		"code-without-passphrase": {visit: func(s *site) answer {
			b, held := s.person("eve"), s.hold(isBlocked)
			form := b.form(held.ID, "")
			form.Del("passphrase")
			return b.post("/items/"+held.ID+"/code", form)
		}, status: 422},
		"no-such-page": {visit: func(s *site) answer { return s.person("eve").get("/executive") }, status: 404},
		"other-host": {visit: func(s *site) answer {
			return s.browser().get("/", func(r *http.Request) { r.Host = "evil.example" })
		}, status: 403},
		"state-fails": {change: func(o *console.Options) { o.Store = broken{o.Store} }, visit: func(s *site) answer {
			return s.browser().get("/", func(r *http.Request) { r.AddCookie(&http.Cookie{Name: cookie, Value: "x"}) })
		}, status: 503},
	} {
		t.Run(name, func(t *testing.T) {
			checkAnswer(t, name, tt.visit(newSite(t, tt.change)), tt.status)
		})
	}
}

// checkAnswer checks that a page is as its file in testdata has it. -update rewrites the file.
func checkAnswer(t *testing.T, name string, got answer, status int) {
	t.Helper()
	if got.Code != status {
		t.Errorf("the status is %d, want %d", got.Code, status)
	}
	checkPage(t, got.Body.String())
	file := filepath.Join("testdata", "pages", name+".html")
	if *update {
		if err := os.WriteFile(file, got.Body.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.Body.String()); diff != "" {
		t.Errorf("%s differs (-want +got):\n%s", file, diff)
	}
}

// broken is a store that cannot be reached.
type broken struct{ store.Store }

func (broken) Get(context.Context, string) (store.Entry, error) {
	return store.Entry{}, errors.New("dial tcp 10.0.0.7:5432: connection refused")
}
