package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/aqltag/aqltag/internal/propose"
	"github.com/aqltag/aqltag/runtime/gen"
)

// summaryReasons is how many reasons a summary prints.
const summaryReasons = 10

// printSummary prints what is proposed in counts: by category and danger level, and what cannot be an operation by
// reason. The output of a large library fits on a screen.
func printSummary(b *strings.Builder, proposals propose.Proposals) error {
	var total, guessed, locked, existing, rejected int
	counts := make(map[gen.Category]map[gen.Danger]int)
	reasons := make(map[string]int)
	for _, pkg := range proposals.Packages {
		existing += len(pkg.Existing)
		rejected += len(pkg.Rejected)
		for _, c := range pkg.Candidates {
			total++
			if counts[c.Category] == nil {
				counts[c.Category] = make(map[gen.Danger]int)
			}
			counts[c.Category][c.Danger]++
			if c.Guessed {
				guessed++
			}
			if c.Locked != "" {
				locked++
			}
		}
		for _, r := range pkg.Rejected {
			reasons[r.Kind()]++
		}
	}
	fmt.Fprintf(b, "%d packages: %d functions could be operations, %d are already, %d cannot\n\n",
		len(proposals.Packages), total, existing, rejected)
	if total > 0 {
		table := tabwriter.NewWriter(b, 0, 8, 2, ' ', tabwriter.AlignRight)
		fmt.Fprint(table, "  \t")
		for _, danger := range gen.Dangers() {
			fmt.Fprintf(table, "%s\t", danger)
		}
		fmt.Fprintln(table)
		for _, category := range gen.Categories() {
			fmt.Fprintf(table, "  %s\t", category)
			for _, danger := range gen.Dangers() {
				fmt.Fprintf(table, "%s\t", countText(counts[category][danger]))
			}
			fmt.Fprintln(table)
		}
		if err := table.Flush(); err != nil {
			return err
		}
		fmt.Fprintf(b, "\nGuessed: %d of %d. Not written by -w: %d.\n\n", guessed, total, locked)
	}
	if rejected > 0 {
		printReasons(b, reasons)
	}
	return nil
}

// countText is a count in a table, a dot for none.
func countText(n int) string {
	if n == 0 {
		return "."
	}
	return fmt.Sprint(n)
}

// printReasons prints the most frequent reasons first.
func printReasons(b *strings.Builder, reasons map[string]int) {
	fmt.Fprintln(b, "Not operations:")
	order := slices.SortedFunc(maps.Keys(reasons), func(x, y string) int {
		return cmp.Or(cmp.Compare(reasons[y], reasons[x]), cmp.Compare(x, y))
	})
	rest := 0
	for i, reason := range order {
		if i < summaryReasons {
			fmt.Fprintf(b, "  %4d  %s\n", reasons[reason], reason)
		} else {
			rest += reasons[reason]
		}
	}
	if rest > 0 {
		fmt.Fprintf(b, "  %4d  for %d other reasons\n", rest, len(order)-summaryReasons)
	}
	fmt.Fprintln(b)
}
