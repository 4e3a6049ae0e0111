package scan_test

import (
	"testing"

	"github.com/aqltag/aqltag/internal/scantest"
)

// In a workspace both loaders find the same operations, with types and comments of other modules of the workspace, and
// what is wrong there is reported there: the user can edit all of them.
func TestWorkspace(t *testing.T) {
	const files = `
-- go.work --
go 1.26

use (
	.
	./aqltag
	./types
	./nested
)
-- app.go --
package app

import (
	aql "github.com/aqltag/aqltag/runtime"
	"example.com/app/nested"
	"example.com/types"
)

// UpdateRequest changes a note.
type UpdateRequest struct {
	_     struct{}              ` + "`aql:\"category=UPDATE\"`" + `
	ID    string                ` + "`json:\"id\" aql:\"required\"`" + `
	Input aql.Patch[types.Note] ` + "`json:\"input\"`" + `
}

// Update changes a note.
func Update(UpdateRequest) (*nested.Page[types.Note], error) { return nil, nil }
-- types/go.mod --
module example.com/types

go 1.26
-- types/types.go --
package types

// Note is a note.
type Note struct {
	Text  string ` + "`json:\"text\" aql:\"maxlen=9\"`" + ` // What it says
	Level Level  ` + "`json:\"level\"`" + `
	Wrong int    ` + "`json:\"wrong\" aql:\"maxlen=9\"`" + `
}

// Level is how loud a note is.
type Level string

const Loud Level = "loud" // With capitals
-- nested/go.mod --
module example.com/app/nested

go 1.26
-- nested/nested.go --
package nested

// Page is a part of a list.
type Page[T any] struct {
	Items []T ` + "`json:\"items\"`" + `
}
`
	dir := scantest.Write(t, files)
	result, reason := scantest.LoadEnv(t, []string{"GOWORK=", "GOFLAGS=", "GOPROXY=off"}, dir)
	if reason != nil {
		t.Errorf("left to go/packages: %v", reason)
	}
	want := "types/types.go:7:34: maxlen does not apply to type int; it is for string\n" +
		"\tWrong int    `json:\"wrong\" aql:\"maxlen=9\"`\n\t                                ^~~~~~~~\n" +
		"suggestion: use max\n"
	if got := scantest.Render(t, dir, result); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	if len(result.Packages) != 1 || len(result.Packages[0].Types) != 4 {
		t.Errorf("got %+v", result.Packages)
	}
}
