package diag

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/words"
)

// Digest shows many diagnostics on little space: the worst first, and those of one kind in one package as one entry.
type Digest struct {
	entries [][]Diagnostic // each of one kind, or a single diagnostic
}

// NewDigest orders sorted diagnostics by severity and kind, and among equals by place. Without grouped each is an entry
// of its own.
func NewDigest(list []Diagnostic, grouped bool) Digest {
	type key struct {
		severity Severity
		kind     Kind
		dir      string
	}
	keyOf := func(d Diagnostic) key { return key{d.Severity, d.Kind, filepath.Dir(d.Position.File)} }
	count := make(map[key]int)
	for _, d := range list {
		count[keyOf(d)]++
	}
	var digest Digest
	entryOf := make(map[key]int)
	for _, d := range list {
		of := keyOf(d)
		at, known := entryOf[of]
		if known && grouped && count[of] >= d.Kind.groupedFrom() {
			digest.entries[at] = append(digest.entries[at], d)
			continue
		}
		entryOf[of] = len(digest.entries)
		digest.entries = append(digest.entries, []Diagnostic{d})
	}
	slices.SortStableFunc(digest.entries, func(a, b []Diagnostic) int {
		return cmp.Or(cmp.Compare(a[0].Severity.weight(), b[0].Severity.weight()),
			cmp.Compare(a[0].Kind.weight(), b[0].Kind.weight()))
	})
	return digest
}

// Entries is how many entries there are.
func (g Digest) Entries() int { return len(g.entries) }

// Write prints at most the given number of entries, 0 meaning all, and returns how many diagnostics it left out. The
// other parameters are those of Diagnostic.Write.
func (g Digest) Write(w io.Writer, most int, relativeTo string, color bool) (leftOut int, err error) {
	for i, entry := range g.entries {
		if most > 0 && i >= most {
			leftOut += len(entry)
			continue
		}
		if len(entry) == 1 {
			err = entry[0].Write(w, relativeTo, color)
		} else {
			err = writeGroup(w, entry, relativeTo, color)
		}
		if err != nil {
			return 0, err
		}
	}
	return leftOut, nil
}

// namedMembers is how many diagnostics of an entry are named.
const namedMembers = 5

// writeGroup prints diagnostics of one kind as one entry: at the place of the first, with the names of the first few.
func writeGroup(w io.Writer, group []Diagnostic, relativeTo string, color bool) error {
	first := group[0]
	var b strings.Builder
	paint := painter(color)
	b.WriteString(paint.bold(place(first.Position, relativeTo)+":") + " ")
	heading := fmt.Sprintf("%d %s: ", len(group), first.Kind)
	if first.Severity == Error {
		b.WriteString(paint.red(heading))
	} else {
		b.WriteString(paint.yellow(string(first.Severity)+":") + " " + heading)
	}
	for i, d := range group[:min(namedMembers, len(group))] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(cmp.Or(d.FieldPath, d.Actual) + " (")
		if d.Position.File != first.Position.File {
			b.WriteString(filepath.Base(d.Position.File))
		}
		fmt.Fprintf(&b, ":%d)", d.Position.Line)
	}
	if more := len(group) - namedMembers; more > 0 {
		fmt.Fprintf(&b, " and %d more", more)
	}
	b.WriteByte('\n')
	if first.Suggestion != "" {
		b.WriteString(paint.green("suggestion:") + " " + first.Suggestion + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Tally counts diagnostics by severity, such as "3 findings: 1 error, 2 warnings".
func Tally(list []Diagnostic) string {
	var parts []string
	for _, severity := range []Severity{Error, Warning, Note} {
		n := 0
		for _, d := range list {
			if d.Severity == severity {
				n++
			}
		}
		if n > 0 {
			parts = append(parts, words.Count(n, string(severity)))
		}
	}
	return words.Count(len(list), "finding") + ": " + strings.Join(parts, ", ")
}
