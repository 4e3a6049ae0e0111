package policy_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/internal/wire"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/policy/policyfile"
)

// everyKey returns a policy for the todos that uses every key there is.
func everyKey(t testing.TB) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("policyfile", "testdata", "every_key.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestEveryKeyBinds(t *testing.T) {
	bind(t, *parse(t, everyKey(t)))
}

// Every policy decides as it explains.
func FuzzExplain(f *testing.F) {
	f.Add(everyKey(f))
	f.Add("version: 1\nrules: [{name: a, effect: deny, operations: [\"*\"], when: [{param: tags.*, in: [x]}]}]")
	f.Add("version: 1\ndefault: deny")
	adapter := todos()
	f.Fuzz(func(t *testing.T, text string) {
		p, err := policyfile.Parse("p.yaml", []byte(text))
		if err != nil {
			return
		}
		bound, err := p.Bind(adapter)
		if err != nil {
			return
		}
		for i := range adapter.Operations {
			name := adapter.Operations[i].Name
			given := `{"filter":{"state":"done"},"tags":["a"],"limit":3,"input":{"status":null}}`
			q := policy.Request{Caller: caller("ci-1", "admin"), Value: params(t, given)}
			if d, e := bound.For(name).Decide(q), bound.Explain(name, q); d.Effect != e.Effect {
				t.Errorf("%s: %+v, explained as %+v", name, d, e)
			}
		}
	})
}

// A policy that binds judges every request, and two spellings of one request alike.
func FuzzDecide(f *testing.F) {
	const given = `{"filter":{"state":"done"},"tags":["a"],"limit":3,"input":{"status":null}}`
	f.Add(everyKey(f), given)
	const rule = "version: 1\nrules: [{name: a, effect: deny, operations: [\"*\"], when: "
	f.Add(rule+"[{param: tags.*, in: [x]}]}]", `{"tags":["x"]}`)
	f.Add(rule+"[{param: limit, greater_than: 3}]}]", `{"limit":30e-1}`)
	f.Add("version: 1\ndefault: deny", `{}`)
	adapter := todos()
	f.Fuzz(func(t *testing.T, text, given string) {
		p, err := policyfile.Parse("p.yaml", []byte(text))
		if err != nil {
			return
		}
		bound, err := p.Bind(adapter)
		if err != nil {
			return
		}
		r := wire.NewReader(given, wire.Limits{MaxDepth: 32})
		if r.Kind() != "object" {
			return
		}
		r.Skip()
		r.End()
		if r.Fault() != nil {
			return // no request
		}
		canonical := string(wire.Canonical(nil, given))
		for i := range adapter.Operations {
			name := adapter.Operations[i].Name
			decide := func(text string) policy.Effect {
				q := policy.Request{Caller: caller("ci-1", "admin"), Value: params(t, text)}
				d := bound.For(name).Decide(q)
				if e := bound.Explain(name, q); d.Effect != e.Effect {
					t.Errorf("%s: %+v, explained as %+v", name, d, e)
				}
				return d.Effect
			}
			want := decide(given)
			for _, same := range []string{canonical, respelled(canonical)} {
				if got := decide(same); got != want {
					t.Errorf("%s: %v for %s, %v for %s", name, want, given, got, same)
				}
			}
		}
	})
}

// respelled spells a JSON text in another way: its texts in escapes, with white space around its values.
func respelled(text string) string {
	var b strings.Builder
	inside, escape := false, 0 // runes of an escape that are left
	for _, c := range text {
		switch {
		case escape > 0:
			if escape--; c == 'u' && b.String()[b.Len()-1] == '\\' {
				escape = 4
			}
			b.WriteRune(c)
		case inside && c == '\\':
			escape = 1
			b.WriteRune(c)
		case c == '"':
			inside = !inside
			b.WriteRune(c)
		case inside && c < 0x80:
			fmt.Fprintf(&b, `\u%04x`, c)
		case inside:
			b.WriteRune(c)
		case c == ',' || c == ':' || c == '[' || c == '{':
			b.WriteString(string(c) + " \n\t")
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}
