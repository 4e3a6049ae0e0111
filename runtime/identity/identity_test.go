package identity

import "testing"

// What a caller is called cannot make it another one.
func TestKeysAreUnambiguous(t *testing.T) {
	callers := []Caller{
		{}, {Subject: "anonymous"}, {Subject: `b"`, Issuer: `"a`}, {Subject: "b", Issuer: `"a"`}, {Subject: `a""b`},
		{Subject: "b", Issuer: "a"},
		{Subject: "ab"}, {Subject: "a", Issuer: "b"}, {Subject: "stdio"}, Owner(),
	}
	seen := make(map[string]Caller)
	for _, c := range callers {
		if other, taken := seen[c.Key()]; taken {
			t.Errorf("%+v and %+v have one key", c, other)
		}
		seen[c.Key()] = c
	}
	if a, b := (Caller{Subject: "a", Scopes: []string{"x"}}), (Caller{Subject: "a"}); a.Key() != b.Key() {
		t.Error("a caller with other scopes is another caller")
	}
}

func TestOwnerIsKnown(t *testing.T) {
	if owner := Owner(); owner.Anonymous() || owner.Issuer != "stdio" {
		t.Errorf("%+v", owner)
	}
}
