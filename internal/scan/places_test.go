package scan_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/scan"
	"github.com/aqltag/aqltag/internal/scantest"
)

// Parameters, types and fields are found where they are declared; what another package declares is not.
func TestPlaces(t *testing.T) {
	dir := scantest.Write(t, `
-- other/other.go --
package other

type Base struct {
	ID string `+"`json:\"id\"`"+`
}
-- notes/notes.go --
package notes

import "example.com/app/other"

type Color string

const Red Color = "red"

type Note struct {
	other.Base
	Color Color `+"`json:\"color\"`"+`
}

type GetRequest struct {
	_  struct{} `+"`aql:\"category=READ\"`"+`
	ID string   `+"`json:\"note_id\" aql:\"required\"`"+`
}

func Get(req GetRequest) (*Note, error) { return nil, nil }

//aql:op category=EXECUTE
func Run(
	times int,
) error {
	return nil
}
`)
	options := scan.Options{
		Dir: dir, Patterns: []string{"./notes"}, Env: []string{"GOWORK=off", "GOFLAGS=", "GOPROXY=off"},
		Cache: scantest.Cache, Places: true,
	}
	result, err := scan.Load(context.Background(), options)
	if err != nil || len(result.Packages) != 1 {
		t.Fatalf("%v, diagnostics %+v", err, result.Diagnostics)
	}
	got := make(map[string]string)
	for name, p := range result.Packages[0].Places {
		got[name] = fmt.Sprintf("%s:%d:%d", filepath.Base(p.File), p.Line, p.Column)
	}
	want := map[string]string{
		"Color": "notes.go:5:6", "Note": "notes.go:9:6", "Note.color": "notes.go:11:2", "get.note_id": "notes.go:16:2",
		"run.times": "notes.go:23:2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	options.Places = false
	if result, err = scan.Load(context.Background(), options); err != nil || result.Packages[0].Places != nil {
		t.Errorf("%v; places that nobody asked for: %v", err, result.Packages[0].Places)
	}
}
