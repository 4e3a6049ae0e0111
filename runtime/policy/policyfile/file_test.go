package policyfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/policy/policyfile"
)

const (
	denies = "version: 1\ndefault: deny\n"
	allows = "version: 1\nrules: []\n"
	broken = "version: 1\ndefault: dney\n"
)

// put writes a file and sets its modification time, which is long ago in synctest, too, so that a change of it shows in
// the time.
func put(t *testing.T, path, text string, hour int) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	at := time.Date(1999, 1, 1, hour, 0, 0, 0, time.UTC)
	if err := os.Chtimes(path, at, at); err != nil {
		t.Fatal(err)
	}
}

func TestAFileThatChanges(t *testing.T) {
	synctest.Test(t, followChanges) // where no time passes while a disk is slow
}

func followChanges(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policy.yaml")
	put(t, path, denies, 1)
	file, err := policyfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	expect := func(step string, mayChange, changes bool, fault string, effect policy.Effect) {
		t.Helper()
		if got := file.Changed(); got != mayChange {
			t.Errorf("%s: changed: %v", step, got)
		}
		changed, err := file.Reload()
		if changed != changes || (err != nil) != (fault != "") || err != nil && !strings.Contains(err.Error(), fault) {
			t.Errorf("%s: %v, %v", step, changed, err)
		}
		if got := file.Policy().Default; got != effect {
			t.Errorf("%s: the policy is %q", step, got)
		}
	}
	expect("as it was", false, false, "", policy.Deny)
	put(t, path, denies, 2)
	expect("touched", true, false, "", policy.Deny)
	put(t, path, allows, 3)
	expect("changed", true, true, "", "")
	put(t, path, broken, 4)
	expect("broken: the last good one stays", true, false, "did you mean deny?", "")
	expect("still broken, and looked at", false, false, "did you mean deny?", "")
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	expect("gone", true, false, "reading the policy", "")
	expect("still gone", false, false, "reading the policy", "")
	put(t, path, denies, 5)
	expect("back", true, true, "", policy.Deny)

	// Editors put another file in its place, which may have the same time and size.
	other := path + ".new"
	put(t, other, strings.Replace(denies, "deny", "deny ", 1)[:len(denies)], 5)
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	expect("replaced", true, true, "", policy.Deny)

	// Within a tick of the file system's clock it may be written twice.
	if err := os.Chtimes(path, time.Time{}, time.Now()); err != nil {
		t.Fatal(err)
	}
	expect("written just now", true, false, "", policy.Deny)
	if !file.Changed() {
		t.Error("what was written just before it was read counts as unchanged")
	}
}

func TestWhatIsNoPolicyFile(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, "broken.yaml"), broken, 1)
	put(t, filepath.Join(dir, "large.yaml"), strings.Repeat("#", 3<<20), 1)
	var mistakes policy.Mistakes
	if _, err := policyfile.Open(filepath.Join(dir, "broken.yaml")); !errors.As(err, &mistakes) || mistakes[0].Line != 2 {
		t.Errorf("broken: %v", err)
	}
	if _, err := policyfile.Open(filepath.Join(dir, "large.yaml")); err == nil ||
		!strings.Contains(err.Error(), "longer than") {
		t.Errorf("large: %v", err)
	}
	if _, err := policyfile.Open(dir); err == nil || !strings.Contains(err.Error(), "not a regular file") {
		t.Errorf("a folder: %v", err)
	}
	if _, err := policyfile.Open(filepath.Join(dir, "none.yaml")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("none: %v", err)
	}
}

// Readers see one good policy or another while the file changes under them.
func TestAFileIsSharedSafely(t *testing.T) {
	path := filepath.Join(t.TempDir(), "policy.yaml")
	put(t, path, denies, 0)
	file, err := policyfile.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 200 {
				if file.Changed() {
					file.Reload() // it fails if it reads half a file
				}
				if _, err := file.Policy().Bind(new(gen.Definitions)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	for i := range 50 {
		put(t, path, []string{denies, allows, broken}[i%3], i%24)
	}
	wait.Wait()
	put(t, path, denies, 23)
	if _, err := file.Reload(); err != nil || file.Policy().Default != policy.Deny {
		t.Errorf("%v, %+v", err, file.Policy())
	}
}
