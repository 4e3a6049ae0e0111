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
	{"a search looks into the first field only", "runtime/internal/collection/search.go", "for _, f := range fields {",
		"for _, f := range fields[:min(1, len(fields))] {"},
	{"a phrase is its words", "runtime/internal/collection/search.go", "if i%2 == 1 {", "if i < 0 {"},
	{"a condition is taken though _or has another one", "runtime/internal/collection/take.go",
		"case c.Field == nil && c.about(field):", "case false:"},
	{"a condition on a computed field is taken", "runtime/internal/collection/take.go",
		"c.Field.Name != field || c.Field.isComputed()", "c.Field.Name != field"},
	{"a stream in order ends one element early", "runtime/internal/collection/stream.go",
		"s.ended = len(s.heap) == s.most\n", "s.ended = len(s.heap) == s.most-1\n"},
	{"a stream in order passes over one element too many", "runtime/internal/collection/stream.go",
		"case !s.Placed && s.total < s.Skip:", "case !s.Placed && s.total <= s.Skip:"},
	{"a numbered page begins one element late", "runtime/paging.go",
		"a.bound.Skip = (a.bound.Number - 1) * a.bound.Size", "a.bound.Skip = (a.bound.Number-1)*a.bound.Size + 1"},
	{"one element behind an offset is left out", "runtime/internal/collection/bound.go",
		"items = items[min(s.skip, len(items)):]", "items = items[min(s.skip+1, len(items)):]"},
	{"what was computed of an element is that of the next one, too", "runtime/internal/collection/stream.go",
		"\t\ts.forget(unsafe.Add(base, at))\n", ""},
}

// TestEveryMutationOfTheEvaluatorIsCaught changes what answers queries from memory. A test that takes seconds fails.
func TestEveryMutationOfTheEvaluatorIsCaught(t *testing.T) {
	expectFailures(t, "^Test(Queries|Operators|PageSizes|CursorsOfOtherQueries|Search|Take|TakeSearch|StreamInOrder|"+
		"Styles|TakenStyles|OrdersOfManyElementsByComputedFields|ComputedFieldsAreNotTaken)$", evaluators,
		"./test/collections", "-seed=1")
}

// adders are mutants of the code that sums up elements in memory.
var adders = []change{
	{"a carry is dropped", "runtime/internal/collection/total.go", "t.high += v>>63 + int64(carry)",
		"t.high += v>>63 + int64(carry&0)"},
	{"an average is by all elements", "runtime/internal/collection/total.go",
		"p, ok := f.at(p)\n\tif !ok {\n\t\treturn\n\t}\n\tt.count++\n",
		"t.count++\n\tp, ok := f.at(p)\n\tif !ok {\n\t\treturn\n\t}\n"},
	{"a value that a list has twice counts twice", "runtime/internal/collection/summary.go", "if g.turn != s.turn {",
		"if true {"},
	{"a group beyond the bound is left out", "runtime/internal/collection/summary.go",
		"if g == nil {\n\t\treturn false\n\t}\n\ts.take(g, p)", "if g == nil {\n\t\treturn true\n\t}\n\ts.take(g, p)"},
	{"a missing text is in another group than null", "runtime/internal/collection/summary.go",
		"case s.By.Kind == String || s.By.Kind == Text:\n\t\treturn s.ofText", "case false:\n\t\treturn s.ofText"},
	{"a text that is not UTF-8 is in a group of its own", "runtime/internal/collection/summary.go",
		"if !utf8.ValidString(text) {", "if false && !utf8.ValidString(text) {"},
	{"the least value is the last one", "runtime/internal/collection/summary.go",
		"(v.Missing || f.compare(p, v) == sign)", "(v.Missing || f.compare(p, v) != 2)"},
}

// TestEveryMutationOfSummariesIsCaught changes what sums up elements in memory. A test that takes seconds fails.
func TestEveryMutationOfSummariesIsCaught(t *testing.T) {
	expectFailures(t, "^Test(Summaries|SumsAreExact|Groups|TooManyGroups)$", adders, "./test/collections", "-seed=1")
}

// walkers are mutants of the code that follows relations.
var walkers = []change{
	{"a relation to many is cut without a warning", "runtime/internal/related/load.go", "if cut > 0 {", "if cut < 0 {"},
	{"a relation to many is not cut", "runtime/internal/related/load.go", "there > most {", "there > most+1000 {"},
	{"a key is loaded again", "runtime/internal/related/load.go", "case !before:", "case !before || true:"},
	{"a walk goes on from each node again and again", "runtime/internal/related/walk.go", "reached[end.ID()] = end\n", ""},
	{"a relationship is found by each way to it", "runtime/internal/related/walk.go", "; !found[id] {", "; true {"},
	{"relationships are in the order in which they were loaded", "runtime/internal/related/walk.go",
		"return a.Position().Compare(b.Position())", "return 0"},
	{"a walk goes one relationship further", "runtime/internal/related/walk.go", "depth <= w.Depth &&",
		"depth <= w.Depth+1 &&"},
}

// TestEveryMutationOfRelationsIsCaught changes what follows relations. A test that takes seconds fails.
func TestEveryMutationOfRelationsIsCaught(t *testing.T) {
	expectFailures(t, "^Test(Walk|Walks[A-Za-z]*|Loads[A-Za-z]*|ManyRelatedAreCut|LevelsAreLoadedOnce)$", walkers,
		"./runtime/internal/related", "./test/collections")
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
	{"a search of a list finds the beginnings of texts", "runtime/sqlquery/list.go",
		"w.value(c.Value.Text)) + \" > 0\")", "w.value(c.Value.Text)) + \" = 1\")"},
	{"a search tells capital letters from small ones", "runtime/sqlquery/list.go", "w.dialect.lower(element)", "element"},
	{"groups of texts are told apart as the column is compared", "runtime/sqlquery/group.go",
		"default:\n\t\treturn []string{w.dialect.bytes(column.expr)}", "default:\n\t\treturn []string{column.expr}"},
	{"a part of a sum is dropped", "runtime/sqlquery/dialect.go", " & 4294967295)", " & 2147483647)"},
}

// TestEveryMutationOfTheRendererIsCaught changes what renders queries as SQL. A test on SQLite fails in seconds.
func TestEveryMutationOfTheRendererIsCaught(t *testing.T) {
	expectFailures(t, "^Test(SourcesAgree|OperatorsAgree|SummariesAgree|SummariesOfCollatedColumns)$/^SQLite$", renderers,
		"./test/collections/databases", "-seed=1")
}

// expectFailures runs some tests on each mutant, and expects them to fail; and to pass without one. The arguments are
// packages, and flags of their tests.
func expectFailures(t *testing.T, run string, changes []change, arguments ...string) {
	t.Helper()
	root, err := scratch.Root()
	if err != nil {
		t.Fatal(err)
	}
	passes := func(t *testing.T, overlay string) (passed bool, output string) {
		t.Helper()
		command := exec.CommandContext(t.Context(), "go", "test", "-count=1", "-short", "-vet=off", "-overlay="+overlay,
			"-run", run)
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
