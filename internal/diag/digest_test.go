package diag_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/model"
)

// B12: the worst comes first, and what many have in common is one entry for each package.
func TestDigest(t *testing.T) {
	finding := func(severity diag.Severity, kind diag.Kind, file string, line int) diag.Diagnostic {
		return diag.Diagnostic{
			Severity: severity, Kind: kind, Position: model.Position{File: file, Line: line, Column: 1}, Message: "M",
			FieldPath: "F", Suggestion: "S",
		}
	}
	list := []diag.Diagnostic{
		finding(diag.Note, "", "/m/a/a.go", 1),
		finding(diag.Warning, diag.KindDescription, "/m/a/a.go", 2),
		finding(diag.Warning, diag.KindReason, "/m/a/a.go", 3),
		finding(diag.Warning, diag.KindDescription, "/m/a/b.go", 4),
		finding(diag.Error, "", "/m/a/b.go", 5),
		finding(diag.Warning, diag.KindReason, "/m/a/b.go", 6),
		finding(diag.Warning, diag.KindDescription, "/m/c/c.go", 7),
	}
	each := []string{
		"a/b.go:5:1: M", "suggestion: S", "a/a.go:3:1: warning: M", "suggestion: S", "a/b.go:6:1: warning: M",
		"suggestion: S", "a/a.go:2:1: warning: M", "suggestion: S", "a/b.go:4:1: warning: M", "suggestion: S",
		"c/c.go:7:1: warning: M", "suggestion: S", "a/a.go:1:1: note: M", "suggestion: S",
	}
	grouped := append(append([]string{}, each[:6]...),
		"a/a.go:2:1: warning: 2 parameters without a description: F (:2), F (b.go:4)", "suggestion: S")
	grouped = append(grouped, each[10:]...)
	for _, tt := range []struct {
		name    string
		grouped bool
		most    int
		want    []string
		leftOut int
	}{
		{"each by itself", false, 0, each, 0},
		{"in groups", true, 0, grouped, 0},
		{"cut", true, 3, grouped[:6], 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var out strings.Builder
			leftOut, err := diag.NewDigest(list, tt.grouped).Write(&out, tt.most, "/m", false)
			if err != nil || leftOut != tt.leftOut {
				t.Errorf("left out %d, %v; want %d", leftOut, err, tt.leftOut)
			}
			if diff := cmp.Diff(strings.Join(tt.want, "\n")+"\n", out.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	if got, want := diag.Tally(list), "7 findings: 1 error, 5 warnings, 1 note"; got != want {
		t.Errorf("tally %q, want %q", got, want)
	}
}

// A kind that the order does not have would be the worst of all.
func TestEveryKindHasItsPlace(t *testing.T) {
	var list []diag.Diagnostic
	kinds := []diag.Kind{
		diag.KindReplaces, diag.KindReason, diag.KindDanger, diag.KindCategory, "", diag.KindWide, diag.KindUnset,
		diag.KindShared, diag.KindStandard, diag.KindLeak, diag.KindDryRun, diag.KindQuery, diag.KindLoop,
		diag.KindUnreached, diag.KindRest, diag.KindDrift, diag.KindRule,
		diag.KindVerb, diag.KindOperation, diag.KindDescription, diag.KindExample,
	}
	for i := range kinds {
		kind := kinds[len(kinds)-1-i]
		list = append(list, diag.Diagnostic{Severity: diag.Note, Kind: kind, Message: string(kind)})
	}
	var out strings.Builder
	if _, err := diag.NewDigest(list, true).Write(&out, 0, "", false); err != nil {
		t.Fatal(err)
	}
	at := -1
	for _, kind := range kinds {
		next := strings.Index(out.String(), "note: "+string(kind)+"\n")
		if next <= at {
			t.Errorf("%q is not behind what is worse:\n%s", kind, &out)
		}
		at = next
	}
}
