package operator_test

import (
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/operator"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Who gives whom a role is on record before it is done, and that it failed afterwards.
func TestRolesAreOnRecord(t *testing.T) {
	h := as(t, identity.Admin)
	book := new(records)
	h.Audit = audit.New(audit.Options{Sinks: []audit.Sink{book}, Wait: true})
	of := func(who, role string, outcome audit.Outcome) audit.Record {
		return audit.Record{
			Event: audit.RoleGiven, Adapter: "notes", Outcome: outcome, Rule: "terminal", Caller: h.Who,
			Parameters: []byte(`{"person":"` + who + `","role":"` + role + `"}`), Identifiers: []string{"person", "role"},
		}
	}
	h.types(passphrase)
	if code := h.run(t, operator.Flags{Role: "approver"}, "enrol", "root"); code != 0 {
		t.Fatalf("code %d: %s", code, &h.stderr)
	}
	h.types(passphrase)
	if code := h.run(t, operator.Flags{Role: "viewer"}, "enrol"); code != 2 { // the last admin
		t.Fatalf("code %d: %s", code, &h.stderr)
	}
	want := records{
		of("root", "approver", audit.Allowed), of("eve", "viewer", audit.Allowed), of("eve", "viewer", audit.Failure),
	}
	if diff := cmp.Diff(want, *book, cmpopts.IgnoreFields(audit.Record{}, "Time", "ID")); diff != "" {
		t.Error(diff)
	}
}

// A role that cannot be recorded is not given.
func TestUnrecordedRoles(t *testing.T) {
	h := as(t, identity.Admin)
	h.Audit = audit.New(audit.Options{Sinks: []audit.Sink{new(records)}, Wait: true})
	if err := h.Audit.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	h.types(passphrase)
	code := h.run(t, operator.Flags{Role: "viewer"}, "enrol", "root")
	if code != 1 || !strings.Contains(h.stderr.String(), "nobody is given a role") {
		t.Errorf("code %d: %s", code, &h.stderr)
	}
	h.types()
	if h.run(t, operator.Flags{}, "people"); !strings.Contains(h.stdout.String(), "root  admin") {
		t.Errorf("people are:\n%s", &h.stdout)
	}
}
