package operator_test

import (
	"bytes"
	"net/url"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/console/setup"
	"github.com/aqltag/aqltag/runtime/internal/invite"
	"github.com/aqltag/aqltag/runtime/operator"
)

// Who has typed the passphrase is shown a link, on the terminal and nowhere else, that lets the person in.
func TestLink(t *testing.T) {
	const served = "http://127.0.0.1:9090/"
	for name, tt := range map[string]struct {
		served       string // where the state says that it is; empty: nowhere
		known, keyed bool
		at           string
		typed        string
		code         int
		says, begins string
	}{
		"where it is served": {served: served, known: true, typed: passphrase, begins: served + "link/"},
		"where somebody else may have written it": {served: "https://ops.example/", known: true, code: 1,
			says: "whoever can write the state"},
		"where nobody else has written it": {served: "https://ops.example/", known: true, keyed: true, typed: passphrase,
			begins: "https://ops.example/link/"},
		"where nothing is served": {known: true, typed: passphrase, code: 1, says: "no console of this state"},
		"with a wrong passphrase": {served: served, known: true, typed: "a wrong one, I guess", code: 2, says: "is wrong"},
		"without a passphrase":    {served: served, code: 2, says: "no passphrase yet"},
		"at an address": {served: served, known: true, at: "https://ops.example/console", typed: passphrase,
			begins: "https://ops.example/console/link/"},
		"at one of this machine": {known: true, at: "http://[::1]:9090", typed: passphrase,
			begins: "http://[::1]:9090/link/"},
		"at one without HTTPS":   {known: true, at: "http://ops.example", code: 3, says: "-at is"},
		"at none":                {known: true, at: "ops.example", code: 3, says: "-at is"},
		"at one with a question": {known: true, at: "https://ops.example/?x=", code: 3, says: "-at is"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHolding(t, tt.known)
			if tt.keyed {
				h.Keys = [][]byte{bytes.Repeat([]byte("k"), 32)}
			}
			if tt.served != "" {
				place := []byte(`{"url":"` + tt.served + `"}`)
				if _, err := h.State.Put(t.Context(), setup.PlacePart+"here/9090", place, 0, 0); err != nil {
					t.Fatal(err)
				}
			}
			h.types(tt.typed)
			code := h.run(t, operator.Flags{At: tt.at}, "link")
			if code != tt.code || !strings.Contains(h.stderr.String(), tt.says) {
				t.Errorf("code %d, want %d with %q: %s", code, tt.code, tt.says, &h.stderr)
			}
			screen := h.terminal.String()
			_, secret, found := strings.Cut(screen, "/link/")
			if found != (tt.code == 0) || !strings.Contains(screen, tt.begins) || strings.Contains(h.stdout.String(), "/link/") {
				t.Fatalf("the terminal shows %s, and besides it there is %s", screen, &h.stdout)
			}
			if !found {
				return
			}
			secret, _, _ = strings.Cut(secret, "\n")
			if _, err := url.Parse(tt.begins + secret); err != nil {
				t.Error(err)
			}
			link, err := invite.Book{Store: h.State, Now: h.Now}.Find(t.Context(), secret)
			if err != nil || link.Who.Subject != "eve" {
				t.Errorf("the link is of %+v, %v", link, err)
			}
		})
	}
}
