package account

import (
	"errors"
	"os/user"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAccountsAreThoseOfTheFile(t *testing.T) {
	const file = "root:x:0:0:root:/root:/bin/sh\n\n#old:x:1000:1000::/old:/bin/sh\n+:x:1000:1000:::\n" +
		":x:1000:1000::/:/bin/sh\n" +
		"half:x:1000\nann:x:1000:100:Ann,,,:/home/ann:/bin/sh\ntwin:x:1000:100::/home/twin:/bin/sh\n"
	ann := &user.User{Uid: "1000", Gid: "100", Username: "ann", HomeDir: "/home/ann"}
	twin := &user.User{Uid: "1000", Gid: "100", Username: "twin", HomeDir: "/home/twin"}
	none := errors.New("none")
	for value, want := range map[string]struct {
		field int
		*user.User
	}{
		"0":    {idField, &user.User{Uid: "0", Gid: "0", Username: "root", HomeDir: "/root"}},
		"1000": {idField, ann}, "100": {idField, nil}, "-1": {idField, nil},
		"ann": {nameField, ann}, "twin": {nameField, twin},
		"half": {nameField, nil}, "old": {nameField, nil}, "+": {nameField, nil}, "": {nameField, nil},
	} {
		got, err := findIn(strings.NewReader(file), value, want.field, none)
		if diff := cmp.Diff(want.User, got); diff != "" || (err == nil) != (want.User != nil) {
			t.Errorf("%q: %v (-want +got)\n%s", value, err, diff)
		}
	}
}

// Where the operating system knows no account, as in a container that runs as any user, and there is no C library, the
// environment makes none up.
func TestTheEnvironmentNamesNobody(t *testing.T) {
	t.Setenv("USER", "bob")
	t.Setenv("HOME", "/home/bob")
	if account, err := Current(); err == nil && account.Username == "bob" {
		t.Error("the environment has chosen the name bob")
	}
	if account, err := Lookup("bob"); err == nil && account.HomeDir == "/home/bob" && guesses {
		t.Errorf("the environment has made up %+v", account)
	}
}
