package verbs

import (
	"cmp"
	"context"
	"fmt"
	"go/parser"
	"go/token"
	"hash/fnv"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/internal/propose"
	"github.com/aqltag/aqltag/internal/scan"
	"github.com/aqltag/aqltag/runtime/gen"
)

// The size of the sample: functions altogether, of one library at most, and with a label.
const (
	sampled     = 2000
	fromLibrary = 260
	labelled    = 300
)

// sample is a function of a library.
type sample struct {
	name    string // path without host, dot, function
	path    string // of the package
	library string
	propose.Judged
}

// libraries are the import paths of libraries.go.
func libraries(t *testing.T) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "libraries.go", nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	for _, spec := range file.Imports {
		path, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, path)
	}
	return paths
}

// samples takes functions of all libraries in an order that nobody chose: by a hash of their names.
func samples(t *testing.T) []sample {
	t.Helper()
	var all []sample
	err := scan.Explore(context.Background(), scan.Options{Patterns: libraries(t), Cache: "off"},
		func(x *scan.Exploration) error {
			all = nil
			for _, root := range x.Roots {
				if root.Types == nil || len(root.Syntax) == 0 || root.Module == nil {
					return fmt.Errorf("%s has no source: %v", root.PkgPath, root.Errors)
				}
				short := strings.TrimPrefix(root.PkgPath, "github.com/")
				for _, judged := range propose.JudgeAll(x, root) {
					all = append(all, sample{short + "." + judged.Function, root.PkgPath, root.Module.Path, judged})
				}
			}
			return nil
		})
	if err != nil {
		t.Fatal(err)
	}
	order := func(s sample) uint64 {
		h := fnv.New64a()
		h.Write([]byte("aql-tag " + s.path + "." + s.Function))
		return h.Sum64() * 0x9E3779B97F4A7C15 >> 1 // FNV alone leaves names close that differ in their last letter
	}
	slices.SortFunc(all, func(a, b sample) int {
		return cmp.Or(cmp.Compare(order(a), order(b)), cmp.Compare(a.name, b.name))
	})
	taken := make(map[string]int)
	all = slices.DeleteFunc(all, func(s sample) bool {
		taken[s.library]++
		return taken[s.library] > fromLibrary
	})
	if len(taken) < 10 || len(all) < sampled {
		t.Fatalf("%d functions of %d libraries", len(all), len(taken))
	}
	return all[:sampled]
}

// label is what a person found in the documentation of a function.
type label struct {
	category gen.Category
	back     string // yes, no, or "-" for what changes nothing
}

func labels(t *testing.T) map[string]label {
	t.Helper()
	text, err := os.ReadFile("labels.txt")
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string]label)
	for line := range strings.Lines(string(text)) {
		if fields := strings.Fields(line); len(fields) == 3 && fields[0] != "#" {
			all[fields[2]] = label{gen.Category(fields[0]), fields[1]}
		}
	}
	return all
}

// B1, REQ-EP-13, REQ-DL-08: nothing that changes something is proposed as READ, and less than 2 % is rated lower than
// what it does. The matrices are those of docs/adopting.md.
func TestNothingIsGuessedHarmless(t *testing.T) {
	if testing.Short() {
		t.Skip("type-checks the libraries from source")
	}
	all, known := samples(t), labels(t)
	if len(known) != labelled {
		t.Errorf("%d labels, want %d", len(known), labelled)
	}
	var matrix, harm table
	tooLow, reads, wrongReads := 0, 0, 0
	for _, s := range all[:labelled] {
		l, ok := known[s.name]
		if !ok {
			t.Errorf("%s has no label: %s", s.name, strings.Join(strings.Fields(s.Decl.Doc.Text()), " "))
			continue
		}
		column := string(s.Category)
		if s.Guessed {
			column += "?"
		}
		matrix.count(string(l.category), column)
		harm.count("taken back: "+l.back, string(s.Danger))
		switch {
		case l.back != "-" && s.Category == gen.Read:
			wrongReads++
			t.Errorf("%s is proposed as READ, and is %s: %v", s.name, l.category, s.Reasons)
		case l.back == "no" && s.Danger.Level() < gen.Destructive.Level(), l.back != "-" && s.Danger == gen.Safe:
			tooLow++
			t.Logf("rated too low: %s as %s %s, is %s", s.name, s.Category, s.Danger, l.category)
		case l.back == "-" && s.Category != gen.Read:
			t.Logf("reads: %s, proposed as %s: %v", s.name, s.Category, s.Reasons)
		}
		if l.back == "-" && s.Category == gen.Read {
			reads++
		}
	}
	libraries := make(map[string]bool)
	var whole table
	for _, s := range all {
		libraries[s.library] = true
		column := string(s.Danger)
		if s.Guessed {
			column += "?"
		}
		whole.count(string(s.Category), column)
	}
	t.Logf("%d functions of %d libraries, by what is proposed:\n%s", len(all), len(libraries), whole)
	t.Logf("%d functions, by label and proposal:\n%s\n%s", labelled, matrix, harm)
	t.Logf("rated too low: %d; READ where it is: %d; READ where it is not: %d", tooLow, reads, wrongReads)
	if tooLow*50 >= labelled {
		t.Errorf("%d of %d are rated too low", tooLow, labelled)
	}
}

// table counts by row and column.
type table struct {
	rows, columns []string
	counts        map[[2]string]int
}

func (t *table) count(row, column string) {
	if t.counts == nil {
		t.counts = make(map[[2]string]int)
	}
	for _, add := range []struct {
		list *[]string
		name string
	}{{&t.rows, row}, {&t.columns, column}} {
		if i, found := slices.BinarySearch(*add.list, add.name); !found {
			*add.list = slices.Insert(*add.list, i, add.name)
		}
	}
	t.counts[[2]string{row, column}]++
}

// String is the table in Markdown.
func (t table) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "| | %s |\n|---|%s\n", strings.Join(t.columns, " | "), strings.Repeat("---:|", len(t.columns)))
	for _, row := range t.rows {
		fmt.Fprintf(&b, "| %s |", row)
		for _, column := range t.columns {
			fmt.Fprintf(&b, " %d |", t.counts[[2]string{row, column}])
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}
