package policy_test

import (
	"os"
	"path/filepath"
	"testing"

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
