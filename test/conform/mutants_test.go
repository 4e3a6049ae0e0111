package conform_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/conform"
)

// mutant is a server that is broken in one way, and the check that must find it.
type mutant struct {
	check       string
	what        string
	broken      mutated
	destructive bool
	base        func(t *testing.T) conform.Server // default: the example in semantic mode
	also        []string                          // other checks that cannot but be red with it, sorted or not
	open        []string                          // checks that cannot be judged with it, sorted
}

// Each mutant turns exactly the expected checks red, the one that is meant for it first of all, and exactly the
// expected ones are not judged (A14).
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
			want := slices.Sorted(slices.Values(append([]string{m.check}, m.also...)))
			var red, open []string
			for _, r := range report.Results() {
				switch r.Verdict {
				case conform.Fail, conform.Warn:
					red = append(red, r.Name)
					if !slices.Contains(want, r.Name) {
						t.Logf("%s: %s", r.Name, runError(r))
					}
				case conform.NotJudged:
					open = append(open, r.Name)
				}
			}
			slices.Sort(red)
			if diff := cmp.Diff(want, red); diff != "" {
				t.Errorf("the checks that are red (-want +got):\n%s", diff)
			}
			slices.Sort(open)
			if diff := cmp.Diff(m.open, open); diff != "" {
				t.Errorf("the checks that are not judged (-want +got):\n%s", diff)
			}
		})
	}
}

func mutants() []mutant {
	return slices.Concat(introspectionMutants(), parameterMutants(), endpointMutants(), featureMutants(), listMutants(),
		roundTripMutants(), errorMutants())
}

// Every check fails for some mutant: one that cannot fail would prove nothing.
func TestEveryCheckHasAMutant(t *testing.T) {
	for _, c := range conform.Checks() {
		has := slices.ContainsFunc(mutants(), func(m mutant) bool { return m.check == c.Name })
		elsewhere := []string{ // TestOtherMode, TestRedirects, TestRelated, TestComputed and TestRelationships have these
			"modes/both", "tools/redirects", "fields/related", "fields/related-unknown", "fields/related-depth",
			"fields/computed", "fields/computed-unknown", "collections/computed", "relationships/depth",
			"relationships/type", "relationships/include", "relationships/nodes", "relationships/edges",
		}
		if !has && !slices.Contains(elsewhere, c.Name) {
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

// explained are the reasons why something of the example is not judged: nothing that the run creates is found by its
// search, purge_completed runs only when a person has typed something, and nothing tells that import_todos makes what
// get_execution reads.
var explained = []string{
	"operation get_execution does not succeed, so its defaults do not show",
	"operation purge_completed is confirmed by a person, and gives no token",
	"operation purge_completed is confirmed by a person, and there is none to ask",
	"operation purge_completed is confirmed by a person, and does not say what it makes of a token",
	"operation purge_completed is denied with and without a token, because there is nobody to ask",
	"operation purge_completed does not succeed, so its defaults do not show",
	"operation purge_completed destroys something that this run did not create",
	"operation search_todos has no items, so the size of a page does not show",
	"the list of operation search_todos is empty, so there is nothing to select from",
}

// expectPerfect fails unless every check that applies was judged and passes, but for what is explained, and unless
// nothing deviates (A14).
func expectPerfect(t *testing.T, report *conform.Report) {
	t.Helper()
	for _, r := range report.Results() {
		switch r.Verdict {
		case conform.Fail, conform.Warn:
			t.Errorf("%s: %s", r.Name, runError(r))
		case conform.NotJudged:
			t.Errorf("%s is not judged: %s", r.Name, r.Reason)
		}
		for _, why := range r.NotJudged {
			if !slices.Contains(explained, why) {
				t.Errorf("%s is judged in part: %s", r.Name, why)
			}
		}
	}
	if len(report.Deviations) > 0 {
		t.Errorf("deviations: %+v", report.Deviations)
	}
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
			expectPerfect(t, report)
			if t.Failed() {
				t.Fatalf("mode %s, seed %d", mode, seed+1)
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
	return list(func(data map[string]any) {
		if protocol := data["_protocol"].(map[string]any); protocol["capabilities"] != nil { // that of a page has none
			change(protocol)
		}
	})
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
