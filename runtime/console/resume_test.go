package console_test

import (
	"html"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/approve"
)

// Whose session ends while they fill in a form logs in again, also after a mistake, and finds what was typed. Nothing
// is decided by that, and no passphrase is carried on.
func TestWhatWasTypedIsNotLost(t *testing.T) {
	s := newSite(t, nil)
	const reason, value = `The note is a "copy" <b>`, "n1"
	eve := s.person("eve")
	item := s.ask(func(q *approve.Question) { factors(q); q.Needs.Factors, q.Lifetime = nil, time.Hour })
	form := eve.form(item.ID, "approve")
	for field, text := range map[string]string{"reason": reason, "typed": value, "passphrase": "another secret word"} {
		form.Set(field, text)
	}
	s.now = s.now.Add(31 * time.Minute)
	answer := eve.post("/items/"+item.ID, form)
	if answer.Code != http.StatusUnauthorized {
		t.Fatalf("the form of an old session is answered with %d %s", answer.Code, answer.Body)
	}
	for _, passphrase := range []string{"a wrong passphrase", secretWord} {
		page := answer.Body.String()
		if !strings.Contains(page, `action="/login"`) || strings.Contains(page, "another secret word") {
			t.Fatalf("the page has no form to log in, or a secret: %s", page)
		}
		again := url.Values{"name": {"eve"}, "passphrase": {passphrase}}
		for _, field := range regexp.MustCompile(`<input type="hidden" name="(\w+)" value="([^"]*)"`).
			FindAllStringSubmatch(page, -1) {
			again.Set(field[1], html.UnescapeString(field[2]))
		}
		answer = eve.post("/login", again)
	}
	page := answer.Body.String()
	for _, has := range []string{
		`name="reason" value="The note is a &#34;copy&#34; &lt;b&gt;"`, `name="typed" value="n1"`, "Nothing was decided",
	} {
		if answer.Code != http.StatusOK || !strings.Contains(page, has) {
			t.Errorf("after the log-in, without %s: %d %s", has, answer.Code, page)
		}
	}
	if state := s.get(item.ID).State; state != approve.Open {
		t.Errorf("the item is %s", state)
	}
	for _, field := range hidden.FindAllStringSubmatch(page, -1) {
		form.Set(field[1], field[2])
	}
	if answer := eve.post("/items/"+item.ID, form); answer.Code != http.StatusSeeOther {
		t.Errorf("the form that the page has is answered with %d %s", answer.Code, answer.Body)
	}
	if state := s.get(item.ID).State; state != approve.Approved {
		t.Errorf("then the item is %s", state)
	}
}

// No address fills in a form: what a person says is what they have typed.
func TestAddressesFillInNoForm(t *testing.T) {
	s := newSite(t, nil)
	eve, item := s.person("eve"), s.ask(nil)
	const query = "?reason=planted&typed=planted&item=ask_1"
	for name, answer := range map[string]answer{
		"item": eve.get("/items/" + item.ID + query), "login": s.browser().get("/login" + query),
		"refused": s.browser().post("/items/"+item.ID+query, nil),
		"logged in": s.browser().post("/login"+query, url.Values{
			"name": {"eve"}, "passphrase": {secretWord}, "item": {item.ID},
		}),
	} {
		if strings.Contains(answer.Body.String(), "planted") {
			t.Errorf("%s: %d %s", name, answer.Code, answer.Body)
		}
	}
}
