package proxy

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/aqltag/aqltag/internal/scratch"
)

// A module is tagged after those that it requires, in the order that CONTRIBUTING.md gives.
func TestOrderOfTags(t *testing.T) {
	root, err := scratch.Root()
	if err != nil {
		t.Fatal(err)
	}
	for i, folder := range Released {
		file := filepath.Join(root, folder, "go.mod")
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		mod, err := modfile.Parse(file, data, nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, required := range mod.Require {
			needed := slices.IndexFunc(Released, func(other string) bool { return modulePath(other) == required.Mod.Path })
			if needed > i {
				t.Errorf("%s requires %s, which is tagged after it", file, required.Mod.Path)
			}
		}
	}
	page, err := os.ReadFile(filepath.Join(root, "CONTRIBUTING.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, steps, _ := strings.Cut(string(page), "## Releasing")
	documented := slices.DeleteFunc(strings.Fields(steps), func(word string) bool {
		return !strings.HasSuffix(word, "vX.Y.Z") || strings.Contains(word, "@")
	})
	var tags []string
	for _, folder := range Released {
		tags = append(tags, path.Join(folder, "vX.Y.Z"))
	}
	if !slices.Equal(documented, tags) {
		t.Errorf("CONTRIBUTING.md has the tags %v, and the order is %v", documented, tags)
	}
}
