package zoo_test

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	godiff "github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan"
	"github.com/aqltag/aqltag/test/zoo/refused"
)

// What JSON cannot carry is refused at its field, with advice (A12).
func TestRefused(t *testing.T) {
	const golden = "testdata/refused.txt"
	dir, err := filepath.Abs("refused")
	if err != nil {
		t.Fatal(err)
	}
	found, err := scan.Load(t.Context(), scan.Options{Dir: dir, Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	reported := make(map[string]bool)
	for _, d := range found.Diagnostics {
		if err := d.Write(&text, dir, false); err != nil {
			t.Fatal(err)
		}
		reported[d.FieldPath] = d.Severity == diag.Error
	}
	if *update {
		if err := os.WriteFile(golden, text.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := godiff.Diff(string(want), text.String()); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s", diff)
	}
	for field := range reflect.TypeFor[refused.Refused]().Fields() {
		path := "Refused." + field.Name
		if field.Name != "_" && !reported[path] && !strings.Contains(text.String(), "field "+path+".") {
			t.Errorf("%s is not refused", path)
		}
	}
}
