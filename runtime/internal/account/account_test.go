package account

import (
	"os/user"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAccountsAreThoseOfTheFile(t *testing.T) {
	const file = "root:x:0:0:root:/root:/bin/sh\n\n#old:x:1000:1000::/old:/bin/sh\n+:x:1000:1000:::\n" +
		":x:1000:1000::/:/bin/sh\n" +
		"half:x:1000\nann:x:1000:100:Ann,,,:/home/ann:/bin/sh\ntwin:x:1000:100::/home/twin:/bin/sh\n"
	for uid, want := range map[int]*user.User{
		0:    {Uid: "0", Gid: "0", Username: "root", HomeDir: "/root"},
		1000: {Uid: "1000", Gid: "100", Username: "ann", HomeDir: "/home/ann"},
		100:  nil,
		-1:   nil,
	} {
		got, err := find(strings.NewReader(file), uid)
		if diff := cmp.Diff(want, got); diff != "" || (err == nil) != (want != nil) {
			t.Errorf("%d: %v (-want +got)\n%s", uid, err, diff)
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
}
