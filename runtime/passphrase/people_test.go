package passphrase_test

import (
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/passphrase"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Everybody with a passphrase is listed by name, with the role.
func TestPeople(t *testing.T) {
	book := passphrase.Book{Store: new(store.Memory), Rounds: 10}
	want := []passphrase.Person(nil)
	check := func(when string) {
		t.Helper()
		got, err := book.People(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(passphrase.Person{}, "Digest")); diff != "" {
			t.Errorf("%s: %s", when, diff)
		}
	}
	check("nobody")
	if err := book.Choose(t.Context(), eve, 0, "correct horse battery"); err != nil {
		t.Fatal(err)
	}
	want = []passphrase.Person{{Who: eve, Role: identity.Admin}}
	check("who was never given a role")
	if err := book.Enrol(t.Context(), bob, 0, "correct horse battery", identity.Viewer); err != nil {
		t.Fatal(err)
	}
	want = []passphrase.Person{{Who: bob, Role: identity.Viewer}, {Who: eve, Role: identity.Admin}}
	check("two")
	if err := book.Enrol(t.Context(), bob, account(t, book, bob).Version, "", identity.Approver); err != nil {
		t.Fatal(err)
	}
	want[0].Role = identity.Approver
	check("another role")
	if err := book.Choose(t.Context(), bob, account(t, book, bob).Version, "another passphrase"); err != nil {
		t.Fatal(err)
	}
	check("another passphrase")
}

// Whose entry has no name, or one that is not theirs, is listed without one. Whose entry cannot be read may do nothing.
func TestPeopleWithoutNames(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(text string) string
		want   passphrase.Person
	}{
		"an earlier version": {func(text string) string {
			before, _, _ := strings.Cut(text, `,"name"`)
			return before + "}"
		}, passphrase.Person{Role: identity.Admin}},
		"the name of somebody else": {func(text string) string {
			return strings.Replace(text, `"name":"eve"`, `"name":"bob"`, 1)
		}, passphrase.Person{Role: identity.Admin}},
		"a later role": {func(text string) string {
			return strings.Replace(text, `"role":"admin"`, `"role":"root"`, 1)
		}, passphrase.Person{}},
		"damaged": {func(text string) string { return text[1:] }, passphrase.Person{}},
	} {
		t.Run(name, func(t *testing.T) {
			state := new(store.Memory)
			book := passphrase.Book{Store: state, Rounds: 10}
			if err := book.Enrol(t.Context(), eve, 0, "correct horse battery", identity.Admin); err != nil {
				t.Fatal(err)
			}
			entries, err := state.List(t.Context(), "", "", 10)
			if err != nil || len(entries) != 1 {
				t.Fatal(entries, err)
			}
			before := string(entries[0].Value)
			after := tt.change(before)
			if before == after {
				t.Fatalf("nothing is changed: %s", before)
			}
			if _, err := state.Put(t.Context(), entries[0].Key, []byte(after), entries[0].Version, 0); err != nil {
				t.Fatal(err)
			}
			got, err := book.People(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			tt.want.Digest = strings.TrimPrefix(entries[0].Key, "operator/passphrase/")
			if diff := cmp.Diff([]passphrase.Person{tt.want}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
