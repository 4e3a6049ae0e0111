package diag_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/model"
)

// The carets stand under the bytes, whatever tabs and wide letters stand before them.
func TestWrite(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "a.go")
	if err := os.WriteFile(file, []byte("one\n\tx\t`aql:\"é,wrong\"`\r\nlast"), 0o644); err != nil {
		t.Fatal(err)
	}
	at := func(line, column int) model.Position { return model.Position{File: file, Line: line, Column: column} }
	tests := map[string]struct {
		d    diag.Diagnostic
		base string
		want string
	}{
		"tabs are kept": {
			diag.Diagnostic{Severity: diag.Error, Position: at(2, 13), EndColumn: 18, Message: "wrong"}, dir,
			"a.go:2:13: wrong\n\tx\t`aql:\"é,wrong\"`\n\t \t        ^~~~~\n",
		},
		"wide letters count once": {
			diag.Diagnostic{Severity: diag.Error, Position: at(2, 10), EndColumn: 13, Message: "é"}, dir,
			"a.go:2:10: é\n\tx\t`aql:\"é,wrong\"`\n\t \t      ^~\n",
		},
		"a place without an end": {
			diag.Diagnostic{Severity: diag.Error, Position: at(1, 2), Message: "here"}, dir, "a.go:1:2: here\none\n ^\n",
		},
		"an end beyond the line": {
			diag.Diagnostic{Severity: diag.Error, Position: at(3, 3), EndColumn: 99, Message: "long"}, dir,
			"a.go:3:3: long\nlast\n  ^~\n",
		},
		"a column beyond the line": {
			diag.Diagnostic{Severity: diag.Error, Position: at(1, 9), Message: "off"}, dir, "a.go:1:9: off\none\n   ^\n",
		},
		"no such line": {
			diag.Diagnostic{Severity: diag.Error, Position: at(9, 1), Message: "gone"}, dir, "a.go:9:1: gone\n",
		},
		"warning, suggestion, related": {
			diag.Diagnostic{
				Severity: diag.Warning, Position: at(1, 1), EndColumn: 4, Message: "hm", Suggestion: "do",
				Related: []diag.Related{{Position: at(3, 1), Message: "there"}},
			}, dir, "a.go:1:1: warning: hm\none\n^~~\nsuggestion: do\n\ta.go:3:1: there\n",
		},
		"outside the directory": {
			diag.Diagnostic{Severity: diag.Note, Position: at(1, 1), Message: "far"}, filepath.Join(dir, "sub"),
			file + ":1:1: note: far\none\n^\n",
		},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			if err := tt.d.Write(&out, tt.base, false); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, out.String()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Colours wrap the text and change nothing of it.
func TestWriteColor(t *testing.T) {
	var out bytes.Buffer
	d := diag.Diagnostic{
		Severity: diag.Error, Position: model.Position{File: "x.go", Line: 1, Column: 2}, Message: "wrong",
	}
	if err := d.Write(&out, "", true); err != nil {
		t.Fatal(err)
	}
	if want := "\x1b[1mx.go:1:2:\x1b[0m \x1b[31mwrong\x1b[0m\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}

// Machines read snake_case names, SCHEMA codes and flat positions (REQ-GE-01).
func TestDiagnosticJSON(t *testing.T) {
	got, err := json.Marshal(diag.Diagnostic{
		Severity: diag.Error, Code: "SCHEMA_INVALID_NAME", Position: model.Position{File: "/a.go", Line: 3, Column: 7},
		EndColumn: 9,
		Message:   "m", Expected: "e", Actual: "a", Suggestion: "s", FieldPath: "A.B",
		Related: []diag.Related{{Position: model.Position{File: "/b.go", Line: 1, Column: 2}, Message: "r"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"severity":"error","code":"SCHEMA_INVALID_NAME","file":"/a.go","line":3,"column":7,"end_column":9,` +
		`"message":"m",` +
		`"expected":"e","actual":"a","suggestion":"s","field_path":"A.B","related":[{"file":"/b.go","line":1,"column":2,` +
		`"message":"r"}]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
