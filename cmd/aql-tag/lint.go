package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan"
)

const lintHelp = `
Usage: aql-tag lint [flags] [packages]

lint prints what is wrong with the packages, and what could serve agents better: missing descriptions and examples,
names that say something else than the category, texts that agents will not see. It writes nothing, and exits with 2
if it prints anything.

The worst comes first. Many findings of one kind are one entry for each package, with the names and lines of the first
few. -max 0 prints each finding by itself, and -json has every finding whatever -max says.

Flags:

The same check runs as a tool of go vet, with suggested fixes:

  go vet -vettool=$(go tool -n aql-tag) ./...
`

// runLint prints the mistakes in packages, and what could serve agents better.
func runLint(ctx context.Context, env *environment, args []string) int {
	var f flags
	var most int
	set := newFlagSet(env, "lint", lintHelp)
	f.declare(set, jsonDiagnostics, "count packages and findings, and say why loading took long")
	set.IntVar(&most, "max", 15, "print at most `n` entries; 0: each finding by itself")
	if code := f.parse(set, args); code >= 0 {
		return code
	}
	if most < 0 {
		return set.refuse(errors.New("-max needs 0 or more"))
	}
	result, err := scan.Load(ctx, scan.Options{
		Dir: env.dir, Patterns: f.packages, Tags: f.command(env).Tags, Cache: env.cache, Lint: true,
	})
	if err != nil {
		return fail(env, exitUsage, err)
	}
	f.reportLoader(env, result.FallbackReason)
	if err := f.reportWorstFirst(env, result.Diagnostics, most); err != nil {
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

// reportWorstFirst prints the entries of a lint run, at most the given number, and counts the findings.
func (f *flags) reportWorstFirst(env *environment, diagnostics []diag.Diagnostic, most int) error {
	if f.json {
		return f.report(env, diagnostics)
	}
	if f.quiet {
		diagnostics = slices.DeleteFunc(slices.Clone(diagnostics), func(d diag.Diagnostic) bool {
			return d.Severity != diag.Error
		})
	}
	if len(diagnostics) == 0 {
		return nil
	}
	digest := diag.NewDigest(diagnostics, most > 0)
	leftOut, err := digest.Write(env.stderr, most, env.dir, env.color)
	if err != nil {
		return fmt.Errorf("writing diagnostics: %w", err)
	}
	tally := diag.Tally(diagnostics)
	if leftOut > 0 {
		tally += fmt.Sprintf("; %d are not shown", leftOut)
	}
	if leftOut > 0 || digest.Entries() < len(diagnostics) {
		tally += "; -max 0 prints each by itself"
	}
	fmt.Fprintln(env.stderr, tally)
	return nil
}
