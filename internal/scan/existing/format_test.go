package existing

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/internal/scan/foreigntag"
)

// The page about existing tags tells which rules of validator have a format or a pattern: those, and no others.
func TestDocumentedRules(t *testing.T) {
	page, err := os.ReadFile("../../../docs/tags.md")
	if err != nil {
		t.Fatal(err)
	}
	_, formats, ok := strings.Cut(string(page), "| rule | format |\n|---|---|\n")
	formats, patterns, ok2 := strings.Cut(formats, "These have a pattern")
	patterns, _, ok3 := strings.Cut(patterns, "\n\n")
	if !ok || !ok2 || !ok3 {
		t.Fatal("the page has no table of formats with the patterns below it")
	}
	quoted := regexp.MustCompile("`([^`]+)`")
	rule := func(text string) foreigntag.Rule {
		name, param, _ := strings.Cut(text, "=")
		return foreigntag.Rule{Name: name, Param: param}
	}
	for row := range strings.Lines(strings.TrimSpace(formats)) {
		rules, format, _ := strings.Cut(strings.Trim(strings.TrimSpace(row), "| "), " | ")
		for _, match := range quoted.FindAllStringSubmatch(rules, -1) {
			want := strings.Trim(format, "`")
			if want == "of the same name" {
				want = match[1]
			}
			if got := formatOf(rule(match[1])); got != want {
				t.Errorf("format of %s: %q, documented as %q", match[1], got, want)
			}
		}
	}
	documented := map[string]bool{}
	for _, match := range quoted.FindAllStringSubmatch(patterns, -1) {
		r := rule(match[1])
		documented[r.Name] = true
		if patternOf(r) == "" {
			t.Errorf("%s has no pattern", match[1])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(plainPatterns)) {
		if !documented[name] {
			t.Errorf("the pattern of %s is not documented", name)
		}
	}
}
