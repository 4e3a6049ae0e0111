package conform_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/aqltag/aqltag/conform"
)

// mutant is a server that is broken in one way, and the check that must find it.
type mutant struct {
	check       string
	what        string
	broken      mutated
	destructive bool
	base        func(t *testing.T) conform.Server // default: the example in semantic mode
	also        []string                          // other MUSTs that cannot but break with it
}

// Each mutant fails the check that is meant for it, and no other MUST.
func TestMutants(t *testing.T) {
	for i, m := range mutants() {
		if underRace && i%10 > 0 {
			continue // a run is one goroutine: what the detector could find, it finds in some
		}
		t.Run(m.check+" "+m.what, func(t *testing.T) {
			t.Parallel()
			broken := m.broken
			if m.base != nil {
				broken.Server = m.base(t)
			} else {
				broken.Server = newTodo(t, "")
			}
			report, err := conform.Run(t.Context(), &broken, conform.Options{AllowDestructive: m.destructive})
			if err != nil {
				t.Fatal(err)
			}
			var found bool
			for _, r := range report.Results() {
				switch {
				case r.Name == m.check:
					if found = r.Verdict == conform.Fail || r.Verdict == conform.Warn; !found {
						t.Errorf("%s: %s %s", r.Name, r.Verdict, r.Reason)
					}
				case r.Verdict == conform.Fail && !slices.Contains(m.also, r.Name):
					t.Errorf("%s fails, too: %s", r.Name, runError(r))
				}
			}
			if !found {
				t.Errorf("%s did not catch it", m.check)
			}
		})
	}
}

func mutants() []mutant {
	return slices.Concat(introspectionMutants(), parameterMutants(), endpointMutants(), featureMutants(),
		roundTripMutants(), errorMutants())
}

// Every check fails for some mutant: one that cannot fail would prove nothing.
func TestEveryCheckHasAMutant(t *testing.T) {
	for _, c := range conform.Checks() {
		has := slices.ContainsFunc(mutants(), func(m mutant) bool { return m.check == c.Name })
		if !has && c.Name != "modes/both" { // TestOtherMode has that one
			t.Errorf("nothing shows that %s can fail", c.Name)
		}
	}
}

func runError(r conform.Result) string {
	f := r.Findings[0]
	for _, e := range f.Evidence {
		f.Message += fmt.Sprintf("\n  > %s %.300s\n  < %.500s", e.Tool, e.Request, e.Response)
	}
	return f.Message
}

// The example itself passes, so a mutant fails only because of what was broken in it.
func TestSoundAdapter(t *testing.T) {
	seeds := 5
	if underRace {
		seeds = 1
	}
	for _, mode := range []string{"semantic", "single", "all"} {
		for seed := range uint64(seeds) {
			report, err := conform.Run(t.Context(), newTodo(t, mode), conform.Options{AllowDestructive: true, Seed: seed + 1})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range report.Results() {
				if r.Verdict == conform.Fail || r.Verdict == conform.Warn {
					t.Errorf("mode %s, seed %d: %s: %s", mode, seed+1, r.Name, runError(r))
				}
			}
		}
	}
}

// details changes the answer of introspect about one operation.
func details(operation string, change func(d map[string]any)) mutated {
	return mutated{call: func(r request, next call) answer {
		a := next(r)
		if d, ok := a.data()["operation"].(map[string]any); ok && r.operation == "introspect" && d["name"] == operation {
			change(d)
		}
		return a
	}}
}

// parameter changes one parameter in the answer of introspect.
func parameter(operation, name string, change func(d map[string]any)) mutated {
	return details(operation, func(d map[string]any) {
		for _, param := range d["parameters"].([]any) {
			if p := param.(map[string]any); p["name"] == name {
				change(p)
			}
		}
	})
}

// list changes the list of operations.
func list(change func(data map[string]any)) mutated {
	return mutated{call: func(r request, next call) answer {
		a := next(r)
		if _, ok := a.data()["operations"]; ok && r.operation == "introspect" {
			change(a.data())
		}
		return a
	}}
}

// listed changes one entry in the list of operations.
func listed(operation string, change func(d map[string]any)) mutated {
	return list(func(data map[string]any) {
		for _, o := range data["operations"].([]any) {
			if d := o.(map[string]any); d["name"] == operation {
				change(d)
			}
		}
	})
}

// protocol changes _protocol.
func protocol(change func(d map[string]any)) mutated {
	return list(func(data map[string]any) { change(data["_protocol"].(map[string]any)) })
}

// before changes the requests to one operation; empty: to all but introspect.
func before(operation string, change func(r request) request) mutated {
	return mutated{call: func(r request, next call) answer {
		if r.operation == operation || operation == "" && r.operation != "introspect" {
			r = change(r)
		}
		return next(r)
	}}
}

// after changes the answers of one operation; empty: of all.
func after(operation string, change func(r request, a answer) answer) mutated {
	return mutated{call: func(r request, next call) answer {
		a := next(r)
		if r.operation == operation || operation == "" {
			a = change(r, a)
		}
		return a
	}}
}

// tools changes the list of tools.
func tools(name string, change func(tool *conform.Tool)) mutated {
	return mutated{tools: func(all []conform.Tool) []conform.Tool {
		for i := range all {
			if all[i].Name == name {
				change(&all[i])
			}
		}
		return all
	}}
}

// input changes the input of updates.
func input(change func(in map[string]any)) mutated {
	return before("update_todo", func(r request) request {
		in, ok := r.params["input"].(map[string]any)
		if !ok {
			return r
		}
		changed := object(string(text(in)))
		change(changed)
		return r.with("input", changed)
	})
}
