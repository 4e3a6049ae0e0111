// Command proxy serves the modules of this repository from a folder, as a module proxy would after a release, and prints
// the environment that leads the go command there, one variable a line:
//
//	export $(go run ./release/proxy -dir /tmp/proxy -version v0.0.1)
//
// With -forget it removes the version from the module cache instead.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"

	"github.com/aqltag/aqltag/internal/scratch"
	"github.com/aqltag/aqltag/test/release"
)

func main() {
	dir := flag.String("dir", "", "`folder` to write the proxy into")
	version := flag.String("version", "v0.1.0", "`version` of all modules")
	forget := flag.Bool("forget", false, "remove the version from the module cache")
	flag.Parse()
	if err := run(*dir, *version, *forget); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(dir, version string, forget bool) error {
	ctx := context.Background()
	if forget {
		return release.Forget(ctx, version)
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	repository, err := scratch.Root()
	if err != nil {
		return err
	}
	environment, err := release.Serve(ctx, dir, repository, version)
	if err != nil {
		return err
	}
	for _, variable := range environment {
		fmt.Println(variable)
	}
	return nil
}
