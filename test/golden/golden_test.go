package golden_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/emit"
	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/load"
	"github.com/aqltag/aqltag/internal/scan"
	"github.com/aqltag/aqltag/internal/scratch"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// A scenario is one txtar file in a folder of testdata/golden: the files of an input package, and what must come of it.
//
//	aql_gen.go        the generated code, byte for byte
//	diagnostics.txt   the rendered diagnostics
//	calls.txt         lines "> tool request" with the reply below each
//
// A scenario with calls declares `func Registry() *aql.Registry`, which the test calls.
type scenario struct {
	name    string
	path    string
	archive *txtar.Archive
}

var outputs = []string{emit.FileName, "diagnostics.txt", "calls.txt"}

func (s *scenario) file(name string) (string, bool) {
	for _, f := range s.archive.Files {
		if f.Name == name {
			return string(f.Data), true
		}
	}
	return "", false
}

func (s *scenario) set(name, content string) {
	s.archive.Files = slices.DeleteFunc(s.archive.Files, func(f txtar.File) bool { return f.Name == name })
	if content != "" {
		s.archive.Files = append(s.archive.Files, txtar.File{Name: name, Data: []byte(content)})
	}
}

// TestGolden generates, compares, compiles, calls, and regenerates with the generated code present.
func TestGolden(t *testing.T) {
	scenarios := loadScenarios(t)
	dir := materialise(t, scenarios)

	result := scanAll(t, dir)
	generated := emitAll(t, dir, result)
	writeGenerated(t, dir, generated)
	// The generator's own output, present on disk, changes nothing; nor does garbage in its place.
	for _, state := range []string{"present", "garbage"} {
		for name, content := range emitAll(t, dir, scanAll(t, dir)) {
			if diff := cmp.Diff(string(generated[name]), string(content)); diff != "" {
				t.Errorf("%s: generating again with the file %s gives something else (-first +again):\n%s", name, state, diff)
			}
		}
		garbage := make(map[string][]byte, len(generated))
		for name, content := range generated {
			garbage[name] = []byte("<<<<<<< HEAD\n" + string(content[:len(content)/2]) + "=======\n\x00")
		}
		writeGenerated(t, dir, garbage)
	}
	writeGenerated(t, dir, generated)

	replies := callAll(t, dir, scenarios)
	for _, s := range scenarios {
		t.Run(s.name, func(t *testing.T) {
			s.compare(t, emit.FileName, string(generated[s.name]))
			s.compare(t, "diagnostics.txt", render(result, dir, s.name))
			s.compare(t, "calls.txt", replies[s.name])
			if *update {
				if err := os.WriteFile(s.path, txtar.Format(s.archive), 0o644); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
	driver := filepath.Join(dir, "driver", "driver")
	holdAgainstHeaders(t, driver, scenarios, generated)
	t.Run("introspection", func(t *testing.T) { holdAgainstIntrospection(t, driver, scenarios) })
	t.Run("exports", func(t *testing.T) { holdAgainstExports(t, driver, dir, scenarios, result) })
	t.Run("updates", func(t *testing.T) { holdUpdates(t, driver) })
	t.Run("conform", func(t *testing.T) { conformGolden(t, driver, scenarios) })
}

func writeGenerated(t *testing.T, dir string, generated map[string][]byte) {
	t.Helper()
	for name, content := range generated {
		if err := os.WriteFile(filepath.Join(dir, name, emit.FileName), content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func (s *scenario) compare(t *testing.T, name, got string) {
	t.Helper()
	if *update {
		s.set(name, got)
		return
	}
	want, _ := s.file(name)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s (-want +got):\n%s", s.path, name, diff)
	}
}

// loadScenarios reads all scenarios. A scenario is named by its path: "updates/patch" is
// testdata/golden/updates/patch.txtar.
func loadScenarios(t *testing.T) []*scenario {
	t.Helper()
	const root = "../../testdata/golden"
	paths, err := filepath.Glob(root + "/*/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no golden files: %v", err)
	}
	var scenarios []*scenario
	for _, path := range paths {
		archive, err := txtar.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		scenarios = append(scenarios,
			&scenario{name: nameOf(t, root, strings.TrimSuffix(path, ".txtar")), path: path, archive: archive})
	}
	return scenarios
}

// nameOf is the name of the scenario in a folder below root.
func nameOf(t *testing.T, root, folder string) string {
	t.Helper()
	name, err := filepath.Rel(root, folder)
	if err != nil {
		t.Fatal(err)
	}
	return filepath.ToSlash(name)
}

// moduleWithRuntime makes a directory with a module that requires this repository as it is here.
func moduleWithRuntime(t *testing.T, name string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if err := scratch.Write(dir, name); err != nil {
		t.Fatal(err)
	}
	return dir
}

// materialise writes all scenarios into one module, a package each, so that they load and build together.
func materialise(t *testing.T, scenarios []*scenario) string {
	t.Helper()
	dir := moduleWithRuntime(t, "example.com/golden")
	for _, s := range scenarios {
		for _, f := range s.archive.Files {
			if slices.Contains(outputs, f.Name) {
				continue
			}
			path := filepath.Join(dir, s.name, f.Name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, f.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// scanAll scans the module with both loaders, which must agree in every byte.
func scanAll(t *testing.T, dir string) scan.Result {
	t.Helper()
	options := scan.Options{
		Dir: dir, Patterns: []string{"./..."}, Env: scratch.Env(), Cache: filepath.Join(filepath.Dir(dir), "cache"),
	}
	options.Loader = load.GoPackages
	result, err := scan.Load(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	options.Loader = load.Own
	own, err := scan.Load(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(result, own); diff != "" {
		t.Errorf("the two loaders do not agree (-go/packages +own):\n%s", diff)
	}
	return own
}

// emitAll generates for every package without errors.
func emitAll(t *testing.T, dir string, result scan.Result) map[string][]byte {
	t.Helper()
	broken := map[string]bool{}
	for _, d := range result.Diagnostics {
		if d.Severity == diag.Error {
			broken[nameOf(t, dir, filepath.Dir(d.Position.File))] = true
		}
	}
	generated := map[string][]byte{}
	for i := range result.Packages {
		pkg := &result.Packages[i]
		name := nameOf(t, dir, pkg.Dir)
		if broken[name] {
			continue
		}
		content, err := emit.File(pkg)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		formatted, err := format.Source(content)
		if err != nil {
			t.Errorf("%s: generated code does not parse: %v\n%s", name, err, content)
			continue
		}
		if diff := cmp.Diff(string(formatted), string(content)); diff != "" {
			t.Errorf("%s: generated code is not as gofmt writes it (-gofmt +generated):\n%s", name, diff)
		}
		generated[name] = content
	}
	return generated
}

func render(result scan.Result, dir, name string) string {
	var out bytes.Buffer
	for _, d := range result.Diagnostics {
		folder := filepath.Join(dir, name)
		if filepath.Dir(d.Position.File) == folder {
			d.Write(&out, folder, false)
		}
	}
	return strings.ReplaceAll(out.String(), dir+string(filepath.Separator), "") // where the other scenarios are
}

// driver calls the registries of all scenarios. It reads lines "scenario tool request" and prints a reply each; one
// session per scenario. A scenario with a star behind its name is an adapter of the same registry that tells of itself.
const driver = `package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

	aql "github.com/aqltag/aqltag/runtime"
%s)

func main() {
	registries := map[string]func() *aql.Registry{
%s	}
	sessions := map[string]*aql.Session{}
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 1<<24)
	for in.Scan() {
		fields := strings.SplitN(in.Text(), " ", 3)
		session := sessions[fields[0]]
		if session == nil {
			name, told := strings.CutSuffix(fields[0], "*")
			adapter, err := aql.New(registries[name](), aql.Options{
				Name: name, Version: "1.0.0", Profile: aql.ProfileCrude, AdapterInfo: told,
				StateKey: make([]byte, 32),
			})
			if err != nil {
				fmt.Println(err)
				os.Exit(1)
			}
			session = adapter.NewSession()
			sessions[fields[0]] = session
		}
		fmt.Printf("%%s\n", session.Call(context.Background(), fields[1], []byte(fields[2])).JSON)
	}
}
`

// callAll builds the module and makes the calls of all scenarios, one process for all.
func callAll(t *testing.T, dir string, scenarios []*scenario) map[string]string {
	t.Helper()
	var imports, table strings.Builder
	for i, s := range scenarios {
		if _, ok := s.file("calls.txt"); ok {
			fmt.Fprintf(&imports, "\tscenario%d %q\n", i, "example.com/golden/"+s.name)
			fmt.Fprintf(&table, "\t\t%q: scenario%d.Registry,\n", s.name, i)
		}
	}
	if err := os.MkdirAll(filepath.Join(dir, "driver"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "driver", "main.go"), fmt.Appendf(nil, driver, &imports, &table),
		0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"vet", "./driver"}, {"build", "-o", "driver/driver", "./driver"}} {
		if out, err := goCommand(dir, args...); err != nil {
			t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
	p := startAdapters(t, filepath.Join(dir, "driver", "driver"))
	replies := map[string]string{}
	schemas := loadSchemas(t)
	for _, s := range scenarios {
		calls, _ := s.file("calls.txt")
		var out strings.Builder
		token := ""
		for line := range strings.Lines(calls) {
			request, isCall := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "> ")
			if !isCall {
				continue
			}
			fmt.Fprintf(&out, "> %s\n", request)
			reply := p.ask(s.name + " " + strings.ReplaceAll(request, "conf_TOKEN", token))
			schemas.validate(t, s.name+": "+request, reply)
			if issued := tokenPattern.Find(reply); issued != nil {
				token = string(issued)
			}
			reply = tokenPattern.ReplaceAll(reply, []byte("conf_TOKEN"))
			reply = timePattern.ReplaceAll(reply, []byte(`"$1":"VARIES"`))
			fmt.Fprintf(&out, "%s\n", reply)
		}
		replies[s.name] = out.String()
	}
	return replies
}

// holdAgainstHeaders checks that an adapter tells the fingerprint that stands in the header of its generated code
// (requirements REQ-GE-06): the generator and the runtime mean the same definitions, although the one has them from Go
// source and the other from tables.
func holdAgainstHeaders(t *testing.T, driver string, scenarios []*scenario, generated map[string][]byte) {
	t.Helper()
	p := startAdapters(t, driver)
	different := map[string]bool{}
	for _, s := range scenarios {
		if _, ok := s.file("calls.txt"); !ok {
			continue
		}
		header := headerPattern.FindSubmatch(generated[s.name])
		if header == nil {
			t.Errorf("%s: the generated code does not tell its definitions:\n%.300s", s.name, generated[s.name])
			continue
		}
		var info struct{ Definitions string }
		p.data(s.name+"*", `{"query":"adapter_info"}`, &info)
		if info.Definitions != string(header[1]) {
			t.Errorf("%s: the adapter was built from %s, its generated code from %s", s.name, info.Definitions, header[1])
		}
		different[info.Definitions] = true
	}
	if len(different) < 10 {
		t.Errorf("%d different fingerprints", len(different))
	}
}

var (
	headerPattern = regexp.MustCompile(`\A// Code generated by aql-tag; DO NOT EDIT\.\n// Definitions: ` +
		`(sha256:[0-9a-f]{64})\n\npackage `)
	tokenPattern = regexp.MustCompile(`conf_[A-Za-z0-9_-]{43}`)
	timePattern  = regexp.MustCompile(`"(expires_at|consumed_at|session_id)":"[^"]*"`)
)

func goCommand(dir string, args ...string) ([]byte, error) {
	command := exec.Command("go", args...)
	command.Dir = dir
	command.Env = scratch.Env()
	return command.CombinedOutput()
}
