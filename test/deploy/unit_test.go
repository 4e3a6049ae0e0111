//go:build unix

package deploy

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

const unitFile = "deploy/todo.service"

// unit are the settings of a systemd unit, in the order in which they stand, by their names.
type unit map[string][]string

func parseUnit(text string) unit {
	u := make(unit)
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		line = strings.TrimSpace(line)
		if name, value, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") {
			u[name] = append(u[name], value)
		}
	}
	return u
}

// one returns the value of a setting that stands once.
func (u unit) one(t *testing.T, name string) string {
	t.Helper()
	if len(u[name]) != 1 {
		t.Fatalf("%s has %s %d times", unitFile, name, len(u[name]))
	}
	return u[name][0]
}

// systemd reads the unit without a complaint, and finds that next to nothing is open to it.
func TestUnitIsSound(t *testing.T) {
	analyze := need(t, "systemd-analyze", "systemd")
	file := filepath.Join(t.TempDir(), "todo.service")
	text := strings.ReplaceAll(read(t, unitFile), "/usr/local/bin/todo-server", "/bin/true") // which is there
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, arguments := range [][]string{
		{"verify", "--man=no", file}, {"security", "--offline=true", "--no-pager", "--threshold=15", file},
	} {
		printed, err := exec.CommandContext(t.Context(), analyze, arguments...).CombinedOutput()
		if err != nil || arguments[0] == "verify" && len(printed) > 0 {
			t.Errorf("systemd-analyze %s: %v\n%s", arguments[0], err, printed)
		}
	}
}

// The unit gives the adapter the time that it may take to end, and does not start it again and again with a wrong
// configuration.
func TestUnitLetsTheAdapterEnd(t *testing.T) {
	u := parseUnit(read(t, unitFile))
	seconds, err := strconv.Atoi(u.one(t, "TimeoutStopSec"))
	if err != nil || time.Duration(seconds)*time.Second < mostToEnd {
		t.Errorf("TimeoutStopSec is %d: %v", seconds, err)
	}
	if got := u.one(t, "RestartPreventExitStatus"); got != "3" {
		t.Errorf("RestartPreventExitStatus is %s", got)
	}
}

// mostToEnd is how long an adapter may take to end: for its calls and for closing serve.Options.ShutdownTimeout each.
const mostToEnd = 20 * time.Second
