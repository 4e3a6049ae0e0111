package main

import (
	"context"
	"fmt"

	"github.com/aqltag/aqltag/internal/scan"
)

const lintHelp = `
Usage: aql-tag lint [flags] [packages]

lint prints what is wrong with the packages, and what could serve agents better: missing descriptions and examples,
names that say something else than the category, texts that agents will not see. It writes nothing, and exits with 2
if it prints anything.

Flags:

The same check runs as a tool of go vet, with suggested fixes:

  go vet -vettool=$(go tool -n aql-tag) ./...
`

// runLint prints the mistakes in packages, and what could serve agents better.
func runLint(ctx context.Context, env *environment, args []string) int {
	var f flags
	set := newFlagSet(env, "lint", lintHelp)
	f.declare(set, jsonDiagnostics, "count packages and findings, and say why loading took long")
	if code := f.parse(set, args); code >= 0 {
		return code
	}
	result, err := scan.Load(ctx, scan.Options{
		Dir: env.dir, Patterns: f.packages, Tags: f.command(env).Tags, Cache: env.cache, Lint: true,
	})
	if err != nil {
		return fail(env, exitUsage, err)
	}
	f.reportLoader(env, result.FallbackReason)
	if err := f.report(env, result.Diagnostics); err != nil {
		return fail(env, exitIO, err)
	}
	if f.verbose {
		fmt.Fprintf(env.stderr, "%d packages with operations, %d findings\n", len(result.Packages), len(result.Diagnostics))
	}
	if len(result.Diagnostics) > 0 {
		return exitSource
	}
	return exitOK
}
