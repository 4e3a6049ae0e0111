package serve

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A process that could never load its policy serves nothing, whatever is wrong with the file. One that has a policy
// keeps it: see TestReadinessNamesWhatFails.
func TestAnAdapterDoesNotStartWithoutItsPolicy(t *testing.T) {
	for name, tt := range map[string]struct{ text, stderr string }{
		"nothing":                 {"", "-policy: "},
		"no YAML":                 {"version: 1\nrules: [\n", "-policy: "},
		"a field that is unknown": {"version: 1\ndefault: allow\nhidden: true\n", "-policy: "},
		"a version that is later": {"version: 99\ndefault: allow\n", "-policy: "},
		"a rule that never matches": {
			"version: 1\ndefault: allow\nrules:\n  - {name: typo, effect: deny, operations: [luok]}\n",
			"luok matches no operation",
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "policy.yaml")
			if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
				t.Fatal(err)
			}
			log := new(safeBuffer)
			env := environment{stdin: strings.NewReader(""), stdout: io.Discard, stderr: log, lookup: lookup(nil)}
			code := env.run(t.Context(), registry(nil, nil), Options{Name: "notes"}, []string{
				"-transport", "http", "-addr", "127.0.0.1:0", "-policy", file,
			})
			if code != exitUsage || !strings.Contains(log.String(), tt.stderr) || strings.Contains(log.String(), "serving MCP") {
				t.Errorf("exit code %d, log %s", code, log)
			}
		})
	}
}
