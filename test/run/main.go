// Command run runs the tests of every module in go.work and sums up what passed, failed and was skipped.
//
//	go run ./test/run [-tier quick|test|slow|race] [-- go test flags]
//
// It runs all packages even when some fail. Failures are printed in full, a package that passes as one line. The exit
// code is 1 if anything failed. The last line is "N passed, N failed, N skipped", which counts tests and subtests.
package main

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	name := flag.String("tier", "test", "which tests: quick, test, slow or race")
	list := flag.Bool("list", false, "print the packages of the tier and run nothing")
	flag.Parse()
	ok, err := run(os.Stdout, *name, *list, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "run:", err)
		os.Exit(2)
	}
	if !ok {
		os.Exit(1)
	}
}

// run reports whether all tests of a tier passed.
func run(out io.Writer, name string, list bool, flags []string) (bool, error) {
	modules, err := readModules()
	if err != nil {
		return false, err
	}
	packages, err := readPackages(modules)
	if err != nil {
		return false, err
	}
	t, err := tierOf(name, packages)
	if err != nil {
		return false, err
	}
	if list {
		for _, p := range t.packages {
			fmt.Fprintln(out, p.ImportPath)
		}
		return true, nil
	}
	// A package may share two cores with others.
	arguments := append([]string{"test", "-json", "-timeout", "45m"}, flags...)
	if t.short {
		arguments = append(arguments, "-short")
	}
	for _, p := range t.packages {
		arguments = append(arguments, p.ImportPath)
	}
	r := newReport(out, modules)
	failure := goTest(arguments, r)
	ok := r.summarize()
	if ok && failure != nil {
		return false, fmt.Errorf("go test: %w", failure)
	}
	return ok, nil
}

// goTest runs go test and hands its events to a report.
func goTest(arguments []string, r *report) error {
	command := exec.Command("go", arguments...)
	command.Stderr = os.Stderr
	stdout, err := command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := command.Start(); err != nil {
		return err
	}
	readErr := r.read(stdout)
	if err := command.Wait(); err != nil {
		return err
	}
	return readErr
}

// module is a module of the workspace.
type module struct{ Path, Dir string }

// readModules returns the modules that go.work names.
func readModules() ([]module, error) {
	var modules []module
	return modules, goJSON(&modules, "list", "-m", "-json=Path,Dir")
}

// testPackage is a package of the workspace.
type testPackage struct {
	ImportPath, Dir           string
	Folder                    string // Dir below the folder of go.work, with slashes
	TestGoFiles, XTestGoFiles []string
}

// readPackages returns all packages of the modules.
func readPackages(modules []module) ([]testPackage, error) {
	arguments := []string{"list", "-e", "-json=ImportPath,Dir,TestGoFiles,XTestGoFiles"}
	for _, m := range modules {
		arguments = append(arguments, filepath.Join(m.Dir, "..."))
	}
	var packages []testPackage
	if err := goJSON(&packages, arguments...); err != nil {
		return nil, err
	}
	workspace, err := exec.Command("go", "env", "GOWORK").Output()
	if err != nil {
		return nil, fmt.Errorf("go env GOWORK: %w", err)
	}
	root := filepath.Dir(string(workspace))
	for i := range packages {
		folder, err := filepath.Rel(root, packages[i].Dir)
		if err != nil {
			return nil, err
		}
		packages[i].Folder = filepath.ToSlash(folder)
	}
	return packages, nil
}

// leavesOut reports whether the race tier goes without a test of the package: one that asks whether it runs with
// -short, or one in a file that is not built with the race detector.
func (p testPackage) leavesOut() (bool, error) {
	for _, file := range slices.Concat(p.TestGoFiles, p.XTestGoFiles) {
		source, err := os.ReadFile(filepath.Join(p.Dir, file))
		if err != nil {
			return false, err
		}
		if bytes.Contains(source, []byte("testing.Short()")) || bytes.HasPrefix(source, []byte("//go:build !race\n")) {
			return true, nil
		}
	}
	return false, nil
}

// goJSON runs a go command that prints JSON values, and appends these to a slice.
func goJSON[T any](into *[]T, arguments ...string) error {
	command := exec.Command("go", arguments...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		return fmt.Errorf("go %s: %w", strings.Join(arguments, " "), err)
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var value T
		switch err := decoder.Decode(&value); err {
		case nil:
			*into = append(*into, value)
		case io.EOF:
			return nil
		default:
			return fmt.Errorf("go %s: %w", arguments[0], err)
		}
	}
}
