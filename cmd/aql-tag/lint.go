package main

import (
	"context"
	"fmt"
)

// runLint prints what is wrong with the packages and what could serve agents better. It writes nothing.
func runLint(ctx context.Context, env *environment, args []string) int {
	f, code := parseFlags(env, "lint", args)
	if code >= 0 {
		return code
	}
	options := scanOptions(env, f)
	options.Lint = true
	result, code := load(ctx, env, f, options)
	if code >= 0 {
		return code
	}
	if f.verbose {
		fmt.Fprintf(env.stderr, "%d packages with operations, %d findings\n", len(result.Packages), len(result.Diagnostics))
	}
	if len(result.Diagnostics) > 0 {
		return exitSource
	}
	return exitOK
}
