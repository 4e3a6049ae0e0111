package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/gen"
)

// A person logs in, sees what waits, and approves it. What is decided waits no more.
func TestApprove(t *testing.T) {
	s, b := newSite(t), open(t)
	id := s.ask(nil)
	b.visit(s.at(id)) // a link leads to the item, after the login
	b.types("#name", "eve")
	b.types("#passphrase", secretWord)
	b.click("main button")
	b.waitFor("button[value=approve]")
	b.types("#reason", "The note is a copy")
	b.click("button[value=approve]")
	b.waitFor("#rows")
	b.waitForText("delete_note is approved.")
	b.waitForText("Nothing waits for a decision")
	if state := s.stateOf(id); state != approve.Approved {
		t.Errorf("the item is %s", state)
	}
}

// A person finds an item in the inbox, and denies it.
func TestDeny(t *testing.T) {
	s, b := newSite(t), open(t)
	id := s.ask(nil)
	s.logIn(b, "eve")
	b.click("#rows h3 a")
	b.waitFor("button[value=deny]")
	b.types("#reason", "Not on a Friday")
	b.click("button[value=deny]")
	b.waitForText("delete_note is denied.")
	if state := s.stateOf(id); state != approve.Denied {
		t.Errorf("the item is %s", state)
	}
}

// A wrong passphrase lets nobody in, and says so.
func TestWrongPassphrase(t *testing.T) {
	s, b := newSite(t), open(t)
	b.visit(s.url)
	b.types("#name", "eve")
	b.types("#passphrase", "a wrong passphrase")
	b.click("main button")
	b.waitFor("[role=alert]")
	b.visit(s.url)
	b.waitFor("#passphrase")
}

// The code of a challenge is shown once. Going back to its page shows none, and neither does the page of the item.
func TestCodeOnce(t *testing.T) {
	s, b := newSite(t), open(t)
	id := s.hold(nil)
	s.logIn(b, "eve")
	b.visit(s.at(id))
	s.showCode(b)
	code := b.text("#secret")
	if len(strings.ReplaceAll(code, "-", "")) != 26 {
		t.Errorf("the code is %q", code)
	}
	b.click(".back a")
	b.waitFor("main:not(:has(#secret)) h1")
	b.hasNo(code)
	// The browser has kept no copy, and does not send the form again by itself.
	if err := b.Do(chromedp.NavigateBack()); err != nil && !strings.Contains(err.Error(), "ERR_CACHE_MISS") {
		t.Fatal(err)
	}
	b.hasNo(code)
	b.visit(s.at(id))
	b.hasNo(code)
}

// What is dangerous is approved with the passphrase once more, and denied without it.
func TestPassphraseOnceMore(t *testing.T) {
	s, b := newSite(t), open(t)
	dangerous := func(q *approve.Question) { q.Operation, q.Danger = "empty_trash", gen.Dangerous }
	approved, denied := s.ask(dangerous), s.ask(dangerous)
	s.logIn(b, "eve")
	b.visit(s.at(approved))
	b.types("#reason", "The trash is copied")
	b.click("button[value=approve]")
	b.waitForText("This takes your passphrase once more")
	if state := s.stateOf(approved); state != approve.Open {
		t.Errorf("the item is %s", state)
	}
	b.types("#passphrase", secretWord)
	b.click("button[value=approve]")
	b.waitForText("empty_trash is approved.")
	b.visit(s.at(denied))
	b.click("button[value=deny]")
	b.waitForText("empty_trash is denied.")
}

// Two people have the same item open. The vote of the second does not count, and the page says so.
func TestTwoTabs(t *testing.T) {
	s, first := newSite(t), open(t)
	id := s.ask(nil)
	s.logIn(first, "eve")
	second := first.another()
	first.visit(s.at(id))
	second.visit(s.at(id))
	first.click("button[value=deny]")
	first.waitForText("is denied.")
	second.waitForText("This item has changed meanwhile.") // by itself
	second.click("button[value=approve]")
	second.waitForText("Somebody was faster, and your answer does not count.")
	if state := s.stateOf(id); state != approve.Denied {
		t.Errorf("the item is %s", state)
	}
}

// After the log-out, the button for going back shows nothing of what waited.
func TestBackAfterLogOut(t *testing.T) {
	s, b := newSite(t), open(t)
	id := s.ask(nil)
	s.logIn(b, "eve")
	b.visit(s.at(id))
	b.click("header button")
	b.waitFor("#passphrase")
	b.do(chromedp.NavigateBack())
	b.waitFor("#passphrase")
	b.hasNo("delete_note")
}

