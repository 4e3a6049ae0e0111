package proxy

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/aqltag/aqltag/internal/scratch"
)

// A module comes after the modules that it requires, so that tags can be set in this order. Only the module that holds the
// command may not be replaced: go install refuses it then.
func TestOrderOfReleases(t *testing.T) {
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
		if folder == "." && len(mod.Replace) > 0 {
			t.Errorf("%s has replace directives: go install …@latest refuses them", file)
		}
		for _, required := range mod.Require {
			needed := slices.IndexFunc(Released, func(other string) bool { return modulePath(other) == required.Mod.Path })
			if needed > i {
				t.Errorf("%s requires %s, which is tagged after it", file, required.Mod.Path)
			}
		}
	}
}
