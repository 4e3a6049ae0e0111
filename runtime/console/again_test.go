package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/console"
	"github.com/aqltag/aqltag/runtime/gen"
)

// Operations §5.4: who has the session of a person, and not the passphrase, approves nothing that is dangerous, and
// lets no agent go on that is held.
func TestWhatTakesThePassphraseOnceMore(t *testing.T) {
	asks := func(kind approve.Kind, danger gen.Danger) func(*site) approve.Item {
		return func(s *site) approve.Item {
			return s.ask(func(q *approve.Question) { q.Kind, q.Danger = kind, danger })
		}
	}
	paused := isBlocked
	paused.Block, paused.Execution = false, "exec_1"
	for name, tt := range map[string]struct {
		from gen.Danger
		open func(*site) approve.Item
		want bool
	}{
		"a destructive request":          {"", asks(approve.Confirmation, gen.Destructive), false},
		"a dangerous request":            {"", asks(approve.Confirmation, gen.Dangerous), true},
		"a forbidden request":            {"", asks(approve.Confirmation, gen.Forbidden), true},
		"a request of an unknown danger": {"", asks(approve.Confirmation, "deadly"), true},
		"a dangerous execution":          {"", asks(approve.Enquiry, gen.Dangerous), true},
		"a dangerous step":               {"", asks(approve.Step, gen.Dangerous), true},
		"going on after a pause of a quota, met by what is dangerous": {
			"", asks(approve.Continuation, gen.Dangerous), false,
		},
		"a destructive request, by the policy": {"", func(s *site) approve.Item {
			return s.ask(func(q *approve.Question) { q.Danger, q.Needs.Reauthenticate = gen.Destructive, true })
		}, true},
		"a question of an execution, by the policy": {gen.Forbidden, func(s *site) approve.Item {
			return s.ask(func(q *approve.Question) {
				q.Kind, q.Danger, q.Needs.Reauthenticate = approve.Enquiry, gen.Safe, true
			})
		}, true},
		"a block":                        {"", func(s *site) approve.Item { return s.hold(isBlocked) }, true},
		"a pause":                        {"", func(s *site) approve.Item { return s.hold(paused) }, true},
		"destructive, from there on":     {gen.Destructive, asks(approve.Confirmation, gen.Destructive), true},
		"dangerous, from forbidden on":   {gen.Forbidden, asks(approve.Confirmation, gen.Dangerous), false},
		"a block, from forbidden on":     {gen.Forbidden, func(s *site) approve.Item { return s.hold(isBlocked) }, true},
		"anything, from safe on":         {gen.Safe, asks(approve.Confirmation, gen.Safe), true},
		"a quota, from safe on":          {gen.Safe, asks(approve.Continuation, gen.Dangerous), true},
		"a quota, from reversible on":    {gen.Reversible, asks(approve.Continuation, gen.Dangerous), false},
		"unknown, from forbidden on":     {gen.Forbidden, asks(approve.Confirmation, "deadly"), true},
		"a request without any danger":   {"", asks(approve.Confirmation, ""), true},
		"a reversible request":           {"", asks(approve.Confirmation, gen.Reversible), false},
		"a reversible one, from safe on": {gen.Safe, asks(approve.Confirmation, gen.Reversible), true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, func(o *console.Options) { o.ReauthenticateFrom = tt.from })
			b, item := s.person("eve"), tt.open(s)
			form := b.form(item.ID, "approve")
			form.Set("reason", "I have looked at it")
			if asked := form.Has("passphrase"); asked != tt.want {
				t.Errorf("the page asks for it: %t", asked)
			}
			for typed, status := range map[string]int{"": 422, "a wrong passphrase": 403} {
				if form.Set("passphrase", typed); !tt.want {
					break
				}
				answer := b.post("/items/"+item.ID, form)
				if state := s.get(item.ID).State; answer.Code != status || state != approve.Open {
					t.Errorf("%q: %d, the item is %s", typed, answer.Code, state)
				}
				if page := answer.Body.String(); typed != "" && strings.Contains(page, typed) {
					t.Errorf("the answer has what was typed: %s", page)
				}
			}
			if tt.want {
				form.Set("passphrase", secretWord)
			}
			answer := b.post("/items/"+item.ID, form)
			if state := s.get(item.ID).State; answer.Code != http.StatusSeeOther || state == approve.Open {
				t.Errorf("with it: %d, the item is %s: %s", answer.Code, state, answer.Body)
			}
		})
	}
}

