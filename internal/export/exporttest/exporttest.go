// Package exporttest helps the tests of the export formats: surfaces of shipped profiles, and golden files.
package exporttest

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/runtime/describe"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// Surface returns a surface with a shipped profile; an empty name means crude.
func Surface(t *testing.T, mode describe.Mode, profile string) describe.Surface {
	t.Helper()
	found, err := describe.FindProfile(profile, nil)
	if err != nil {
		t.Fatal(err)
	}
	return describe.Surface{Mode: mode, Profile: found}
}

// Golden compares an export with a file in testdata, or writes that file where the test runs with -update.
func Golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
