// Package scratch makes Go modules for tests that build code against the working tree of this repository.
package scratch

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const root = "github.com/aqltag/aqltag"

// replaced lists the modules of this repository that a scratch module may import, by their folders.
var replaced = []struct{ path, folder string }{{root, "."}, {root + "/runtime", "runtime"}}

// Env returns the environment of go commands that run in a scratch module.
func Env() []string { return append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod") }

// Root returns the folder of this repository: the nearest one at or above the working directory that has a go.work
// file.
//
// In a test it also declares every file of the repository an input of the test. A test that starts programs on files of
// the repository, or reads files outside its module, has to find them through Root: go test would reuse its result
// otherwise although the files have changed.
func Root() (string, error) {
	repository, err := folderWith("go.work")
	if err == nil {
		err = declare(repository)
	}
	if err != nil {
		return "", fmt.Errorf("finding the repository: %w", err)
	}
	return repository, nil
}

// Write writes go.mod and go.sum of a module called name into dir. The module requires what the root module requires,
// and takes the modules of this repository from the working tree.
func Write(dir, name string) error {
	repository, err := Root()
	if err != nil {
		return err
	}
	mod, err := os.ReadFile(filepath.Join(repository, "go.mod"))
	if err != nil {
		return fmt.Errorf("writing module %s: %w", name, err)
	}
	text := strings.Replace(string(mod), "module "+root+"\n", "module "+name+"\n", 1)
	text += "\nrequire " + root + " v0.1.0\n"
	var sum []byte
	for _, module := range replaced {
		folder := filepath.Join(repository, module.folder)
		text += "\nreplace " + module.path + " => " + folder + "\n"
		sums, err := os.ReadFile(filepath.Join(folder, "go.sum"))
		if err != nil {
			return fmt.Errorf("writing module %s: %w", name, err)
		}
		sum = append(sum, sums...)
	}
	for file, data := range map[string][]byte{"go.mod": []byte(text), "go.sum": sum} {
		if err := os.WriteFile(filepath.Join(dir, file), data, 0o644); err != nil {
			return fmt.Errorf("writing module %s: %w", name, err)
		}
	}
	return nil
}
