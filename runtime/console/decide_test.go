package console_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/verify"
)

var shownCode = regexp.MustCompile(`id="secret"[^>]*>([0-9A-Z-]{31})<`)

// F61, F63: what a person fills in, the answer, and what becomes of the item.
func TestDecisions(t *testing.T) {
	ops := []string{"ops"}
	for name, tt := range map[string]struct {
		change                func(*approve.Question)
		groups                []string
		asker                 bool // who asks decides
		answer, reason, typed string
		status                int
		state                 approve.State
		says                  string
	}{
		"approved": {answer: "approve", status: 303, state: approve.Approved},
		"denied":   {answer: "deny", status: 303, state: approve.Denied},
		"without a reason": {
			change: factors, groups: ops, answer: "deny", status: 422, state: approve.Open, says: "needs a reason",
		},
		"mistyped": {
			change: factors, groups: ops, answer: "approve", reason: "x", typed: "n2", status: 422, state: approve.Open,
			says: "What you typed is not the value",
		},
		"typed": {
			change: factors, groups: ops, answer: "approve", reason: "x", typed: " n1 ", status: 303, state: approve.Open,
		},
		"not of the group": {
			change: factors, answer: "approve", reason: "x", typed: "n1", status: 403, state: approve.Open,
			says: "Only members of certain groups",
		},
		"of who asks": {
			change: factors, groups: ops, asker: true, answer: "approve", reason: "x", typed: "n1", status: 403,
			state: approve.Open, says: "Who asks cannot approve",
		},
		"withdrawn": {
			change: factors, groups: ops, asker: true, answer: "deny", reason: "x", status: 303, state: approve.Denied,
		},
		"too early": {
			change: func(q *approve.Question) { q.Cooldown = time.Minute }, answer: "approve", status: 422,
			state: approve.Open, says: "cannot be approved yet",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, func(o *console.Options) {
				o.Groups = func(context.Context, identity.Caller) ([]string, error) { return tt.groups, nil }
			})
			who := "eve"
			if tt.asker {
				who = "ann"
			}
			b, item := s.person(who), s.ask(tt.change)
			form := b.form(item.ID, tt.answer)
			if form.Get("csrf") == "" { // the page offers nothing, and somebody sends it all the same
				other := s.ask(func(q *approve.Question) { q.Binding[0] = 1 })
				form.Set("csrf", b.form(other.ID, "").Get("csrf"))
			}
			form.Set("revision", s.revision(item.ID))
			form.Set("reason", tt.reason)
			form.Set("typed", tt.typed)
			answer := b.post("/items/"+item.ID, form)
			if answer.Code != tt.status || !strings.Contains(answer.Body.String(), tt.says) {
				t.Errorf("got %d without %q: %s", answer.Code, tt.says, answer.Body)
			}
			if tt.status == http.StatusUnprocessableEntity {
				if !strings.Contains(answer.Body.String(), `value="`+tt.reason+`"`) {
					t.Errorf("what was typed is lost: %s", answer.Body)
				}
			}
			if state := s.get(item.ID).State; state != tt.state {
				t.Errorf("the item is %s, want %s", state, tt.state)
			}
		})
	}
}

// An approval that was not used yet is taken back.
func TestApprovalsAreTakenBack(t *testing.T) {
	s := newSite(t, nil)
	b, item := s.person("eve"), s.ask(nil)
	b.decide(item.ID, "approve")
	if answer := b.decide(item.ID, "deny"); answer.Code != http.StatusSeeOther {
		t.Errorf("the status is %d", answer.Code)
	}
	if state := s.get(item.ID).State; state != approve.Denied {
		t.Errorf("the item is %s", state)
	}
}

