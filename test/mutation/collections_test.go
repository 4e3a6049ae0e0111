package mutation_test

import (
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/internal/scratch"
)

// Each mutant of the code that answers queries is compiled and tested by itself, which takes seconds.
var (
	all  = flag.Bool("all", false, "try all mutants of the code that answers queries, and not some of them")
	seed = flag.Uint64("seed", rand.Uint64(), "what decides which")
)

// mostOf is how many mutants of a list are tried without -all.
const mostOf = 3

// change is a mutant of the code that answers queries of collections: one text in one file is another one.
type change struct {
	what, file, from, to string
}

// evaluators are mutants of the code that answers from memory.
var evaluators = []change{
	{"gte is gt", "runtime/internal/collection/condition.go", "f.compare(p, &c.Value) >= 0", "f.compare(p, &c.Value) > 0"},
	{"starts is contains", "runtime/internal/collection/condition.go",
		"return len(s) >= len(c.Value.Text) && equalFold(s[:len(c.Value.Text)], c.Value.Text)",
		"return containsFold(s, c.Value.Text)"},
	{"a missing value is not ne", "runtime/internal/collection/condition.go", "return c.Op == Ne", "return false"},
	{"all looks for the first value alone", "runtime/internal/collection/condition.go",
		"for i := range c.Set {\n\t\t\tif !c.holds", "for i := range c.Set[:min(1, len(c.Set))] {\n\t\t\tif !c.holds"},
	{"a negation is none", "runtime/internal/collection/condition.go", "return !c.Not.match(p)", "return c.Not.match(p)"},
	{"only the first alternative counts", "runtime/internal/collection/condition.go", "range c.Or {\n\t\tif n.match(p)",
		"range c.Or[:1] {\n\t\tif n.match(p)"},
	{"the greatest value is outside of lte", "runtime/internal/collection/narrow.go",
		"return math.MinInt64, v, true", "return math.MinInt64, v - 1, true"},
	{"missing values are first", "runtime/internal/collection/order.go", "if present {\n\t\treturn 0\n\t}\n\treturn 1",
		"if present {\n\t\treturn 1\n\t}\n\treturn 0"},
	{"only the first key orders", "runtime/internal/collection/order.go",
		"for i := range o {\n\t\tk := &o[i]\n\t\tpa", "for i := range o[:1] {\n\t\tk := &o[i]\n\t\tpa"},
	{"ties are ascending always", "runtime/internal/collection/order.go", "if k.Descending {",
		"if k.Descending && k.Field.Name != \"part_id\" {"},
	{"a page begins with the item of the cursor", "runtime/internal/collection/bound.go",
		"c != 0 && c < 0 == s.Backward", "c == 0 || c < 0 == s.Backward"},
	{"no size is too great", "runtime/paging.go", "if asked > options.MaxPage {", "if asked > 1<<20 {"},
	{"a cursor is not bound to the filter", "runtime/listing.go", "text = asked.Filter().Append(text)\n", ""},
	{"a cursor is not bound to the order", "runtime/listing.go", "for _, key := range asked.Order {",
		"for _, key := range asked.Order[:0] {"},
	{"a cursor is not bound to the direction", "runtime/listing.go",
		"byte(key.Field.Bits), flag(key.Descending))", "byte(key.Field.Bits))"},
	{"a cursor is not bound to the operation", "runtime/listing.go", "text = appendText(text, a.operation.Name)\n", ""},
}

// TestEveryMutationOfTheEvaluatorIsCaught changes what answers queries from memory. A test that takes seconds fails.
func TestEveryMutationOfTheEvaluatorIsCaught(t *testing.T) {
	expectFailures(t, "./test/collections", "^Test(Queries|Operators|PageSizes|CursorsOfOtherQueries)$", evaluators)
}

