package conform_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// The subcommand operator as people meet it: each script in testdata/operator is a session at a terminal with the built
// example, which agents call with "aql-tag call". A script finds the programs todo and aql-tag.
func TestOperator(t *testing.T) {
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", bin, "github.com/aqltag/aqltag/cmd/aql-tag")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if err := os.Symlink(binary(t), filepath.Join(bin, "todo")); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "operator"),
		RequireExplicitExec: true,
		UpdateScripts:       *update,
		Setup: func(env *testscript.Env) error {
			env.Setenv("PATH", bin+string(os.PathListSeparator)+env.Getenv("PATH"))
			env.Setenv("MCP_AQL_STATE", "state.db")
			env.Setenv("MCP_AQL_AUDIT", "audit.log")
			return nil
		},
	})
}
