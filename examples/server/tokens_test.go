package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/mcpserver"
)

func sum(token string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(token))) }

// A token is good for its owner, with the scopes of its line.
func TestTokensHaveOwners(t *testing.T) {
	file := "# of 2026\n\n" + sum("one") + " ann\n" + sum("two") + "  bob read admin\n"
	known, err := parseTokens(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	for token, want := range map[string]aql.Caller{
		"one": {Subject: "ann", Issuer: "todo", Scopes: []string{}},
		"two": {Subject: "bob", Issuer: "todo", Scopes: []string{"read", "admin"}},
	} {
		got, until, err := known.verify(t.Context(), token)
		if err != nil || !until.After(time.Now()) {
			t.Errorf("%s: %v, until %s", token, err, until)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", token, diff)
		}
	}
	for _, token := range []string{"", "three", sum("one")} {
		if _, _, err := known.verify(t.Context(), token); !errors.Is(err, mcpserver.ErrInvalidToken) {
			t.Errorf("%q: %v", token, err)
		}
	}
}

// What is wrong with a file is said by its line, and quotes nothing of it: it may be a token.
func TestTokensThatAreRefused(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"a token and not its sum", "secret ann", "line 1: it does not begin with a SHA-256"},
		{"a sum that is too short", "\n00ff ann", "line 2: it does not begin with a SHA-256"},
		{"nobody's", sum("one"), "line 1: it does not say whose token this is"},
		{"twice", sum("one") + " ann\n" + sum("one") + " bob", "line 2: the token is in the file twice"},
		{"none", "# nothing yet\n", "it has no token"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := parseTokens(strings.NewReader(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "secret") {
				t.Errorf("%v, and not %s", err, tt.want)
			}
		})
	}
}
