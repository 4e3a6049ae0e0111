package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/passphrase"
)

// enrol gives a person a role, beside an admin whose name is root.
func (s *site) enrol(name string, role identity.Role) {
	s.t.Helper()
	book := passphrase.Book{Store: s.store, Rounds: 10}
	for _, who := range []struct {
		name string
		role identity.Role
	}{{"root", identity.Admin}, {name, role}} {
		known, err := book.Account(s.t.Context(), identity.User(who.name))
		if err == nil {
			err = book.Enrol(s.t.Context(), identity.User(who.name), known.Version, secretWord, who.role)
		}
		if err != nil {
			s.t.Fatal(err)
		}
	}
}

// as returns the browser of a person with a role, who is logged in.
func (s *site) as(name string, role identity.Role) *browser {
	s.t.Helper()
	s.enrol(name, role)
	return s.browser().logIn(name)
}

// filled returns a form that decides about an item, as a page has it for who may decide. A person of a lesser role may
// write one by hand.
func (b *browser) filled(id, answer string) url.Values {
	b.t.Helper()
	page := b.get("/").Body.String()
	found := hidden.FindStringSubmatch(page)
	if found == nil {
		b.t.Fatalf("the page has no token: %s", page)
	}
	return url.Values{
		"csrf": {found[2]}, "revision": {b.revision(id)}, "answer": {answer}, "reason": {"fine"}, "passphrase": {secretWord},
	}
}

// Issue 19: who may do what. What a page does not offer does not count either when it is sent, and all see everything.
func TestRoles(t *testing.T) {
	for name, tt := range map[string]struct {
		role             identity.Role
		who              string
		what             string // answer, or code
		held             bool
		status           int
		says             string
		offers, offersNo string // in the page of the item
	}{
		"a viewer approves": {
			role: identity.Viewer, what: "approve", status: 403, says: "You may look", offersNo: `method="post" action="/items`,
		},
		"a viewer denies": {
			role: identity.Viewer, what: "deny", status: 403, says: "You may look", offersNo: `method="post" action="/items`,
		},
		"a viewer denies what it asks itself": {
			role: identity.Viewer, who: "ann", what: "deny", status: 403, says: "You may look",
			offersNo: `method="post" action="/items`,
		},
		"a viewer sees a code": {
			role: identity.Viewer, held: true, what: "code", status: 403, says: "You may look",
			offersNo: `method="post" action="/items`,
		},
		"a viewer lifts a block": {
			role: identity.Viewer, held: true, what: "approve", status: 403, says: "You may look",
			offersNo: `method="post" action="/items`,
		},
		"an approver approves": {role: identity.Approver, what: "approve", status: 303, offers: "Approve once"},
		"an approver denies":   {role: identity.Approver, what: "deny", status: 303, offers: "Deny"},
		"an approver approves what it asks itself": {
			role: identity.Approver, who: "ann", what: "approve", status: 403, says: "Who asks cannot approve",
			offersNo: "Approve once",
		},
		"an approver approves what it asks itself, in other letters": {
			role: identity.Approver, who: "ANN", what: "approve", status: 403, says: "Who asks cannot approve",
			offersNo: "Approve once",
		},
		"an approver denies what it asks itself": {
			role: identity.Approver, who: "ann", what: "deny", status: 303, offers: "Deny",
		},
		"an approver sees a code": {
			role: identity.Approver, held: true, what: "code", status: 200, offers: "Show the code",
			offersNo: "Let the agent go on",
		},
		"an approver sees a code of its own agent": {
			role: identity.Approver, who: "ann", held: true, what: "code", status: 403, says: "Who asks cannot approve",
			offersNo: "Show the code",
		},
		"an approver lifts a block": {
			role: identity.Approver, held: true, what: "approve", status: 403, says: "Only an admin",
			offersNo: "Let the agent go on",
		},
		"an admin approves what it asks itself": {
			role: identity.Admin, who: "ann", what: "approve", status: 303, offers: "Approve once",
		},
		"an admin sees a code": {role: identity.Admin, held: true, what: "code", status: 200, offers: "Show the code"},
		"an admin lifts a block": {
			role: identity.Admin, held: true, what: "approve", status: 303, offers: "Let the agent go on",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, nil)
			if tt.who == "" {
				tt.who = "eve"
			}
			b := s.as(tt.who, tt.role)
			var item approve.Item
			if tt.held {
				item = s.hold(isBlocked)
			} else {
				item = s.ask(nil)
			}
			page := b.get("/items/" + item.ID)
			if text := page.Body.String(); page.Code != http.StatusOK || !strings.Contains(text, tt.offers) ||
				tt.offersNo != "" && strings.Contains(text, tt.offersNo) {
				t.Errorf("the page, %d, has not %q or has %q:\n%s", page.Code, tt.offers, tt.offersNo, text)
			}
			path, form := "/items/"+item.ID, b.filled(item.ID, tt.what)
			if tt.what == "code" {
				path += "/code"
			}
			answer := b.post(path, form)
			text := answer.Body.String()
			if answer.Code != tt.status || !strings.Contains(text, tt.says) {
				t.Errorf("%d, want %d with %q:\n%s", answer.Code, tt.status, tt.says, text)
			}
			if shown := shownCode.MatchString(text); shown != (tt.status == http.StatusOK) {
				t.Errorf("a code is shown: %t", shown)
			}
			if decided := s.get(item.ID).State != approve.Open; decided != (tt.status == http.StatusSeeOther) {
				t.Errorf("the item is %s", s.get(item.ID).State)
			}
		})
	}
}

// Who gets another role is logged out, and has it after the next login.
func TestAnotherRoleEndsSessions(t *testing.T) {
	s := newSite(t, nil)
	b := s.as("eve", identity.Approver)
	s.enrol("eve", identity.Viewer)
	if answer := b.get("/"); answer.Code != http.StatusSeeOther {
		t.Errorf("the session goes on: %d", answer.Code)
	}
	item := s.ask(nil)
	b.logIn("eve")
	if answer := b.post("/items/"+item.ID, b.filled(item.ID, "approve")); answer.Code != http.StatusForbidden {
		t.Errorf("with the role from before: %d", answer.Code)
	}
}
