package redis

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLocations(t *testing.T) {
	type read struct {
		Network, Addr, User, Password string
		DB                            int
		Space, TLS, Shown             string
	}
	for location, want := range map[string]read{
		"redis://":                       {"tcp", "localhost:6379", "", "", 0, "aql", "", "redis:"},
		"redis://localhost":              {"tcp", "localhost:6379", "", "", 0, "aql", "", "redis://localhost"},
		"redis://h:1/2":                  {"tcp", "h:1", "", "", 2, "aql", "", "redis://h:1/2"},
		"redis://:p%40%2F@h/":            {"tcp", "h:6379", "", "p@/", 0, "aql", "", "redis://h/"},
		"redis://u:p@[::1]:7?space=todo": {"tcp", "[::1]:7", "u", "p", 0, "todo", "", "redis://[::1]:7"},
		"redis://[::1]":                  {"tcp", "[::1]:6379", "", "", 0, "aql", "", "redis://[::1]"},
		"rediss://u:p@example.org/1": {"tcp", "example.org:6379", "u", "p", 1, "aql", "example.org",
			"rediss://example.org/1"},
		"redis+unix:///run/r.sock": {"unix", "/run/r.sock", "", "", 0, "aql", "", "redis+unix:///run/r.sock"},
		"redis+unix://:p@/r?db=3&space=x": {
			"unix", "/r", "", "p", 3, "x", "", "redis+unix:///r",
		},
	} {
		p, err := parse(location)
		if err != nil {
			t.Errorf("%s: %v", location, err)
			continue
		}
		got := read{Network: p.options.Network, Addr: p.options.Addr, User: p.options.Username, Password: p.options.Password,
			DB: p.options.DB, Space: p.space, Shown: p.shown}
		if p.options.TLSConfig != nil {
			got.TLS = p.options.TLSConfig.ServerName
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", location, diff)
		}
	}
}

// A password with a character that a URL cannot have is not in the error about it.
func TestWrongLocationsAreRefusedWithoutTellingThem(t *testing.T) {
	for location, says := range map[string]string{
		"":                                "must have the form",
		"secret":                          "must have the form",
		"redis:secret":                    "must have the form",
		"http://secret":                   "must have the form",
		"redis://u:sec/ret@h":             "must have the form",
		"redis://u:sec ret@h":             "must have the form",
		"redis://u:sec%ret@h":             "must have the form",
		"redis://u:sec#ret@h":             "must have the form",
		"redis://:12/secret@h":            "its database must be a number",
		"redis://u:sec?ret@h":             "must have the form",
		"redis://secret@h":                "names a user without a password",
		"redis://h/secret":                "its database must be a number",
		"redis://h/-1":                    "its database must be a number",
		"redis://h/1/2":                   "its database must be a number",
		"redis://h?space=sec}ret":         "its option space must be",
		"redis://h?space=":                "its option space must be",
		"redis://h?space=a&space=b":       "its options can be",
		"redis://h?db=1":                  "its options can be",
		"redis://h?max_retries=secret":    "its options can be",
		"redis://:12?secret=sec@h":        "its options can be",
		"redis://h?a=%zz":                 "must have the form",
		"redis+unix://secret/r.sock":      "must have the form",
		"redis+unix://":                   "must have the form",
		"redis+unix:///":                  "must have the form",
		"redis+unix:///r.sock?db=secret":  "its database must be a number",
		"redis+unix:///r.sock?password=x": "its options can be",
	} {
		_, err := Open(context.Background(), location)
		if err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v, want %q", location, err, says)
			continue
		}
		for _, part := range []string{"secret", "sec", "ret@"} {
			if strings.Contains(err.Error(), part) {
				t.Errorf("%s: the error quotes it: %v", location, err)
			}
		}
	}
}

// However a location is written, an error does not show its password, nor does what is shown of it.
func FuzzParse(f *testing.F) {
	for _, location := range []string{"redis://u:%@h:1/2?space=a", "rediss://:%@h", "redis+unix://u:%@/r?db=1",
		"redis://%@", "redis://h:%", "%"} {
		f.Add(location)
	}
	const password = "Xs3cretX"
	f.Fuzz(func(t *testing.T, pattern string) {
		if strings.Contains(pattern, password) {
			return
		}
		user, rest, found := strings.Cut(pattern, "%")
		if !found {
			return
		}
		p, err := parse(user + password + rest)
		if err != nil {
			if strings.Contains(err.Error(), password) {
				t.Errorf("%q: %v", pattern, err)
			}
			return
		}
		if p.options.Password != "" && strings.Contains(p.options.Password, password) && strings.Contains(p.shown, password) {
			t.Errorf("%q is shown as %s", pattern, p.shown)
		}
		if p.options.MaxRetries != -1 || !p.options.ContextTimeoutEnabled {
			t.Errorf("%q: changes could be made twice, or calls outlive their context", pattern)
		}
	})
}