// Of two people who decide at the same time about what they both see, one is told that the other was faster.
func TestOneOfTwoIsFaster(t *testing.T) {
	s := newSite(t, nil)
	eve, bob, item := s.person("eve"), s.person("bob"), s.ask(nil)
	type side struct {
		b    *browser
		form url.Values
		code int
	}
	sides := []*side{{b: eve, form: eve.form(item.ID, "approve")}, {b: bob, form: bob.form(item.ID, "deny")}}
	var both sync.WaitGroup
	for _, side := range sides {
		both.Go(func() { side.code = side.b.post("/items/"+item.ID, side.form).Code })
	}
	both.Wait()
	if sides[0].code+sides[1].code != http.StatusSeeOther+http.StatusConflict {
		t.Errorf("the statuses are %d and %d", sides[0].code, sides[1].code)
	}
}

// F60: a code that was shown lets the agent go on, once, and showing another one makes the first no good.
func TestCodes(t *testing.T) {
	s := newSite(t, nil)
	b, held := s.person("eve"), s.hold(isBlocked)
	show := func() string {
		answer := b.post("/items/"+held.ID+"/code", b.form(held.ID, ""))
		code := shownCode.FindStringSubmatch(answer.Body.String())
		if code == nil {
			t.Fatalf("no code: %d %s", answer.Code, answer.Body)
		}
		return code[1]
	}
	first, second := show(), show()
	if page := b.get("/items/" + held.ID).Body.String(); strings.Contains(page, second) {
		t.Error("the page of the item has the code, too")
	}
	var failed *verify.FailedError
	if _, err := s.holds.Verify(t.Context(), ann, s.get(held.ID).Challenge, first); !errors.As(err, &failed) {
		t.Errorf("the code before passes: %v", err)
	}
	third := show()
	if _, err := s.holds.Verify(t.Context(), ann, s.get(held.ID).Challenge, third); err != nil {
		t.Errorf("the code does not pass: %v", err)
	}
	if answer := b.post("/items/"+held.ID+"/code", b.form(held.ID, "")); shownCode.MatchString(answer.Body.String()) {
		t.Error("a code is shown for what is lifted")
	}
}

// A block is lifted with a reason, on a page that was loaded before its code was shown.
func TestUnblocking(t *testing.T) {
	s := newSite(t, nil)
	b, held := s.person("eve"), s.hold(isBlocked)
	form := b.form(held.ID, "approve")
	if answer := b.post("/items/"+held.ID, form); answer.Code != http.StatusUnprocessableEntity {
		t.Errorf("without a reason: %d", answer.Code)
	}
	b.post("/items/"+held.ID+"/code", form)
	form.Set("reason", "I have looked at what it does")
	if answer := b.post("/items/"+held.ID, form); answer.Code != http.StatusSeeOther {
		t.Errorf("with a reason: %d %s", answer.Code, answer.Body)
	}
	if state := s.get(held.ID).State; state != approve.Used {
		t.Errorf("the block is %s", state)
	}
	again := s.hold(isBlocked)
	form = b.form(again.ID, "deny")
	form.Set("reason", "no")
	if answer := b.post("/items/"+again.ID, form); answer.Code != http.StatusUnprocessableEntity {
		t.Errorf("a block is denied: %d", answer.Code)
	}
}

// Reading changes nothing, however often: not even the time until which a person stays logged in, within a minute.
func TestReadingChangesNothing(t *testing.T) {
	s := newSite(t, nil)
	b, item, held := s.person("eve"), s.ask(nil), s.hold(isBlocked)
	state := func() (text bytes.Buffer) {
		entries, err := s.store.List(t.Context(), "", "", 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range entries {
			text.WriteString(entry.Key)
			text.Write(entry.Value)
		}
		return text
	}
	before := state()
	query := "?answer=approve&reason=x&revision=" + s.revision(item.ID)
	for _, path := range []string{
		"/", "/items/" + item.ID + query, "/items/" + held.ID + query, "/items/" + held.ID + "/code", "/login", "/logout",
		"/?decided=" + item.ID, "/items/" + item.ID + "/whole",
	} {
		b.get(path)
	}
	if after := state(); !bytes.Equal(before.Bytes(), after.Bytes()) {
		t.Errorf("before:\n%s\nafter:\n%s", &before, &after)
	}
}
