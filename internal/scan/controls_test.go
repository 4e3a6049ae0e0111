package scan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/scantest"
)

// C12: the Go parser accepts characters in comments and tags that agents would read and reviewers do not see: marks of
// the direction of writing, escape sequences, and tags that hide text. Each is an error at its byte. Characters that
// writing needs are none, and what bodies of functions have is nobody's description.
func TestHiddenCharacters(t *testing.T) {
	dir := scantest.Write(t, strings.NewReplacer("<RLO>", "\u202e", "<PDF>", "\u202c", "<ESC>", "\x1b", "<TAG>",
		"\U000e0041", "<ZWJ>", "\u200d").Replace(`-- go.mod --
module example.com/app

go 1.26
-- app.go --
// Package app <ESC>[31m keeps.
package app

// GetRequest reads.
type GetRequest struct {
	_    struct{} `+"`aql:\"category=READ\"`"+`
	Name string   `+"`json:\"name\" aql:\"required\"`"+` // Who <RLO>nimda<PDF> is
	Tag  string   `+"`json:\"tag\" aql:\"example=<TAG>x\"`"+`
}

// Get reads a 👩<ZWJ>💻 of שלום.
//
//aql:example {"name":"<RLO>x"}
func Get(req GetRequest) (string, error) {
	// <RLO>
	return "<RLO>", nil
}
-- other/other.go --
// Package other has no operations. <RLO>
package other
`))
	want := `app.go:1:16: the comment has the character U+001B, which hides text or changes how it looks
app.go:7:52: the comment has the character U+202E, which hides text or changes how it looks
app.go:8:41: the struct tag has the character U+E0041, which hides text or changes how it looks
app.go:13:24: the comment has the character U+202E, which hides text or changes how it looks
`
	var got strings.Builder
	for line := range strings.Lines(scantest.Render(t, dir, scantest.Load(t, dir))) {
		if strings.Contains(line, "hides text") {
			got.WriteString(line)
		}
	}
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s", diff)
	}
}
