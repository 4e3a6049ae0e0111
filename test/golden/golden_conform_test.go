package golden_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/conform"
)

// goldenServer is the adapter of a golden package as conform sees it.
type goldenServer struct {
	p        *adapterProcess
	scenario string
}

func (s goldenServer) Tools(context.Context) ([]conform.Tool, error) {
	var all []conform.Tool
	for _, family := range []string{"create", "read", "update", "delete", "execute"} {
		all = append(all, conform.Tool{Name: "mcp_aql_" + family, Description: "introspect"})
	}
	return all, nil
}

func (s goldenServer) Call(_ context.Context, tool string, arguments json.RawMessage) (conform.Reply, error) {
	text := string(s.p.call(s.scenario, tool, string(arguments)))
	return conform.Reply{Text: text, IsError: strings.Contains(text, `"code":"INTERNAL_`)}, nil
}

// ofService are the checks that depend on what a service does and says, more than on what is generated of it: golden
// packages keep nothing, describe little, and have handlers that fail.
var ofService = []string{
	"introspect/descriptions", "introspect/examples", "constraints/documented", "fields/supported", "pages/offset",
	"errors/not-found", "errors/internal",
}

// judged reports whether a check counts for a golden package. The constraints of a list are all the generator's, and
// two of the computed fields fail on purpose.
func judged(scenario, check string) bool {
	if scenario == "collections/computed" && check == "fields/computed" {
		return false
	}
	return !slices.Contains(ofService, check) || scenario == "collections/list" && check == "constraints/documented"
}

// What the generator makes of packages of every kind conforms (REQ-CL-01, REQ-CL-04, REQ-GE-04).
func conformGolden(t *testing.T, driver string, scenarios []*scenario) {
	p := startAdapters(t, driver)
	for _, s := range scenarios {
		if _, ok := s.file("calls.txt"); !ok {
			continue
		}
		t.Run(s.name, func(t *testing.T) {
			p.t = t
			report, err := conform.Run(t.Context(), goldenServer{p, s.name}, conform.Options{AllowDestructive: true})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range report.Results() {
				if (r.Verdict == conform.Fail || r.Verdict == conform.Warn) && judged(s.name, r.Name) {
					for _, f := range r.Findings[:min(3, len(r.Findings))] {
						t.Errorf("%s %s: %s", r.Verdict, r.Name, f.Message)
						for _, e := range f.Evidence {
							t.Logf("> %.400s\n< %.600s", e.Request, e.Response)
						}
					}
				}
			}
		})
	}
}
