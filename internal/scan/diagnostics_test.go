package scan_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/aqltag/aqltag/internal/scantest"
)

var update = flag.Bool("update", false, "rewrite the expected diagnostics")

// Each file in testdata/diagnostics holds source with mistakes and, in diagnostics.txt, all that is said about them.
func TestDiagnostics(t *testing.T) {
	paths, err := filepath.Glob("testdata/diagnostics/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no test data: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			var sources txtar.Archive
			want := ""
			for _, file := range archive.Files {
				if file.Name == "diagnostics.txt" {
					want = string(file.Data)
					continue
				}
				sources.Files = append(sources.Files, file)
			}
			dir := scantest.Write(t, string(txtar.Format(&sources)))
			got := scantest.Render(t, dir, scantest.Load(t, dir))
			if *update {
				archive.Files = append(sources.Files, txtar.File{Name: "diagnostics.txt", Data: []byte(got)})
				if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s", diff)
			}
		})
	}
}
