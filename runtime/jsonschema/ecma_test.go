package jsonschema

import (
	"encoding/json"
	"os"
	"regexp"
	"testing"
)

// Patterns mean the same to Go and to validators, which e2e/schemas.mjs asks about the same table.
func TestPatternsAreSpelledForBoth(t *testing.T) {
	text, err := os.ReadFile("testdata/patterns.json")
	if err != nil {
		t.Fatal(err)
	}
	var table []struct {
		Go, Schema   string
		Match, Other []string
	}
	if err := json.Unmarshal(text, &table); err != nil {
		t.Fatal(err)
	}
	for _, row := range table {
		spelled, ok := ecma(row.Go)
		if !ok || row.Schema != "" && spelled != row.Schema {
			t.Errorf("%s is spelled %s, %v; want %s", row.Go, spelled, ok, row.Schema)
			continue
		}
		for name, expression := range map[string]string{"as Go has it": row.Go, "as spelled": spelled} {
			compiled, err := regexp.Compile(expression)
			if err != nil {
				t.Errorf("%s: %v", expression, err)
				continue
			}
			for _, s := range row.Match {
				if !compiled.MatchString(s) {
					t.Errorf("%s %s: %q does not match", name, expression, s)
				}
			}
			for _, s := range row.Other {
				if compiled.MatchString(s) {
					t.Errorf("%s %s: %q matches", name, expression, s)
				}
			}
		}
	}
}

func TestLinesWithinTextCannotBeSpelled(t *testing.T) {
	for _, expression := range []string{"(?m)^a$", "(?m:^)"} {
		if spelled, ok := ecma(expression); ok {
			t.Errorf("%s is spelled %s", expression, spelled)
		}
	}
}

func FuzzPattern(f *testing.F) {
	for _, expression := range []string{
		"^a$", "(?i)straße", `[\w-]`, `\pL+`, "a{2,3}?", "(a|b)*", `[^\x00-\x1f]`, `\bx\B`, "(?s).", "[]a]", "{", "a|", "()",
		`[[:^alpha:]]`,
	} {
		f.Add(expression, "aStRAßE-x\n")
	}
	f.Fuzz(func(t *testing.T, expression, text string) {
		compiled, err := regexp.Compile(expression)
		if err != nil {
			t.Skip()
		}
		spelled, ok := ecma(expression)
		if !ok {
			return
		}
		again, err := regexp.Compile(spelled)
		if err != nil {
			t.Skip() // repeats within repeats, which Go bounds
		}
		for _, s := range []string{text, expression, "", "a", "\n"} {
			if compiled.MatchString(s) != again.MatchString(s) {
				t.Errorf("%q is spelled %q, and the two disagree about %q", expression, spelled, s)
			}
		}
	})
}
