package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/scratch"
)

// grownPackage is a package of 100 operations that were not written for agents: no example, no description of a
// parameter, identifiers of 64 bits, parameters of many types, and one mistake.
func grownPackage() string {
	var b strings.Builder
	b.WriteString("package grown\n")
	for i := range 100 {
		category, verb := "READ", "Get"
		switch i % 10 {
		case 3:
			category, verb = "DELETE", "Delete"
		case 6:
			category, verb = "UPDATE", "Drop"
		}
		state := []string{"string", "bool", "float64"}[i%3]
		fmt.Fprintf(&b, "\ntype Request%d struct {\n\t_ struct{} `aql:\"category=%s\"`\n\tID int64 `aql:\"id\"`\n"+
			"\tState %s `validate:\"required,iscolor\"`\n\tLimit string\n\tSize%d, Weight%d int\n}\n\n",
			i, category, state, i, i)
		fmt.Fprintf(&b, "// %sThing%d handles thing %d.\nfunc %sThing%d(req Request%d) error { return nil }\n",
			verb, i, i, verb, i, i)
	}
	b.WriteString("\ntype Wrong struct {\n\t_ struct{} `aql:\"catagory=READ\"`\n}\n\n" +
		"func Last(req Wrong) error { return nil }\n")
	return b.String()
}

// lint runs aql-tag lint on a package with the given source.
func lint(t *testing.T, source string, args ...string) (stdout, stderr string) {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("GOWORK", "off")
	if err := scratch.Write(dir, "example.com/app"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "app.go"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	var out, errors bytes.Buffer
	env := &environment{dir: dir, stdout: &out, stderr: &errors, cache: t.TempDir()}
	if code := run(context.Background(), env, append([]string{"lint"}, args...)); code != exitSource {
		t.Fatalf("exit code %d, want %d\n%s%s", code, exitSource, &out, &errors)
	}
	return out.String(), errors.String()
}

// B12: what lint says of a package of 100 operations fits on two screens, the worst first.
func TestLintFitsOnTwoScreens(t *testing.T) {
	_, text := lint(t, grownPackage())
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) > 100 {
		t.Errorf("%d lines, want at most 100", len(lines))
	}
	for _, line := range lines {
		if len(line) > 400 {
			t.Errorf("a line of %d bytes: %s", len(line), line)
		}
	}
	heading := regexp.MustCompile(`^app\.go:\d+:\d+: (?:(warning|note): )?(?:(\d+) )?([^:]*)`)
	var got []string
	for _, line := range lines {
		if m := heading.FindStringSubmatch(line); m != nil {
			got = append(got, strings.TrimSpace(m[1]+" "+m[2]+" "+m[3]))
		}
	}
	want := []string{
		`there is no key "catagory"`,
		"warning 20 destructive operations without a reason",
		"warning 10 operations that only their names make dangerous",
		"warning 10 names that say another category than that of the operation",
		"warning 100 identifiers of 64 bits that travel as numbers",
		"warning 60 parameters that differ from those of the same name",
		"warning 90 parameters that have a name of the protocol and another type",
		"warning 100 rules of other libraries that need a look",
		"warning 500 parameters without a description",
		"warning 101 operations without an example",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the entries (-want +got):\n%s\n%s", diff, text)
	}
	if !strings.Contains(text, "Request0.ID (:5), Request0.State (:6), Request0.Limit (:7)") {
		t.Errorf("the first few of an entry are not named:\n%s", text)
	}
}

// B12: -json has every finding whatever -max says, -max 0 prints each by itself, and -max N leaves none uncounted.
func TestLintMax(t *testing.T) {
	source := grownPackage()
	count := func(args ...string) (json1, text string) { return lint(t, source, args...) }
	out, _ := count("-json", "-max", "1")
	var all []struct{ Severity, Message string }
	if err := json.Unmarshal([]byte(out), &all); err != nil {
		t.Fatal(err)
	}
	_, text := count("-max", "0")
	each := regexp.MustCompile(`(?m)^app\.go:\d+:\d+: `).FindAllString(text, -1)
	if len(each) != len(all) || len(all) < 900 {
		t.Errorf("-max 0 prints %d findings, -json has %d; want the same number, of 900 or more", len(each), len(all))
	}
	_, text = count("-max", "2")
	tally := fmt.Sprintf("%d findings: 1 error, %d warnings; %d are not shown; -max 0 prints each by itself\n", len(all),
		len(all)-1, len(all)-21)
	if !strings.HasSuffix(text, "\n"+tally) {
		t.Errorf("the last line of\n%s\nis not %s", text, tally)
	}
}
