package pages

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The policy on the security page fits the todo example, and the commands there explain it. (The one that verifies an audit
// file needs an adapter that was killed: TestStatePolicyAndAudit of the example.)
func TestPolicyPage(t *testing.T) {
	if testing.Short() {
		t.Skip("builds the command")
	}
	dir := t.TempDir()
	policy := filepath.Join(dir, "policy.yaml")
	s := newShell(t, filepath.Join(repository(t), "examples", "todo"), os.Environ())
	explained := false
	for _, block := range read(t, "docs/security.md") {
		switch {
		case block.Kind == "yaml":
			if err := os.WriteFile(policy, []byte(block.Text), 0o644); err != nil {
				t.Fatal(err)
			}
		case block.Kind == "sh" && strings.Contains(block.Text, "policy.yaml"):
			printed, err := s.run(strings.ReplaceAll(block.Text, "policy.yaml", policy))
			if err != nil {
				t.Fatal(err)
			}
			explained = strings.Contains(printed, "confirm-wide-purges")
		}
	}
	if !explained {
		t.Error("no command explains which rule decides")
	}
}
