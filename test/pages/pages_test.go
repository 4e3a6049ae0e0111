package pages

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// pages are all pages with commands, and the tests that run these.
var pages = map[string]string{
	"README.md":               "TestReadme",
	"docs/tutorial.md":        "TestTutorial",
	"docs/clients.md":         "TestTutorial",
	"docs/calling.md":         "TestTutorial",
	"docs/exports.md":         "TestTutorial",
	"docs/ci.md":              "TestTutorial",
	"docs/conformance.md":     "TestTutorial",
	"docs/adopting.md":        "TestAdopting",
	"docs/audit.md":           "TestPagesAboutTheExample",
	"docs/observability.md":   "TestObservability",
	"docs/operators.md":       "TestOperators",
	"docs/security.md":        "TestPagesAboutTheExample",
	"docs/testing.md":         "TestPagesAboutTheExample",
	"examples/todo/README.md": "TestPagesAboutTheExample",
	"docs/collections.md":     "TestCollections",
	"docs/executions.md":      "TestExecutions",
	"docs/safety.md":          "TestSafety",
	"docs/deploy-laptop.md":   "TestLaptopPage of test/deploy",
	"docs/deploy-server.md":   "TestServerPage of test/deploy",
	"docs/deploy-fleet.md":    "TestFleetPage of test/deploy",
	"docs/performance.md":     "make bench; the other commands run a part of it",
}

func TestEveryCommandIsRun(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(repository(t), "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	more, err := filepath.Glob(filepath.Join(repository(t), "examples", "*", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range append(append(files, more...), filepath.Join(repository(t), "README.md")) {
		page, err := filepath.Rel(repository(t), file)
		if err != nil {
			t.Fatal(err)
		}
		if len(only(read(t, page), "sh", "sh background")) > 0 && pages[filepath.ToSlash(page)] == "" {
			t.Errorf("%s has commands, and no test runs them", page)
		}
	}
}

// only returns the blocks of some kinds.
func only(blocks []Block, kinds ...string) []Block {
	return slices.DeleteFunc(blocks, func(block Block) bool { return !slices.Contains(kinds, block.Kind) })
}

// The README is a whole adapter, plugged into a client. Two more tests are about its text blocks:
// TestReadmeShowsTheDemo and TestReadmeShowsTheTokens.
func TestReadme(t *testing.T) {
	r := newModule(t)
	r.follow("README.md", only(read(t, "README.md"), "go", "sh", "json", "request", "reply"))
	r.finish()
}

// The tutorial ends with an adapter that answers; the pages about using one go on with it.
func TestTutorial(t *testing.T) {
	r := newModule(t)
	r.follow("docs/tutorial.md", read(t, "docs/tutorial.md"))
	for _, page := range []string{"docs/calling.md", "docs/clients.md", "docs/exports.md", "docs/ci.md",
		"docs/conformance.md"} {
		r.follow(page, only(read(t, page), "sh", "sh background", "json"))
	}
	r.finish()
}

// Pages about the todo example: its README; the audit log; the policy that the security page has; what the page about
// tests does with exports. TestDocumentedTests of the example has the tests on that page, and TestStatePolicyAndAudit
// an audit file.
func TestPagesAboutTheExample(t *testing.T) {
	const readme = "examples/todo/README.md"
	newExample(t).follow(readme, only(read(t, readme), "sh", "sh background", "json"))
	r := newExample(t)
	r.follow("docs/audit.md", only(read(t, "docs/audit.md"), "sh", "text"))
	for _, page := range []string{"docs/security.md", "docs/testing.md"} {
		r.follow(page, slices.DeleteFunc(only(read(t, page), "sh", "yaml"), func(block Block) bool {
			return slices.ContainsFunc([]string{"audit verify", "aqltest", "AQL_UPDATE"}, func(elsewhere string) bool {
				return strings.Contains(block.Text, elsewhere)
			})
		}))
		if page == "docs/security.md" && !strings.Contains(r.printed, "confirm-wide-purges") {
			t.Errorf("policy explain does not name the rule that decides:\n%s", r.printed)
		}
	}
}

// The page about observability: the adapter of the tutorial with metrics.
func TestObservability(t *testing.T) {
	const page = "docs/observability.md"
	r := newModule(t)
	r.follow("docs/tutorial.md", only(read(t, "docs/tutorial.md"), "go"))
	if _, err := r.shell.run("go mod init example.com/notes\n" +
		"go get -tool github.com/aqltag/aqltag/cmd/aql-tag\n" +
		"go get github.com/aqltag/aqltag/runtime/serve\ngo generate ./..."); err != nil {
		t.Fatal(err)
	}
	r.follow(page, slices.DeleteFunc(only(read(t, page), "go", "sh", "sh background", "text"), isFragment))
}

// isFragment reports whether a block is code that names no file: TestFragmentsCompile compiles it.
func isFragment(block Block) bool {
	return block.Kind == "go" && !regexp.MustCompile(`^// \S+\.go\n`).MatchString(block.Text)
}

