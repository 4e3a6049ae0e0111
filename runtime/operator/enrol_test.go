package operator_test

import (
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/operator"
)

const adminWord = "the word of an admin"

// as returns a desk at which eve has a role and the passphrase, given by root, who is admin.
func as(t *testing.T, role identity.Role) *holding {
	t.Helper()
	h := newHolding(t, false)
	eve := h.Who
	h.Who = identity.User("root")
	h.types(adminWord, adminWord)
	if code := h.run(t, operator.Flags{}, "passphrase"); code != 0 {
		t.Fatalf("root has no passphrase: code %d, %s", code, &h.stderr)
	}
	h.types(adminWord, passphrase, passphrase)
	if code := h.run(t, operator.Flags{Role: string(role)}, "enrol", "eve"); code != 0 {
		t.Fatalf("eve is not enrolled: code %d, %s", code, &h.stderr)
	}
	h.Who = eve
	return h
}

// Issue 19: the subcommands hold people to their roles as the console does.
func TestRoles(t *testing.T) {
	for name, tt := range map[string]struct {
		role identity.Role
		word string
		own  bool // what it asks itself
		code int
		says string
	}{
		"a viewer approves":       {role: identity.Viewer, word: "approve", code: 2, says: "you may look"},
		"a viewer denies":         {role: identity.Viewer, word: "deny", code: 2, says: "you may look"},
		"a viewer sees a code":    {role: identity.Viewer, word: "show-code", code: 2, says: "you may look"},
		"a viewer unblocks":       {role: identity.Viewer, word: "unblock", code: 2, says: "you may look"},
		"a viewer lists":          {role: identity.Viewer, word: "list", says: "delete_note"},
		"an approver approves":    {role: identity.Approver, word: "approve", says: "is approved"},
		"an approver denies":      {role: identity.Approver, word: "deny", says: "is denied"},
		"an approver sees a code": {role: identity.Approver, word: "show-code"},
		"an approver unblocks": {
			role: identity.Approver, word: "unblock", code: 2, says: "only an admin lets an agent go on",
		},
		"an approver approves its own": {
			role: identity.Approver, own: true, word: "approve", code: 2, says: "who asks cannot approve",
		},
		"an approver sees a code of its own": {
			role: identity.Approver, own: true, word: "show-code", code: 2, says: "who asks cannot approve",
		},
		"an approver denies its own": {role: identity.Approver, own: true, word: "deny", says: "is denied"},
		"an admin approves its own":  {role: identity.Admin, own: true, word: "approve", says: "is approved"},
		"an admin sees a code":       {role: identity.Admin, own: true, word: "show-code"},
		"an admin unblocks":          {role: identity.Admin, word: "unblock", says: "is not blocked any more"},
	} {
		t.Run(name, func(t *testing.T) {
			h := as(t, tt.role)
			if tt.own {
				h.caller = identity.User("eve")
			}
			id := h.ask(t, func(q *approve.Question) { q.Caller = h.caller })
			words := []string{tt.word, id}
			switch tt.word {
			case "show-code", "unblock":
				_, words[1] = h.hold(t, true)
			case "list":
				words = words[:1]
			}
			h.types(passphrase, tt.word, "fine")
			code := h.run(t, operator.Flags{Reason: "fine"}, words...)
			said := h.stdout.String() + h.stderr.String()
			if code != tt.code || !strings.Contains(said, tt.says) {
				t.Errorf("code %d, want %d with %q: %s", code, tt.code, tt.says, said)
			}
			if shown := shownCode.MatchString(h.terminal.String()); shown != (tt.word == "show-code" && tt.code == 0) {
				t.Errorf("a code is shown: %t", shown)
			}
		})
	}
}

// Roles come from admins, who type their passphrase. Nobody gives oneself a greater one.
func TestEnrol(t *testing.T) {
	for name, tt := range map[string]struct {
		role  identity.Role // of eve, who enrols; empty: there is nobody in the state
		words []string
		flags operator.Flags
		typed []string
		code  int
		says  string
	}{
		"an admin enrols somebody": {
			role: identity.Admin, words: []string{"bob"}, flags: operator.Flags{Role: "viewer"},
			typed: []string{passphrase, adminWord, adminWord}, says: "bob is viewer from now on",
		},
		"an admin without the passphrase": {
			role: identity.Admin, words: []string{"bob"}, flags: operator.Flags{Role: "viewer"},
			typed: []string{"a wrong one, I guess", adminWord, adminWord}, code: 2, says: "is wrong",
		},
		"an admin gives somebody another role": {
			role: identity.Admin, words: []string{"root"}, flags: operator.Flags{Role: "approver"},
			typed: []string{passphrase}, says: "root is approver from now on",
		},
		"an approver enrols somebody": {
			role: identity.Approver, words: []string{"bob"}, flags: operator.Flags{Role: "viewer"},
			typed: []string{passphrase, adminWord, adminWord}, code: 2, says: "only an admin",
		},
		"an approver becomes admin": {
			role: identity.Approver, flags: operator.Flags{Role: "admin"}, typed: []string{passphrase}, code: 2,
			says: "only an admin",
		},
		"an approver becomes viewer": {
			role: identity.Approver, flags: operator.Flags{Role: "viewer"}, typed: []string{passphrase},
			says: "eve is viewer from now on",
		},
		"a role that there is not": {
			role: identity.Admin, words: []string{"bob"}, flags: operator.Flags{Role: "root"}, code: 3, says: "no role",
		},
		"no role": {role: identity.Admin, words: []string{"bob"}, code: 3, says: "-role"},
		"the first is admin": {
			flags: operator.Flags{Role: "admin"}, typed: []string{passphrase, passphrase}, says: "eve is admin from now on",
		},
		"the first is viewer": {
			flags: operator.Flags{Role: "viewer"}, typed: []string{passphrase, passphrase}, code: 2,
			says: "nobody else is admin",
		},
		"the first enrols somebody else": {
			words: []string{"bob"}, flags: operator.Flags{Role: "viewer"}, code: 2, says: "no passphrase yet",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHolding(t, false)
			if tt.role != "" {
				h = as(t, tt.role)
			}
			h.types(tt.typed...)
			code := h.run(t, tt.flags, append([]string{"enrol"}, tt.words...)...)
			if said := h.stdout.String() + h.stderr.String(); code != tt.code || !strings.Contains(said, tt.says) {
				t.Errorf("code %d, want %d with %q: %s", code, tt.code, tt.says, said)
			}
		})
	}
}

// Where people have roles, who has none looks, also after choosing a passphrase.
func TestWhoComesLaterLooks(t *testing.T) {
	h := as(t, identity.Viewer)
	h.Who = identity.User("bob")
	id := h.ask(t, nil)
	for _, typed := range [][]string{{"approve"}, {passphrase, passphrase}, {passphrase, "approve"}} {
		words, want := []string{"approve", id}, 2
		if len(typed) == 2 && typed[1] == passphrase {
			words, want = []string{"passphrase"}, 0
		}
		h.types(typed...)
		if code := h.run(t, operator.Flags{}, words...); code != want || h.state(t, id) != approve.Open {
			t.Errorf("%s: code %d, the item is %s: %s", words[0], code, h.state(t, id), &h.stderr)
		}
	}
}
