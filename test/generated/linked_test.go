package generated_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/internal/scratch"
)

// An adapter without collections, relations, people who approve, a console, executions or a safety loop does not link
// what answers them, and is as large as if there were none. It does not either if it executes templates, for which the
// linker keeps every exported method of what is in an interface.
func TestAdaptersWithoutCollectionsDoNotLinkThem(t *testing.T) {
	if testing.Short() {
		t.Skip("adapters are linked; the slow tier does")
	}
	root, err := scratch.Root()
	if err != nil {
		t.Fatal(err)
	}
	inRepository := func(t *testing.T, args ...string) string {
		t.Helper()
		command := exec.Command("go", args...)
		command.Dir, command.Stderr = filepath.Join(root, "test"), os.Stderr
		out, err := command.Output()
		if err != nil {
			t.Fatalf("go %s: %v", args, err)
		}
		return string(out)
	}
	main := func(imports, body string) string {
		path := filepath.Join(t.TempDir(), "main.go")
		text := "package main\n\nimport (\n" + imports + "\t\"github.com/aqltag/aqltag/runtime/serve\"\n)\n\n" +
			"func main() {\n" + body + "}\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	for _, tt := range []struct {
		name, program string
		links         string // the parts that are linked; methods: those that nothing calls, too
	}{
		{"without collections", "./clients/fixture", ""},
		{
			"without collections, with templates",
			main("\t\"os\"\n\t\"text/template\"\n\n\t\"github.com/aqltag/aqltag/runtime/gen\"\n",
				"\t_ = template.Must(template.New(\"t\").Parse(\"\")).Execute(os.Stdout, nil)\n"+
					"\tserve.Main(gen.NewRegistry(nil, nil), serve.Options{Name: \"x\", Version: \"1\"})\n"),
			"methods",
		},
		{
			"with a collection",
			main("\t\"github.com/aqltag/aqltag/test/collections/parts\"\n",
				"\tserve.Main(parts.NewRegistry(new(parts.Store), new(parts.Tasks)),\n"+
					"\t\tserve.Options{Name: \"x\", Version: \"1\"})\n"),
			"collections",
		},
		{
			"with a collection and computed fields",
			main("\t\"github.com/aqltag/aqltag/test/collections/crates\"\n",
				"\tserve.Main(crates.NewRegistry(new(crates.Depot), new(crates.Scale)),\n"+
					"\t\tserve.Options{Name: \"x\", Version: \"1\"})\n"),
			"collections computed",
		},
		{
			"with relations",
			main("\t\"github.com/aqltag/aqltag/test/collections/people\"\n",
				"\tserve.Main(people.NewRegistry(new(people.Office)), serve.Options{Name: \"x\", Version: \"1\"})\n"),
			"relations",
		},
		{
			"with people who approve",
			main("\t\"github.com/aqltag/aqltag/runtime/gen\"\n\t\"github.com/aqltag/aqltag/runtime/operator\"\n",
				"\tserve.Main(gen.NewRegistry(nil, nil),\n"+
					"\t\tserve.Options{Name: \"x\", Version: \"1\", Operator: operator.Command{}})\n"),
			"operator",
		},
		{
			"with a console",
			main("\t\"github.com/aqltag/aqltag/runtime/console\"\n\t\"github.com/aqltag/aqltag/runtime/gen\"\n"+
				"\t\"github.com/aqltag/aqltag/runtime/operator\"\n",
				"\tserve.Main(gen.NewRegistry(nil, nil), serve.Options{\n"+
					"\t\tName: \"x\", Version: \"1\", Operator: operator.Command{}, Console: console.Serve,\n\t})\n"),
			"operator console methods",
		},
		{
			"with people who are told",
			main("\t\"github.com/aqltag/aqltag/runtime/gen\"\n\t\"github.com/aqltag/aqltag/runtime/notify\"\n"+
				"\t\"github.com/aqltag/aqltag/runtime/notify/ntfy\"\n",
				"\tserve.Main(gen.NewRegistry(nil, nil), serve.Options{\n\t\tName: \"x\", Version: \"1\",\n"+
					"\t\tNotify: notify.Teller{Drivers: []notify.Driver{ntfy.Driver()}},\n\t})\n"),
			"notify",
		},
		{
			"with executions",
			main("\t\"context\"\n\n\taql \"github.com/aqltag/aqltag/runtime\"\n"+
				"\t\"github.com/aqltag/aqltag/runtime/gen\"\n",
				"\trun := func(context.Context, []any, any, *aql.Run) (any, error) { return nil, nil }\n"+
					"\thandler := gen.Handler{\n\t\tName: \"x\", Category: gen.Execute, Request: (*struct{})(nil),\n"+
					"\t\tExecution: &gen.Execution{Run: aql.RunFunc(run)},\n\t}\n"+
					"\tserve.Main(gen.NewRegistry([]gen.Handler{handler}, nil), serve.Options{Name: \"x\", Version: \"1\"})\n"),
			"executions",
		},
		{
			"with a safety loop",
			main("\taql \"github.com/aqltag/aqltag/runtime\"\n\t\"github.com/aqltag/aqltag/runtime/gen\"\n",
				"\tserve.Main(gen.NewRegistry(nil, nil), serve.Options{\n"+
					"\t\tName: \"x\", Version: \"1\", Adapter: aql.Options{Loop: &aql.Loop{}},\n\t})\n"),
			"executions loop",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			binary := filepath.Join(t.TempDir(), "adapter")
			inRepository(t, "build", "-o", binary, tt.program)
			symbols := inRepository(t, "tool", "nm", binary)
			for _, code := range []struct{ pattern, parts string }{
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime/internal/collection\..*$`, "collections"},
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime/internal/cursor\..*$`, "collections relations executions"},
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime/internal/related\..*$`, "relations"},
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime\.\(\*(relations|visit|relationLoads)\)\..*$`, "relations"},
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime/internal/codec\.\(\*[rR]elated\w*\)\..*$`, "relations"},
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime/gen\.RelationshipOperation$`, "relations"},
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime\.\(\*asking\)\..*$`, "collections"},
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime/internal/codec\.\(\*(Query|filterReader)\)\..*$`, "collections"},
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime/internal/codec\.\(\*computed(Fields|Values)\)\..*$`, "computed"},
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime/approve\.\(\*box\)\..*$`, "operator notify"},
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime/operator\.\(\*Desk\)\..*$`, "operator"},
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime/internal/usage\..*$`, "operator console"},
				{`(?m)^.* [TRD] github\.com/aqltag/aqltag/runtime/console\..*$`, "console"},
				{`(?m)^.* [TRD] github\.com/aqltag/aqltag/runtime/console/internal/(calls|chart)\..*$`, "console"},
				{`(?m)^.* [TRD] html/template\..*$`, "console"},
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime/notify[./].*$`, "notify"},
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime/execution\.\(\*Engine\)\..*$`, "executions operator"},
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime/execution\.\(\*Engine\)\.(Start|Work|claim)$`, "executions"},
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime/gen\.ExecutionOperations$`, "executions"},
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime/loop\..*$`, "loop"},
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime/internal/agents\.\(\*Keeper\)\..*$`, "loop"},
				{`(?m)^.* [TRD] github\.com/aqltag/aqltag/runtime/internal/decompose\..*$`, "loop"},
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime/gen\.LoopOperations$`, "loop"},
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime\.\(\*safetyLoop\)\..*$`, "loop"},
				{`(?m)^.* T time\.Time\.ISOWeek$`, "methods"},
			} {
				linked := slices.ContainsFunc(strings.Fields(code.parts), func(part string) bool {
					return slices.Contains(strings.Fields(tt.links), part)
				})
				if found := regexp.MustCompile(code.pattern).FindAllString(symbols, -1); found != nil != linked {
					t.Errorf("linked of %s: %q", code.pattern, found)
				}
			}
		})
	}
}
