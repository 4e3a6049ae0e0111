package main

import (
	"context"
	"fmt"
)

const genHelp = `
Usage: aql-tag [gen] [flags] [packages]

gen writes aql_gen.go for every package that has operations, and removes that of a package that has none left. It
prints the files that it wrote or removed. Nothing is written while any of the packages has errors.

Packages are named as for the go command; without any it is the one in the current directory.

Flags:
`

// runGen writes the generated files that are out of date.
func runGen(ctx context.Context, env *environment, args []string) int {
	var f flags
	set := newFlagSet(env, "gen", genHelp)
	f.declare(set, jsonDiagnostics, verboseFiles)
	if code := f.parse(set, args); code >= 0 {
		return code
	}
	run, code := f.generate(ctx, env, false)
	if code >= 0 {
		return code
	}
	for _, file := range run.Files {
		name := shown(env.dir, file.Name)
		verb, err := file.Write()
		switch {
		case err != nil:
			return fail(env, exitIO, err)
		case verb == "" && f.verbose:
			fmt.Fprintf(env.stderr, "%s is up to date\n", name)
		case verb != "" && !f.quiet && !f.json:
			fmt.Fprintf(env.stdout, "%s %s\n", verb, name)
		}
	}
	f.remember(env, run)
	return exitOK
}
