package generated_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/aqltag/aqltag/internal/scratch"
)

// An adapter without collections, relations or executions does not link what answers them, and is as large as if there
// were none. It does not either if it executes templates, for which the linker keeps every exported method of what is
// in an interface.
func TestAdaptersWithoutCollectionsDoNotLinkThem(t *testing.T) {
	if testing.Short() {
		t.Skip("four adapters are linked; the slow tier does")
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
		collections   bool
		computed      bool
		relations     bool
		methods       bool // those that nothing calls, too
		executions    bool
	}{
		{"without collections", "./clients/fixture", false, false, false, false, false},
		{
			"without collections, with templates",
			main("\t\"os\"\n\t\"text/template\"\n\n\t\"github.com/aqltag/aqltag/runtime/gen\"\n",
				"\t_ = template.Must(template.New(\"t\").Parse(\"\")).Execute(os.Stdout, nil)\n"+
					"\tserve.Main(gen.NewRegistry(nil, nil), serve.Options{Name: \"x\", Version: \"1\"})\n"),
			false, false, false, true, false,
		},
		{
			"with a collection",
			main("\t\"github.com/aqltag/aqltag/test/collections/parts\"\n",
				"\tserve.Main(parts.NewRegistry(new(parts.Store), new(parts.Tasks)),\n"+
					"\t\tserve.Options{Name: \"x\", Version: \"1\"})\n"),
			true, false, false, false, false,
		},
		{
			"with a collection and computed fields",
			main("\t\"github.com/aqltag/aqltag/test/collections/crates\"\n",
				"\tserve.Main(crates.NewRegistry(new(crates.Depot), new(crates.Scale)),\n"+
					"\t\tserve.Options{Name: \"x\", Version: \"1\"})\n"),
			true, true, false, false, false,
		},
		{
			"with relations",
			main("\t\"github.com/aqltag/aqltag/test/collections/people\"\n",
				"\tserve.Main(people.NewRegistry(new(people.Office)), serve.Options{Name: \"x\", Version: \"1\"})\n"),
			false, false, true, false, false,
		},
		{
			"with executions",
			main("\t\"context\"\n\n\taql \"github.com/aqltag/aqltag/runtime\"\n"+
				"\t\"github.com/aqltag/aqltag/runtime/gen\"\n",
				"\trun := func(context.Context, []any, any, *aql.Run) (any, error) { return nil, nil }\n"+
					"\thandler := gen.Handler{\n\t\tName: \"x\", Category: gen.Execute, Request: (*struct{})(nil),\n"+
					"\t\tExecution: &gen.Execution{Run: aql.RunFunc(run)},\n\t}\n"+
					"\tserve.Main(gen.NewRegistry([]gen.Handler{handler}, nil), serve.Options{Name: \"x\", Version: \"1\"})\n"),
			false, false, false, false, true,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			binary := filepath.Join(t.TempDir(), "adapter")
			inRepository(t, "build", "-o", binary, tt.program)
			symbols := inRepository(t, "tool", "nm", binary)
			for _, code := range []struct {
				pattern string
				linked  bool
			}{
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime/internal/collection\..*$`, tt.collections},
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime/internal/cursor\..*$`, tt.collections || tt.relations},
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime/internal/related\..*$`, tt.relations},
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime\.\(\*(relations|visit|relationLoads)\)\..*$`, tt.relations},
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime/internal/codec\.\(\*[rR]elated\w*\)\..*$`, tt.relations},
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime/gen\.RelationshipOperation$`, tt.relations},
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime\.\(\*asking\)\..*$`, tt.collections},
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime/internal/codec\.\(\*(Query|filterReader)\)\..*$`, tt.collections},
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime/internal/codec\.\(\*computed(Fields|Values)\)\..*$`, tt.computed},
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime/execution\.\(\*Engine\)\..*$`, tt.executions},
				{`(?m)^.* T github\.com/aqltag/aqltag/runtime/gen\.ExecutionOperations$`, tt.executions},
				{`(?m)^.* T time\.Time\.ISOWeek$`, tt.methods},
			} {
				if found := regexp.MustCompile(code.pattern).FindAllString(symbols, -1); found != nil != code.linked {
					t.Errorf("linked of %s: %q", code.pattern, found)
				}
			}
		})
	}
}