// A library that was never written for aql-tag becomes an adapter.
func TestAdopting(t *testing.T) {
	r := newModule(t)
	if _, err := r.shell.run("go mod init example.com/adopting"); err != nil {
		t.Fatal(err)
	}
	r.follow("docs/adopting.md", read(t, "docs/adopting.md"))
	r.finish()
	before, err := os.ReadFile(filepath.Join(r.dir, "branches", "branches.go"))
	if err != nil {
		t.Fatal(err)
	}
	printed, err := r.shell.run("go tool aql-tag init -w ./branches\ngit config branch.next.remote")
	if err != nil {
		t.Fatal(err)
	}
	after, err := os.ReadFile(filepath.Join(r.dir, "branches", "branches.go"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, after) {
		t.Errorf("a second init -w changed something:\n%s", after)
	}
	if !strings.HasSuffix(printed, "fork\n") {
		t.Errorf("the repository was not changed: %s", printed)
	}
}

// The page about collections is an adapter that lists one.
func TestCollections(t *testing.T) {
	r := newModule(t)
	r.follow("docs/collections.md", read(t, "docs/collections.md"))
	r.finish()
}

// A durable execution goes on after a restart of its program.
func TestExecutions(t *testing.T) {
	r := newModule(t)
	r.follow("docs/executions.md", read(t, "docs/executions.md"))
	r.finish()
}

// finish checks what a page has left in its module: gofmt, vet and aql-tag find nothing.
func (r *reader) finish() {
	r.Helper()
	if printed, err := r.shell.run("gofmt -l .\ngo vet ./...\ngo tool aql-tag check ./..."); err != nil || printed != "" {
		r.Errorf("%v\n%s", err, printed)
	}
}

// textOf returns the text block of the README that contains a mark.
func textOf(t *testing.T, mark string) string {
	t.Helper()
	for _, block := range read(t, "README.md") {
		if block.Kind == "text" && strings.Contains(block.Text, mark) {
			return block.Text
		}
	}
	t.Fatalf("the README has no block with %s", mark)
	return ""
}

// What the README shows of make demo is what it prints.
func TestReadmeShowsTheDemo(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the example")
	}
	adapter := filepath.Join(t.TempDir(), "todo")
	example := filepath.Join(repository(t), "examples", "todo")
	command(t, example, "go", "build", "-o", adapter, ".")
	printed := command(t, example, "go", "run", "./demo", "-adapter", adapter)
	if shown := textOf(t, "→ mcp_aql"); !Shortened(shown).MatchString(printed) {
		t.Errorf("the README shows\n%s\nand make demo prints\n%s", shown, printed)
	}
}

// The figure in the README has the numbers of make tokens, and bars of their lengths; the pages have them too (D6).
func TestReadmeShowsTheTokens(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the example")
	}
	printed := command(t, filepath.Join(repository(t), "bench"), "go", "run", "./tokens")
	type row struct{ single, semantic, discrete, instructions int }
	rowOf := func(adapter string) row {
		var r row
		line := regexp.MustCompile(`(?m)^` + adapter + `\s.*$`).FindString(printed)
		_, err := fmt.Sscanf(line, adapter+" %d %d %d %d", &r.single, &r.semantic, &r.discrete, &r.instructions)
		if err != nil {
			t.Fatalf("%v in\n%s", err, printed)
		}
		return r
	}
	todo, fifty := rowOf("todo"), rowOf("synthetic")
	var want strings.Builder
	for _, bar := range []struct {
		label  string
		tokens int
	}{
		{"one tool per operation", todo.discrete}, {"five tools, the default", todo.semantic}, {"one tool", todo.single},
	} {
		length := (36*bar.tokens + todo.discrete/2) / todo.discrete
		fmt.Fprintf(&want, "%-23s  %-36s  %4d\n", bar.label, strings.Repeat("█", length), bar.tokens)
	}
	if shown := textOf(t, "█"); shown != want.String() {
		t.Errorf("the README shows\n%s\nand make tokens gives\n%s", shown, &want)
	}
	cells := func(label string, r row) string {
		text := fmt.Sprintf("| %s | %d | %d | %d | %d |", label, r.single, r.semantic, r.discrete, r.instructions)
		return regexp.MustCompile(`(\d)(\d{3}) `).ReplaceAllString(text, "$1,$2 ")
	}
	for _, page := range []struct{ file, says string }{
		{"README.md", fmt.Sprintf("With 50 operations it is %d, %d and %d.", fifty.discrete, fifty.semantic, fifty.single)},
		{"docs/requests.md", fmt.Sprintf("one page, %d tokens for the todo adapter", todo.instructions)},
		{"docs/performance.md", cells("todo adapter, 14 operations", todo)},
		{"docs/performance.md", cells("synthetic adapter, 50 operations", fifty)},
	} {
		text, err := os.ReadFile(filepath.Join(repository(t), page.file))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(text), page.says) {
			t.Errorf("%s does not say: %s", page.file, page.says)
		}
	}
}

func command(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, args...)
	command.Dir = dir
	var failed bytes.Buffer
	command.Stderr = &failed
	out, err := command.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(command.Args, " "), err, &failed)
	}
	return string(out)
}
