package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"aql-tag": main})
}

// The command as people meet it: each script in testdata/script is a session in a module of its own that requires this
// repository.
func TestScripts(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	mod := strings.Replace(read("go.mod"), "module github.com/aqltag/aqltag\n", "module example.com/app\n", 1) +
		"\nrequire github.com/aqltag/aqltag v0.0.0\n\nreplace github.com/aqltag/aqltag => " + root + "\n"
	sum := read("go.sum")
	goEnv := map[string]string{}
	out, err := exec.Command("go", "env", "-json", "GOCACHE", "GOMODCACHE", "GOPATH", "GOPROXY", "GOSUMDB").Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(out, &goEnv); err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		UpdateScripts:       os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			for name, value := range goEnv {
				env.Setenv(name, value)
			}
			env.Setenv("GOWORK", "off")
			env.Setenv("GOFLAGS", "-mod=mod")
			env.Setenv("HOME", env.WorkDir)
			if err := os.WriteFile(filepath.Join(env.WorkDir, "go.mod"), []byte(mod), 0o644); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(env.WorkDir, "go.sum"), []byte(sum), 0o644)
		},
	})
}
