package desktop

import (
	"context"

	"github.com/aqltag/aqltag/runtime/notify"
)

// Tell has osascript show a notification.
func (desktop) Tell(ctx context.Context, n notify.Notice) error {
	return runScript(ctx, appleScript(shown(&n)), "/usr/bin/osascript", "-")
}
