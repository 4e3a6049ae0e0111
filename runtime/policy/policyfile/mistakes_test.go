package policyfile_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/aqltag/aqltag/runtime/policy/policyfile"
)

var update = flag.Bool("update", false, "write golden files")

// Every mistake that Parse finds, with its text and its place. testdata/mistakes.txtar holds files, each followed by
// its mistakes.
func TestMistakes(t *testing.T) {
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
		if _, err := policyfile.Parse(file.Name, file.Data); err != nil {
			got = err.Error() + "\n"
		} else {
			t.Errorf("%s: no mistakes", file.Name)
		}
		if i+1 < len(archive.Files) && filepath.Ext(archive.Files[i+1].Name) == ".want" {
			want = string(archive.Files[i+1].Data)
		}
		if d := cmp.Diff(want, got); d != "" && !*update {
			t.Errorf("%s (-want +got)\n%s", file.Name, d)
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

// Mistakes in texts that an archive cannot hold.
func TestMistakesOfBytes(t *testing.T) {
	for text, want := range map[string]string{
		"": "p.yaml:1:1: the file is empty; " +
			"a policy that says nothing is `version: 1` and `rules: []`",
		"version: 1\nrules: \xff":    "p.yaml:2:8: the file is not valid UTF-8",
		"version: 1\nrules: a\x00b":  "p.yaml:2:9: the file is not YAML: control characters are not allowed (value: 0)",
		"version: 1\r\nrule: []\r\n": "p.yaml:2:1: a policy has no key \"rule\"; did you mean rules?",
		"\ufeffversion: 1\nrules: {}\n": "p.yaml:2:8: rules is keys and values; it must be a list of rules, each " +
			"beginning with \"- name:\"",
	} {
		_, err := policyfile.Parse("p.yaml", []byte(text))
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
