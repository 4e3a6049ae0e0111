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

// Every mistake that Bind finds, with its text and its place. testdata/mistakes.txtar holds policies for the todos,
// each followed by its mistakes.
func TestMistakesOfBind(t *testing.T) {
	golden := filepath.Join("testdata", "mistakes.txtar")
	archive, err := txtar.ParseFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	var rewritten []txtar.File
	for i, file := range archive.Files {
		if filepath.Ext(file.Name) != ".yaml" {
			continue
		}
		got, want := "", ""
		if _, err := parseNamed(t, file.Name, string(file.Data)).Bind(todos()); err != nil {
			got = err.Error() + "\n"
		} else {
			t.Errorf("%s: no mistakes", file.Name)
		}
		if i+1 < len(archive.Files) && filepath.Ext(archive.Files[i+1].Name) == ".want" {
			want = string(archive.Files[i+1].Data)
		}
		if !*update {
			diff(t, want, got)
		}
		rewritten = append(
			rewritten, file, txtar.File{Name: strings.TrimSuffix(file.Name, ".yaml") + ".want", Data: []byte(got)},
		)
	}
	if *update {
		archive.Files = rewritten
		if err := os.WriteFile(golden, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Policies made in Go have no lines: their mistakes name rules.
func TestMistakesOfGoPolicies(t *testing.T) {
	_, err := (&policy.Policy{Default: "alow", Rules: []policy.Rule{
		{},
		{Name: "a", Effect: policy.Deny, Operations: []string{"delete_*", "{a,b}"}, Cooldown: -1},
		{
			Name: "a", Effect: policy.Confirm, Danger: gen.Safe,
			When: []policy.Condition{{Param: "x", In: []any{1, struct{}{}}}, {Equals: 1}},
		},
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
rule a: cooldown: cooldown is -1ns; it must be between 0 and 1h
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
