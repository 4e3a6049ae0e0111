package main

import (
	"context"
	"fmt"

	"github.com/aqltag/aqltag/internal/scan"
)

// runLint prints what is wrong with the packages and what could serve agents better. It writes nothing.
func runLint(ctx context.Context, env *environment, args []string) int {
	f, code := parseFlags(env, "lint", args)
	if code >= 0 {
		return code
	}
	result, err := scan.Load(ctx, scan.Options{
		Dir: env.dir, Patterns: f.packages, Tags: f.command(env).Tags, Cache: env.cache, Lint: true,
	})
	if err != nil {
		fmt.Fprintf(env.stderr, "aql-tag: %v\n", err)
		return exitUsage
	}
	if err := report(env, f, result.Diagnostics); err != nil {
		fmt.Fprintf(env.stderr, "aql-tag: %v\n", err)
		return exitIO
	}
	if f.verbose {
		fmt.Fprintf(env.stderr, "%d packages with operations, %d findings\n", len(result.Packages), len(result.Diagnostics))
	}
	if len(result.Diagnostics) > 0 {
		return exitSource
	}
	return exitOK
}
