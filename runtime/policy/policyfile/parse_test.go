package policyfile_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/policy/policyfile"
)

// Every key sets its field. testdata/every_key.yaml has them all; the tests of package policy bind it to an adapter.
func TestEveryKey(t *testing.T) {
	want := &policy.Policy{Default: policy.Confirm, Rules: []policy.Rule{
		{
			Name: "no-production-deletes", Effect: policy.Deny, Operations: []string{"delete_*", "purge_completed"},
			Categories: []gen.Category{gen.Delete}, Danger: gen.Destructive, Callers: []string{"ci-*"},
			Issuers: []string{"https://*.example"},
			Scopes:  []string{"admin", "todos:write"}, Anonymous: new(false), Reason: "Removing is not for machines",
			Not: policy.Exception{
				Operations: []string{"create_todo"}, Callers: []string{"ci-trusted"}, Issuers: []string{"stdio"},
				Scopes: []string{"root"},
			},
		},
		{
			Name: "large-purges", Effect: policy.Confirm, Operations: []string{"purge_completed"}, Cooldown: 90 * time.Second,
			Reauthenticate: true,
			Approvers: &policy.Approvers{
				Count: 2, Groups: []string{"ops", "wheel"}, NotRequester: true, ReasonRequired: true, Within: time.Hour,
			},
			When: []policy.Condition{
				{
					Param: "older_than_days", LessThan: json.Number("30"), GreaterThan: json.Number("-1"), AtLeast: json.Number("0"),
					AtMost: json.Number("29.5"), NotIn: []any{json.Number("7")},
				},
				{Param: "keep", Given: new(false)},
			},
		},
		{
			Name: "lists", Effect: policy.Allow, Operations: []string{"list_todos"}, When: []policy.Condition{
				{
					Param: "filter.status", In: []any{"done", "open"}, NotEquals: "open", Like: "d*", NotLike: "op?n",
					Given: new(true),
				},
				{Param: "limit", Equals: json.Number("1e2")},
			},
		},
	}}
	text, err := os.ReadFile(filepath.Join("testdata", "every_key.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := policyfile.Parse("every_key.yaml", text)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, got, cmpopts.IgnoreFields(policy.Policy{}, "Source")); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if err := want.Validate(nil).Err(); err != nil {
		t.Error(err)
	}
}

func TestFilesAreBounded(t *testing.T) {
	var many strings.Builder
	many.WriteString("version: 1\nrules:\n")
	for range 1001 {
		many.WriteString("  - {name: a, effect: deny, danger: safe}\n")
	}
	for name, tt := range map[string]struct{ text, want string }{
		"long":       {strings.Repeat("#", 1<<20+1), "p.yaml:1:1: the file is longer than 1048576 bytes"},
		"many rules": {many.String(), "p.yaml:3:3: there are 1001 rules; a policy has no more than 1000"},
		"deep":       {strings.Repeat("[", 100_000), "p.yaml:1:"},
		"many mistakes": {
			"version: 1\ndefault: deny\n" + strings.Repeat("x: 1\n", 5000), "and 4900 more mistakes, from here on",
		},
		"a bomb of aliases": {
			"version: 1\na: &a [x, x]\nb: &b [*a, *a, *a]\nc: [*b, *b, *b]\n", "p.yaml:2:1: a policy has no key \"a\"",
		},
	} {
		_, err := policyfile.Parse("p.yaml", []byte(tt.text))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %.300v", name, err)
		}
	}
}

// Parse returns for every text: with a policy, or with mistakes whose positions are in the text.
func FuzzParse(f *testing.F) {
	text, err := os.ReadFile(filepath.Join("testdata", "every_key.yaml"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(text))
	f.Add("version: 1\nrules: [{name: a, effect: deny, operations: [\"*\"], when: [{param: tags.*, in: [x]}]}]")
	f.Add("version: 1\ndefault: deny")
	f.Add("a: [*b]")
	f.Add("{? [] : !x y, \"\\u00e9\": &a 'b'}")
	f.Add("version: 1\nrules:\n- name: |\n    a\n  effect: no\n  when: [{param: a..b, equals: 0x1F}]\n")
	f.Add("\"\r\r")
	// What ends a line in YAML.
	ends := strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n")
	f.Fuzz(func(t *testing.T, text string) {
		_, err := policyfile.Parse("p.yaml", []byte(text))
		if err == nil {
			return
		}
		var mistakes policy.Mistakes
		if !errors.As(err, &mistakes) || len(mistakes) == 0 {
			t.Fatalf("%T: %v", err, err)
		}
		lines := strings.Split(ends.Replace(text), "\n")
		for _, m := range mistakes {
			if m.Line < 1 || m.Line > len(lines)+1 || m.Column < 1 || m.Message == "" {
				t.Errorf("a mistake without a place in the text: %+v", m)
			}
		}
	})
}