// renderers are mutants of the code that answers from databases.
var renderers = []change{
	{"a missing value is not ne", "runtime/sqlquery/condition.go", `" IS NULL OR "`, `" IS NOT NULL AND "`},
	{"lte is lt", "runtime/sqlquery/condition.go", `collection.Lte: " <= "`, `collection.Lte: " < "`},
	{"starts is contains", "runtime/sqlquery/condition.go", `" = 1"`, `" > 0"`},
	{"a negation is none", "runtime/sqlquery/condition.go", `"NOT ("`, `"("`},
	{"alternatives have to hold all", "runtime/sqlquery/condition.go", `" OR ")
		}
		if len(n.All) > 1 {`, `" AND ")
		}
		if len(n.All) > 1 {`},
	{"a time between two that are kept is the one before", "runtime/sqlquery/condition.go", "*op = collection.Gt\n",
		"*op = collection.Gte\n"},
	{"all is any", "runtime/sqlquery/list.go", `w.text.WriteString(" AND ")`, `w.text.WriteString(" OR ")`},
	{"only the first key orders", "runtime/sqlquery/position.go",
		"for i := range p.keys {\n\t\tif i > 0 {\n\t\t\tw.text.WriteString(\", \")",
		"for i := range p.keys[:1] {\n\t\tif i > 0 {\n\t\t\tw.text.WriteString(\", \")"},
	{"pages backward are ordered forward", "runtime/sqlquery/position.go", "k.column.expr, k.Descending != p.backward",
		"k.column.expr, k.Descending"},
	{"a page begins with the item of the cursor", "runtime/sqlquery/position.go", `return " > "`, `return " >= "`},
	{"missing values are first", "runtime/sqlquery/position.go", "return []part{present, missing}",
		"return []part{missing, present}"},
	{"enums are ordered by their names", "runtime/sqlquery/position.go", `if k.ranks != "" {`, "if false {"},
	{"no item behind the page is looked for", "runtime/sqlquery/fetch.go",
		"limit, still := f.bound.Size+1, f.bound.Size+1", "limit, still := f.bound.Size, f.bound.Size"},
}

// TestEveryMutationOfTheRendererIsCaught changes what renders queries as SQL. A test on SQLite fails in seconds.
func TestEveryMutationOfTheRendererIsCaught(t *testing.T) {
	expectFailures(t, "./test/collections/databases", "^Test(SourcesAgree|OperatorsAgree)$/^SQLite$", renderers, "-seed=1")
}

// expectFailures runs some tests of a package, with arguments, on each mutant, and expects them to fail; and to pass
// without one.
func expectFailures(t *testing.T, tests, run string, changes []change, arguments ...string) {
	t.Helper()
	root, err := scratch.Root()
	if err != nil {
		t.Fatal(err)
	}
	passes := func(t *testing.T, overlay string) (passed bool, output string) {
		t.Helper()
		command := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-short", "-vet=off", "-overlay="+overlay,
			"-run", run, tests)
		command.Args = append(command.Args, arguments...)
		command.Dir = root
		out, err := command.CombinedOutput()
		if err != nil && !strings.Contains(string(out), "--- FAIL: ") {
			t.Fatalf("running the tests: %v\n%s", err, out)
		}
		return err == nil, string(out)
	}
	if passed, output := passes(t, ""); !passed {
		t.Fatalf("the tests fail without a mutation:\n%s", output)
	}
	for _, c := range changes {
		c.overlay(t, root)
	}
	for _, c := range some(t, changes) {
		t.Run(c.what, func(t *testing.T) {
			if passed, _ := passes(t, c.overlay(t, root)); passed {
				t.Errorf("%s: %s: nothing notices", c.file, c.what)
			}
		})
	}
}

// some returns the mutants that are tried.
func some(t *testing.T, changes []change) []change {
	t.Helper()
	if *all {
		return changes
	}
	t.Logf("-seed=%d", *seed)
	order := rand.New(rand.NewPCG(*seed, 0)).Perm(len(changes))
	var drawn []change
	for _, i := range order[:mostOf] {
		drawn = append(drawn, changes[i])
	}
	return drawn
}

// overlay writes an overlay of the go command with the change in it, and returns its path.
func (c change) overlay(t *testing.T, root string) string {
	t.Helper()
	file := filepath.Join(root, filepath.FromSlash(c.file))
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), c.from); n != 1 {
		t.Fatalf("%s has %d times what is to be changed: %s", c.file, n, c.from)
	}
	dir := t.TempDir()
	changed, overlay := filepath.Join(dir, filepath.Base(file)), filepath.Join(dir, "overlay.json")
	replace, err := json.Marshal(map[string]any{"Replace": map[string]string{file: changed}})
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		changed: []byte(strings.Replace(string(text), c.from, c.to, 1)), overlay: replace,
	} {
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return overlay
}
