package policy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/policy"
)

// Every mistake with its text and its place. testdata/mistakes.txtar holds policies, and beside each what is said about it.
func TestMistakes(t *testing.T) {
	golden := filepath.Join("testdata", "mistakes.txtar")
	archive, err := txtar.ParseFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var written []txtar.File
	for i, file := range archive.Files {
		if filepath.Ext(file.Name) != ".yaml" {
			continue
		}
		got := said(file.Name, file.Data)
		want := ""
		if i+1 < len(archive.Files) && filepath.Ext(archive.Files[i+1].Name) == ".said" {
			want = string(archive.Files[i+1].Data)
		}
		if got == "" {
			t.Errorf("%s: nothing is wrong", file.Name)
		}
		if !*update {
			diff(t, want, got)
		}
		written = append(written, file, txtar.File{Name: strings.TrimSuffix(file.Name, ".yaml") + ".said", Data: []byte(got)})
	}
	if *update {
		archive.Files = written
		if err := os.WriteFile(golden, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// said is what is wrong with a policy, by itself or for the todos.
func said(name string, text []byte) string {
	p, err := policy.Parse(name, text)
	if err == nil {
		_, err = p.Bind(todos())
	}
	if err == nil {
		return ""
	}
	return err.Error() + "\n"
}

// What cannot be written in an archive.
func TestMistakesOfBytes(t *testing.T) {
	for text, want := range map[string]string{
		"":                              "p.yaml:1:1: the file is empty; a policy that says nothing is `version: 1` and `rules: []`",
		"version: 1\nrules: \xff":       "p.yaml:2:8: the file is not valid UTF-8",
		"version: 1\nrules: a\x00b":     "p.yaml:2:9: the file is not YAML: control characters are not allowed (value: 0)",
		"version: 1\r\nrule: []\r\n":    "p.yaml:2:1: a policy has no key \"rule\"; did you mean rules?",
		"\ufeffversion: 1\nrules: {}\n": "p.yaml:2:8: rules is keys and values; it must be a list of rules, each beginning with \"- name:\"",
	} {
		_, err := policy.Parse("p.yaml", []byte(text))
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

// Policies from Go have no lines; rules are told by their names.
func TestMistakesOfGoPolicies(t *testing.T) {
	_, err := (&policy.Policy{Default: "alow", Rules: []policy.Rule{
		{},
		{Name: "a", Effect: policy.Deny, Operations: []string{"delete_*", "{a,b}"}, Cooldown: -1},
		{Name: "a", Effect: policy.Confirm, Danger: gen.Safe, When: []policy.Condition{{Param: "x", In: []any{1, struct{}{}}}, {Equals: 1}}},
	}}).Bind(todos())
	if err == nil {
		t.Fatal("nothing is wrong")
	}
	diff(t, `default: default is "alow"; it must be allow, confirm or deny; did you mean allow?
rule number 1: name: the rule has no name; explanations and audit records need one
rule number 1: effect: the rule has no effect; write effect: allow, confirm or deny
rule number 1: the rule applies to every call; if this is meant, write operations: ["*"]
rule a: operations[1]: {a,b}: "{" does not list alternatives here; write a pattern for each
rule a: cooldown: cooldown is for effect: confirm, and the effect is deny
rule a: cooldown: cooldown is -1ns; it must be between 0 and 1h0m0s
rule a: name: the name a is taken by rule number 2
rule a: when[0].in[1]: a value is a text, a number or a boolean
rule a: when[1].param: the condition names no parameter; write param: and its name`, err.Error())

	type status string
	_, err = (&policy.Policy{Rules: []policy.Rule{{Name: "a", Effect: policy.Deny, When: []policy.Condition{
		{Param: "filter.status", In: []any{status("done"), status("dnoe")}},
	}}}}).Bind(todos())
	if err == nil || err.Error() != `rule a: when[0].in[1]: in: "dnoe" is no value of filter.status; did you mean done?` {
		t.Error(err)
	}
}
