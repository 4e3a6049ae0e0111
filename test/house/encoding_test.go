package house_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A11: docs/encoding.md tells every difference from encoding/json that the tests of the codec hold.
func TestEncodingPage(t *testing.T) {
	root := repository(t)
	read := func(file string) string {
		text, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	page := read("docs/encoding.md")
	want := page
	requests, results, _ := strings.Cut(read("runtime/internal/codec/testdata/differences.md"), "\n\n")
	for name, table := range map[string]string{"requests": requests + "\n", "results": results} {
		before, rest, found := strings.Cut(want, "<!-- table: "+name+" -->\n")
		_, after, closed := strings.Cut(rest, "<!-- end of table -->")
		if !found || !closed {
			t.Fatalf("docs/encoding.md has no place for the table %s", name)
		}
		want = before + "<!-- table: " + name + " -->\n\n" + table + "\n<!-- end of table -->" + after
	}
	if *update {
		if err := os.WriteFile(filepath.Join(root, "docs/encoding.md"), []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(want, page); diff != "" {
		t.Errorf("docs/encoding.md differs; run this test with -update (-want +got):\n%s", diff)
	}
}