// A denial of what is dangerous takes no passphrase: it does no harm.
func TestDenyingTakesNoPassphrase(t *testing.T) {
	s := newSite(t, nil)
	b, item := s.person("eve"), s.ask(func(q *approve.Question) { q.Danger = gen.Dangerous })
	form := b.form(item.ID, "deny")
	form.Del("passphrase")
	if answer := b.post("/items/"+item.ID, form); answer.Code != http.StatusSeeOther {
		t.Errorf("the status is %d", answer.Code)
	}
	if state := s.get(item.ID).State; state != approve.Denied {
		t.Errorf("the item is %s", state)
	}
}

// A code is drawn for who types the passphrase, in whatever session. One that is not has nothing changed.
func TestCodesTakeThePassphrase(t *testing.T) {
	s := newSite(t, func(o *console.Options) { o.ReauthenticateFrom = gen.Forbidden })
	b, held := s.person("eve"), s.hold(isBlocked)
	form := b.form(held.ID, "")
	for typed, status := range map[string]int{"": 422, "a wrong passphrase": 403} {
		form.Set("passphrase", typed)
		answer := b.post("/items/"+held.ID+"/code", form)
		if answer.Code != status || shownCode.MatchString(answer.Body.String()) {
			t.Errorf("%q: %d %s", typed, answer.Code, answer.Body)
		}
	}
	form.Set("passphrase", secretWord)
	if answer := b.post("/items/"+held.ID+"/code", form); !shownCode.MatchString(answer.Body.String()) {
		t.Errorf("with it: %d %s", answer.Code, answer.Body)
	}
}

// Wrong passphrases are counted together, wherever they are typed, and none that is missing is one.
func TestPassphrasesOnceMoreAreCounted(t *testing.T) {
	s := newSite(t, nil)
	b, held := s.person("eve"), s.hold(isBlocked)
	item := s.ask(func(q *approve.Question) { q.Danger = gen.Dangerous })
	form, code := b.form(item.ID, "approve"), b.form(held.ID, "")
	for _, typed := range []string{"", "a wrong passphrase"} {
		form.Set("passphrase", typed)
		code.Set("passphrase", typed)
		for range 5 {
			b.post("/items/"+item.ID, form)
			b.post("/items/"+held.ID+"/code", code)
		}
	}
	form.Set("passphrase", secretWord)
	code.Set("passphrase", secretWord)
	for path, fields := range map[string]url.Values{
		"/items/" + item.ID: form, "/items/" + held.ID + "/code": code,
		"/login": {"name": {"eve"}, "passphrase": {secretWord}},
	} {
		answer := b.post(path, fields)
		if answer.Code != http.StatusTooManyRequests || answer.Header().Get("Retry-After") != "66" {
			t.Errorf("%s after ten wrong ones: %d, Retry-After %q", path, answer.Code, answer.Header().Get("Retry-After"))
		}
	}
	s.now = s.now.Add(67 * time.Second) // the window of a minute moves in tenths
	if answer := b.post("/items/"+item.ID, form); answer.Code != http.StatusSeeOther {
		t.Errorf("a minute later: %d %s", answer.Code, answer.Body)
	}
}

// Nobody is asked for a passphrase in vain: what would not count anyway is said without looking at it.
func TestPassphrasesAreNotCheckedInVain(t *testing.T) {
	s := newSite(t, nil)
	b := s.person("eve")
	item := s.ask(func(q *approve.Question) { q.Danger, q.Cooldown = gen.Dangerous, time.Minute })
	form := b.form(item.ID, "approve")
	form.Set("revision", s.revision(item.ID))
	form.Set("passphrase", "a wrong passphrase")
	answer := b.post("/items/"+item.ID, form)
	if answer.Code != http.StatusUnprocessableEntity || !strings.Contains(answer.Body.String(), "cannot be approved yet") {
		t.Errorf("%d %s", answer.Code, answer.Body)
	}
}
