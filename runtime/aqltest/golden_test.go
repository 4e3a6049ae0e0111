package aqltest

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/gen"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// The file that Golden writes is itself pinned.
func TestGoldenFile(t *testing.T) {
	Golden(t, notes{}.registry(), "testdata/agent.golden",
		aql.Options{Name: "notes"}, aql.Options{Name: "notes", Mode: "single"})
}

func pin(t *testing.T, path string, registry *aql.Registry, options ...aql.Options) {
	t.Helper()
	t.Setenv(updateVariable, "1")
	Golden(t, registry, path, options...)
	t.Setenv(updateVariable, "0")
}

// A change that agents notice fails the test, with a diff and what it does to them.
func TestGoldenTellsWhatChanged(t *testing.T) {
	path := filepath.Join(t.TempDir(), "testdata", "agent.golden")
	pin(t, path, notes{}.registry())
	unchanged := record(t, func(tb testing.TB) { Golden(tb, notes{}.registry(), path) })
	unchanged.wants(t)

	changed := notes{}.registry(func(d *gen.Handler) {
		if d.Name == "create_note" {
			d.Params[0].Rules = gen.Rules{gen.MaxLen(10)}
		}
		if d.Name == "get_note" {
			d.Category, d.Danger = gen.Execute, gen.Destructive
		}
	})
	r := record(t, func(tb testing.TB) { Golden(tb, changed, path) })
	if len(r.failures) != 1 {
		t.Fatalf("failures: %q", r.failures)
	}
	for _, part := range []string{
		"\n--- " + path + "\n+++ now\n", "-          \"maxLength\": 20\n+          \"maxLength\": 10\n",
		"  breaking: the maximum length of parameter title of create_note changed from 20 to 10\n",
		"  breaking: operation get_note moved from category READ to EXECUTE\n",
		"  breaking: operation get_note: confirmation required\n", "AQL_UPDATE=1 go test",
	} {
		if !strings.Contains(r.failures[0], part) {
			t.Errorf("the failure does not say %q:\n%s", part, r.failures[0])
		}
	}
}

func TestGoldenWithSeveralOptions(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.golden")
	pin(t, path, notes{}.registry(), aql.Options{}, aql.Options{Mode: "single"})
	run := func(options ...aql.Options) *recorder {
		return record(t, func(tb testing.TB) { Golden(tb, notes{}.registry(), path, options...) })
	}
	run(aql.Options{}, aql.Options{Mode: "single"}).wants(t)
	run(aql.Options{}, aql.Options{Mode: "all"}).wants(t, "compatible: the endpoint mode changed")
	run(aql.Options{}).wants(t, "== part 2 of 2")
}

// Lines may end as some systems end them.
func TestGoldenTakesAnyLineEnding(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.golden")
	pin(t, path, notes{}.registry())
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(strings.ReplaceAll(string(text), "\n", "\r\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	record(t, func(tb testing.TB) { Golden(tb, notes{}.registry(), path) }).wants(t)
}

func TestGoldenFileThatIsNoneOrIsNotThere(t *testing.T) {
	if *update {
		t.Skip("golden files are being written")
	}
	path := filepath.Join(t.TempDir(), "agent.golden")
	missing := record(t, func(tb testing.TB) { Golden(tb, notes{}.registry(), path) })
	missing.wants(t, "does not exist; write it with AQL_UPDATE=1 go test")
	if err := os.WriteFile(path, []byte("== introspect {\"query\":\"operations\"}\n{\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := record(t, func(tb testing.TB) { Golden(tb, notes{}.registry(), path) })
	r.wants(t, "what agents see is not what golden file")
	if strings.Contains(r.failures[0], "For agents that know") {
		t.Errorf("consequences of a change from nothing:\n%s", r.failures[0])
	}
	record(t, func(tb testing.TB) { Golden(tb, notes{}.registry(), filepath.Dir(path)) }).wants(t, "reading golden file")
	twice := aql.Merge(notes{}.registry(), notes{}.registry())
	record(t, func(tb testing.TB) { Golden(tb, twice, path) }).wants(t, "is defined twice")
}

// The variable decides where it says anything, else the test's own flag of the usual name.
func TestUpdating(t *testing.T) {
	was := *update
	t.Cleanup(func() { *update = was })
	for _, tt := range []struct {
		variable string
		flag     bool
		want     bool
	}{
		{"", false, false}, {"1", false, true}, {"true", false, true}, {"0", true, false}, {"", true, true},
		{"yes please", true, true},
	} {
		t.Setenv(updateVariable, tt.variable)
		*update = tt.flag
		if got := updating(); got != tt.want {
			t.Errorf("%s=%q, -update=%v: got %v", updateVariable, tt.variable, tt.flag, got)
		}
	}
}

// What is shown is the same to the byte, again and again.
func TestGoldenIsStable(t *testing.T) {
	read := func() string {
		path := filepath.Join(t.TempDir(), "agent.golden")
		pin(t, path, notes{}.registry())
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	first := read()
	for range 10 {
		if diff := cmp.Diff(first, read()); diff != "" {
			t.Fatalf("-first +again:\n%s", diff)
		}
	}
}
