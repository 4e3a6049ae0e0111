package operator_test

import (
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/internal/logout"
	"github.com/aqltag/aqltag/runtime/operator"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Admins end the sessions of everybody, and everybody its own, with the passphrase. It is on record before it is done.
func TestLogout(t *testing.T) {
	const issuer = "https://login.example"
	for name, tt := range map[string]struct {
		role         identity.Role
		who, issuer  string
		typed        string
		code         int
		says, ending string // whose sessions end, with its issuer; empty: nobody's
	}{
		"an admin, of somebody with a passphrase": {
			role: identity.Admin, who: "root", typed: passphrase, says: "root is logged out", ending: "stdio",
		},
		"an admin, of somebody who logs in elsewhere": {
			role: identity.Admin, who: "248289761001", issuer: issuer, typed: passphrase,
			says: `Whoever was logged in to the console as "248289761001" of ` + issuer, ending: issuer,
		},
		"an admin, of a name that nobody has": {
			role: identity.Admin, who: "rot", typed: passphrase, code: 2, says: "nobody of this name has a passphrase",
		},
		"an admin without the passphrase": {
			role: identity.Admin, who: "root", typed: "a wrong one, I guess", code: 2, says: "is wrong",
		},
		"an approver, of somebody else": {
			role: identity.Approver, who: "root", typed: passphrase, code: 2, says: "only an admin",
		},
		"an approver, of who has the same name elsewhere": {
			role: identity.Approver, who: "eve", issuer: issuer, typed: passphrase, code: 2, says: "only an admin",
		},
		"a viewer, of itself": {
			role: identity.Viewer, who: "eve", typed: passphrase, says: "eve is logged out", ending: "stdio",
		},
	} {
		t.Run(name, func(t *testing.T) {
			h := as(t, tt.role)
			book := new(records)
			h.Audit = audit.New(audit.Options{Sinks: []audit.Sink{book}, Wait: true})
			h.types(tt.typed)
			code := h.run(t, operator.Flags{Issuer: tt.issuer}, "logout", tt.who)
			if said := h.stdout.String() + h.stderr.String(); code != tt.code || !strings.Contains(said, tt.says) {
				t.Errorf("code %d, want %d with %q: %s", code, tt.code, tt.says, said)
			}
			var want records
			if tt.ending != "" {
				want = records{{
					Event: audit.SessionsEnded, Adapter: "notes", Outcome: audit.Allowed, Rule: "terminal", Caller: h.Who,
					Parameters:  []byte(`{"issuer":"` + tt.ending + `","person":"` + tt.who + `"}`),
					Identifiers: []string{"person", "issuer"},
				}}
			}
			if diff := cmp.Diff(want, *book, cmpopts.IgnoreFields(audit.Record{}, "Time", "ID"),
				cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
			for _, of := range []string{"stdio", issuer} {
				era, err := logout.Book{Store: h.State}.Era(t.Context(), identity.Caller{Subject: tt.who, Issuer: of})
				if err != nil || (era != "") != (tt.ending == of) {
					t.Errorf("the era of %s by %s is %q, %v", tt.who, of, era, err)
				}
			}
		})
	}
}

// Sessions whose end cannot be recorded go on.
func TestUnrecordedLogouts(t *testing.T) {
	h := as(t, identity.Admin)
	h.Audit = audit.New(audit.Options{Sinks: []audit.Sink{new(records)}, Wait: true})
	if err := h.Audit.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.types(passphrase)
	code := h.run(t, operator.Flags{}, "logout", "root")
	if code != 1 || !strings.Contains(h.stderr.String(), "nobody is logged out") {
		t.Errorf("code %d: %s", code, &h.stderr)
	}
	if era, err := (logout.Book{Store: h.State}).Era(t.Context(), identity.User("root")); err != nil || era != "" {
		t.Errorf("the era is %q, %v", era, err)
	}
}
