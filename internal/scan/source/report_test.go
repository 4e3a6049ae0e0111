package source

import (
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/aqltag/aqltag/model"
)

func TestErrorPosition(t *testing.T) {
	for pos, want := range map[string]model.Position{
		"/a/b.go:3:14":   {File: "/a/b.go", Line: 3, Column: 14},
		"/a/b.go:3":      {File: "/a/b.go", Line: 3, Column: 1},
		`C:\a\b.go:3:14`: {File: `C:\a\b.go`, Line: 3, Column: 14},
		"-":              {},
		"":               {},
		"/a/b.go":        {},
	} {
		got, ok := ErrorPosition(packages.Error{Pos: pos})
		if got != want || ok != (want != model.Position{}) {
			t.Errorf("%q: got %v, %v", pos, got, ok)
		}
	}
}
