package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/aqltag/aqltag/internal/scratch"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"aql-tag": main})
}

// The command as people meet it: each script in testdata/script is a session in a module of its own that requires this
// repository.
func TestScripts(t *testing.T) {
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
			return scratch.Write(env.WorkDir, "example.com/app")
		},
	})
}
