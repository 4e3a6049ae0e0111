package house_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What docs/security.md names as proof exists.
func TestSecurityDocumentNamesRealTests(t *testing.T) {
	root := repository(t)
	text, err := os.ReadFile(filepath.Join(root, "docs", "security.md"))
	if err != nil {
		t.Fatal(err)
	}
	var named []string
	for _, match := range regexp.MustCompile("`(Test[A-Za-z0-9]+)`").FindAllSubmatch(text, -1) {
		named = append(named, string(match[1]))
	}
	slices.Sort(named)
	named = slices.Compact(named)
	if len(named) < 30 {
		t.Errorf("only %d tests are named", len(named))
	}
	files, err := exec.CommandContext(t.Context(), "git", "-C", root, "ls-files", "*_test.go").Output()
	if err != nil {
		t.Skip("not a git work tree")
	}
	defined := make(map[string]bool)
	for file := range strings.FieldsSeq(string(files)) {
		source, err := os.ReadFile(filepath.Join(root, file))
		if err != nil {
			continue
		}
		for _, match := range regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9]+)\(`).FindAllSubmatch(source, -1) {
			defined[string(match[1])] = true
		}
	}
	for _, name := range named {
		if !defined[name] {
			t.Errorf("docs/security.md names %s, which does not exist", name)
		}
	}
}
