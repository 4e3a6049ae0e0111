package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/aqltag/aqltag/internal/generate"
)

const checkHelp = `
Usage: aql-tag check [flags] [packages]

check writes nothing. It prints a diff for every generated file that is missing or out of date, and then exits with 6.
Where all are up to date, it exits with 2 if an operation is marked as guessed: aql-tag init guessed its category and
danger level, and nobody has reviewed them.

With -against it also compares what agents see with an old version of the adapter, which export wrote with -format
snapshot or introspection, and exits with 6 if a change breaks agents.

Flags:

With -against, -v prints the changes that break nothing too, and -json prints one object with the members diagnostics,
stale and changes.
`

// runCheck compares the generated files with what would be generated now and, with -against, what agents see with what
// an old version showed them.
func runCheck(ctx context.Context, env *environment, args []string) int {
	var f flags
	set := newFlagSet(env, "check", checkHelp)
	f.declare(set, jsonDiagnostics, verboseFiles)
	against := set.String("against", "", "compare what agents see with the old version in `path`")
	if code := f.parse(set, args); code >= 0 {
		return code
	}
	if *against != "" {
		return runAgainst(ctx, env, f, *against)
	}
	run, code := f.generate(ctx, env, true)
	if code >= 0 {
		return code
	}
	if stale := f.reportStale(env, run); len(stale) > 0 {
		return exitStale
	}
	f.remember(env, run)
	return reportGuesses(env, run)
}

// reportGuesses prints which operations nobody has reviewed, and returns the exit code.
func reportGuesses(env *environment, run *generate.Run) int {
	if len(run.Guessed) == 0 {
		return exitOK
	}
	list := run.Guessed[:min(5, len(run.Guessed))]
	more := ""
	if len(list) < len(run.Guessed) {
		more = fmt.Sprintf(" and %d more", len(run.Guessed)-len(list))
	}
	fmt.Fprintf(env.stderr, "aql-tag: nobody has reviewed the category and danger of %s%s; "+
		"correct what is wrong, and remove guessed\n", strings.Join(list, ", "), more)
	return exitSource
}

// reportStale prints which files are out of date, and returns them.
func (f *flags) reportStale(env *environment, run *generate.Run) []string {
	stale := []string{}
	for _, file := range run.Files {
		name := shown(env.dir, file.Name)
		if !file.Stale() {
			if f.verbose {
				fmt.Fprintf(env.stderr, "%s is up to date\n", name)
			}
			continue
		}
		stale = append(stale, name)
		if !f.json {
			fmt.Fprint(env.stdout, file.Diff(name))
		}
		if !f.quiet {
			state := "stale"
			if file.Disk == nil {
				state = "missing"
			}
			fmt.Fprintf(env.stderr, "aql-tag: %s is %s; run 'go generate' or 'go tool aql-tag gen'\n", name, state)
		}
	}
	return stale
}
