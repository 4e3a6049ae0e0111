package main

import (
	"context"
	"fmt"
	"io"
	"regexp"
	"strings"
	"text/tabwriter"

	"github.com/aqltag/aqltag/internal/propose"
	"github.com/aqltag/aqltag/internal/scan"
)

const initHelp = `
Usage: aql-tag init [flags] [packages]

init lists the functions that could be operations, with a category and a danger level, and why the others could not.
It goes by names, results and bodies, and on doubt takes the higher level: what it does not know is EXECUTE and
destructive. What is marked with ? is worth a look. A guess is written with the key guessed, which lint and check report
until a person removes it.

Flags:
`

// runInit lists the functions that could be operations, and writes their directives if asked to.
func runInit(ctx context.Context, env *environment, args []string) int {
	var f flags
	var only *regexp.Regexp // nil: all
	set := newFlagSet(env, "init", initHelp)
	f.declare(set, "print the proposals as one JSON object on standard output",
		"list unexported functions too, and say why loading took long")
	write := set.Bool("w", false, "write the directives above the functions, and change nothing else")
	summary := set.Bool("summary", false, "print counts in place of lists")
	wrap := set.Bool("wrap", false,
		"adopt functions of packages that cannot be edited: with -w in files of the package at hand")
	const onlyUsage = "propose only operations or functions (Type.Method) that match a `regexp`"
	onlyText := ""
	set.Func("only", onlyUsage, func(text string) (err error) {
		onlyText = text
		only, err = regexp.Compile(text)
		return err
	})
	if code := f.parse(set, args); code >= 0 {
		return code
	}
	chosen := func(operation, function string) bool {
		return only == nil || only.MatchString(operation) || only.MatchString(function)
	}
	proposals, err := propose.Operations(ctx, scan.Options{
		Dir: env.dir, Patterns: f.packages, Tags: f.command(env).Tags, Cache: env.cache, Adopt: *wrap,
	}, chosen)
	if err != nil {
		return fail(env, exitUsage, err)
	}
	f.reportLoader(env, proposals.FallbackReason)
	code := exitOK
	if len(proposals.Diagnostics) > 0 {
		code = exitSource
	}
	var written []string
	if *write && code == exitOK {
		if written, err = writeProposals(env, proposals, *wrap); err != nil {
			code = fail(env, exitIO, err)
		}
	}
	if f.json {
		err = printProposalsJSON(env, proposals, written)
	} else {
		err = printProposals(env, f, proposals, written, initRequest{only: onlyText, summary: *summary})
	}
	if err != nil {
		return fail(env, exitIO, fmt.Errorf("printing the proposals: %w", err))
	}
	return code
}

// initRequest are the flags of init that its output depends on.
type initRequest struct {
	only    string
	summary bool
}

// writeProposals writes the directives of the candidates: above their functions, or, with wrap, into files of the
// package at hand.
func writeProposals(env *environment, proposals propose.Proposals, wrap bool) ([]string, error) {
	if wrap {
		return proposals.Adopt(env.dir)
	}
	return proposals.Write(nil)
}

// printProposals prints a table of the candidates, what to check, what cannot be an operation and why, and what to do
// next.
func printProposals(
	env *environment, f flags, proposals propose.Proposals, written []string, request initRequest,
) error {
	for _, d := range proposals.Diagnostics {
		if err := d.Write(env.stderr, env.dir, env.color); err != nil {
			return err
		}
	}
	if f.quiet {
		return nil
	}
	var b strings.Builder
	if request.summary {
		if err := printSummary(&b, proposals); err != nil {
			return err
		}
	}
	for _, pkg := range proposals.Packages {
		if request.summary {
			break
		}
		if err := printProposedPackage(&b, env.dir, pkg, f.verbose); err != nil {
			return err
		}
	}
	for _, file := range written {
		fmt.Fprintf(&b, "wrote %s\n", shown(env.dir, file))
	}
	if len(written) > 0 {
		fmt.Fprintln(&b)
	}
	printNext(&b, nextSteps{env: env, flags: f, only: request.only, proposals: proposals, written: len(written) > 0})
	_, err := io.WriteString(env.stdout, b.String())
	return err
}

func printProposedPackage(b *strings.Builder, dir string, pkg propose.Package, all bool) error {
	place := func(file string, line int) string { return fmt.Sprintf("%s:%d", shown(dir, file), line) }
	fmt.Fprintf(b, "package %s\n\n", pkg.Path)
	if len(pkg.Candidates) > 0 {
		table := tabwriter.NewWriter(b, 0, 8, 2, ' ', 0)
		fmt.Fprintln(table, "  \tOPERATION\tCATEGORY\tDANGER\tIDENTIFIERS\tFUNCTION\tPLACE")
		for _, c := range pkg.Candidates {
			mark, identifiers := " ", strings.Join(c.Identifiers, " ")
			if len(c.Checks) > 0 || c.Guessed || c.Locked != "" {
				mark = "?"
			}
			if identifiers == "" {
				identifiers = "-"
			}
			fmt.Fprintf(table, "%s \t%s\t%s\t%s\t%s\t%s\t%s\n", mark, c.Operation, c.Category, c.Danger, identifiers, c.Function,
				place(c.Position.File, c.Position.Line))
		}
		if err := table.Flush(); err != nil {
			return err
		}
		fmt.Fprintln(b)
	}
	printDoubts(b, pkg)
	if len(pkg.Existing) > 0 {
		fmt.Fprintln(b, "Operations already:")
		for _, e := range pkg.Existing {
			fmt.Fprintf(b, "  %s: %s (%s)\n", place(e.Position.File, e.Position.Line), e.Function, e.Operation)
		}
		fmt.Fprintln(b)
	}
	hidden, shownAny := 0, false
	for _, r := range pkg.Rejected {
		if r.Unexported && !all {
			hidden++
			continue
		}
		if !shownAny {
			fmt.Fprintln(b, "Not operations:")
			shownAny = true
		}
		fmt.Fprintf(b, "  %s: %s: %s\n", place(r.Position.File, r.Position.Line), r.Function, r.Reason)
		if r.Suggestion != "" {
			fmt.Fprintf(b, "    suggestion: %s\n", r.Suggestion)
		}
	}
	if hidden > 0 {
		fmt.Fprintf(b, "Functions left out because they are not exported: %d (-v lists them)\n", hidden)
	}
	if shownAny || hidden > 0 {
		fmt.Fprintln(b)
	}
	return nil
}

// printDoubts prints what a person should check before trusting the table.
func printDoubts(b *strings.Builder, pkg propose.Package) {
	any := false
	line := func(name, text string) {
		if !any {
			fmt.Fprintln(b, "Please check (?):")
			any = true
		}
		fmt.Fprintf(b, "  %s: %s\n", name, text)
	}
	locked := make(map[string][]string)
	var reasons []string
	for _, c := range pkg.Candidates {
		for _, check := range c.Checks {
			line(c.Operation, check)
		}
		if c.Locked != "" {
			if locked[c.Locked] == nil {
				reasons = append(reasons, c.Locked)
			}
			locked[c.Locked] = append(locked[c.Locked], c.Operation)
		}
	}
	for _, reason := range reasons {
		line(strings.Join(locked[reason], ", "), "not written by -w: "+reason)
	}
	if any {
		fmt.Fprintln(b)
	}
}