// A session ends while its person fills in a form. They log in again, and nothing that was typed is lost.
func TestSessionEndsInAForm(t *testing.T) {
	s, b := newSite(t), open(t)
	id := s.ask(nil)
	s.logIn(b, "eve")
	b.visit(s.at(id))
	b.types("#reason", "The note is a copy")
	sessions, err := s.state.List(t.Context(), "console/session/", "", 10)
	if err != nil || len(sessions) != 1 {
		t.Fatal(sessions, err)
	}
	if err := s.state.Delete(t.Context(), sessions[0].Key, sessions[0].Version); err != nil {
		t.Fatal(err)
	}
	b.click("button[value=approve]")
	b.waitForText("Your session has ended, and nothing was done.")
	b.types("#name", "eve")
	b.types("#passphrase", secretWord)
	b.click("main button")
	b.waitFor("#reason")
	reason := run(b, chromedp.Evaluate[string](`document.getElementById('reason').value`))
	if reason != "The note is a copy" {
		t.Errorf("the form has the reason %q", reason)
	}
	if state := s.stateOf(id); state != approve.Open {
		t.Errorf("the item is %s", state)
	}
	b.click("button[value=approve]")
	b.waitForText("delete_note is approved.")
}

// Everything works without script.
func TestWithoutScript(t *testing.T) {
	s, b := newSite(t), open(t)
	approved, held := s.ask(nil), s.hold(nil)
	if err := b.WithoutScript(); err != nil {
		t.Fatal(err)
	}
	s.logIn(b, "eve")
	b.visit(s.at(held))
	s.showCode(b)
	b.visit(s.at(approved))
	b.click("button[value=approve]")
	b.waitForText("delete_note is approved.")
	if state := s.stateOf(approved); state != approve.Approved {
		t.Errorf("the item is %s", state)
	}
}

// A person who has only a keyboard gets to everything, and sees where the focus is.
func TestKeyboard(t *testing.T) {
	s, b := newSite(t), open(t)
	id := s.ask(nil)
	press := func(keys string) { b.t.Helper(); b.do(chromedp.KeyEvent(keys)) }
	// to presses the tab key until an element has the focus.
	to := func(selector string) {
		t.Helper()
		for range 30 {
			press(kb.Tab)
			if run(b, chromedp.Evaluate[bool](`document.activeElement.matches('`+selector+`')`)) {
				if run(b, chromedp.Evaluate[string](`getComputedStyle(document.activeElement).outlineStyle`)) == "none" {
					t.Errorf("nothing shows that %s has the focus", selector)
				}
				return
			}
		}
		t.Fatalf("the tab key does not get to %s", selector)
	}
	b.visit(s.url)
	to("#name")
	press("eve")
	to("#passphrase")
	press(secretWord + kb.Enter)
	b.waitFor("#rows")
	to(".skip")
	press(kb.Enter)
	to("#rows h3 a")
	press(kb.Enter)
	b.waitFor("button[value=approve]")
	to("#reason")
	press("The note is a copy")
	to("button[value=approve]")
	press(kb.Enter)
	b.waitForText("delete_note is approved.")
	if state := s.stateOf(id); state != approve.Approved {
		t.Errorf("the item is %s", state)
	}
}

// The inbox follows what happens. What has the focus stays where it is until it has it no more, and the page
// says so.
func TestFollowing(t *testing.T) {
	s, b := newSite(t), open(t)
	s.logIn(b, "eve")
	first := s.ask(nil)
	b.waitFor(`#rows a[href$="` + first + `"]`)
	b.do(chromedp.Focus(chromedp.CSS("#rows h3 a")))
	s.ask(func(q *approve.Question) { q.Operation = "share_note" })
	b.waitForText("2 items at")
	if run(b, chromedp.Evaluate[int](`document.querySelectorAll('#rows h3').length`)) != 1 ||
		!run(b, chromedp.Evaluate[bool](`document.activeElement.matches('#rows h3 a')`)) {
		t.Error("the rows were replaced although one of them has the focus")
	}
	b.waitForText("What is below has changed, and is shown anew once you leave it.")
	if title := run(b, chromedp.Title()); title != "Waiting: 2 · notes" {
		t.Errorf("the title is %s", title)
	}
	b.do(chromedp.Focus(chromedp.CSS(".brand a")))
	b.waitForText("share_note")
	b.waitFor("#changed:empty")
}
