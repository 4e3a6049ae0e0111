package operator_test

import (
	"regexp"
	"testing"

	"github.com/aqltag/aqltag/runtime/identity"
	"github.com/aqltag/aqltag/runtime/operator"
	"github.com/google/go-cmp/cmp"
)

var digests = regexp.MustCompile(`"digest":"[0-9a-f]{32}"`)

// Everybody at the desk sees who decides, and in which role.
func TestPeople(t *testing.T) {
	h := newHolding(t, false)
	for _, tt := range []struct {
		flags operator.Flags
		want  string
	}{
		{operator.Flags{}, "Nobody has a passphrase, and nobody has a role.\n"}, {operator.Flags{JSON: true}, ""},
	} {
		h.types()
		if code := h.run(t, tt.flags, "people"); code != 0 {
			t.Fatalf("code %d: %s", code, &h.stderr)
		}
		if diff := cmp.Diff(tt.want, h.stdout.String()); diff != "" {
			t.Errorf("nobody: %s", diff)
		}
	}
	h = as(t, identity.Viewer)
	h.terminal = nil
	h.stdout.Reset()
	if code := h.run(t, operator.Flags{}, "people"); code != 0 {
		t.Fatalf("code %d: %s", code, &h.stderr)
	}
	if diff := cmp.Diff("eve   viewer\nroot  admin\n", h.stdout.String()); diff != "" {
		t.Error(diff)
	}
	h.stdout.Reset()
	if code := h.run(t, operator.Flags{JSON: true}, "people"); code != 0 {
		t.Fatalf("code %d: %s", code, &h.stderr)
	}
	const want = `{"name":"eve","issuer":"stdio","role":"viewer","digest":"DIGEST"}` + "\n" +
		`{"name":"root","issuer":"stdio","role":"admin","digest":"DIGEST"}` + "\n"
	if diff := cmp.Diff(want, digests.ReplaceAllString(h.stdout.String(), `"digest":"DIGEST"`)); diff != "" {
		t.Error(diff)
	}
}
