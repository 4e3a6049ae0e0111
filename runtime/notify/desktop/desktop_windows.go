package desktop

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/aqltag/aqltag/runtime/notify"
)

// Tell has Windows PowerShell show a notification. Later versions of PowerShell do not know the classes of desktops.
func (desktop) Tell(ctx context.Context, n notify.Notice) error {
	root := os.Getenv("SystemRoot")
	if !filepath.IsAbs(root) {
		return errors.New("there is no SystemRoot in the environment, where Windows PowerShell is")
	}
	program := filepath.Join(root, "System32", "WindowsPowerShell", "v1.0", "powershell.exe")
	return runScript(ctx, powerShell(shown(&n)), program, "-NoProfile", "-NonInteractive", "-Command", "-")
}
