// Package desktop tells the person at this computer by a notification on the desktop: over the session bus
// (org.freedesktop.Notifications), where the system is neither macOS nor Windows; there with osascript and with Windows
// PowerShell, which get what they show on standard input. It is a module of its own, for what it needs to speak D-Bus.
//
// A desktop keeps what it has shown, and every program of the same user can read that. So a notification says that
// something waits, and no details.
//
// The process has to be one of the person's session: a service of the system is told so, with an error.
package desktop

import (
	"errors"
	"strings"

	"github.com/aqltag/aqltag/runtime/notify"
	"github.com/aqltag/aqltag/runtime/verify"
)

// Driver opens the desktop for the flag -notify desktop.
func Driver() notify.Driver {
	return notify.Driver{Name: "desktop", Open: func(location string, keys [][]byte) (notify.Channel, error) {
		if location != "" || len(keys) > 0 {
			return nil, errors.New("it has no address and no key: it is the desktop of who runs this program")
		}
		return New(), nil
	}}
}

// New returns the desktop of who runs this process.
func New() notify.Channel { return desktop{} }

// desktop is a channel.
type desktop struct{}

func (desktop) Name() string { return "desktop" }

// Strength is the least: other programs of the user read what is shown.
func (desktop) Strength() verify.Strength { return verify.SameUser }

const (
	// longestTitle and longestText bound what is shown, in characters.
	longestTitle, longestText = 100, 1000
)

// shown returns the title and the text of a notification.
func shown(n *notify.Notice) (title, text string) {
	text = n.Text()
	if n.Link != "" {
		text += "\n" + n.Link
	}
	return cut(n.Title(), longestTitle), cut(text, longestText)
}

// cut returns a text, and of a longer one than so many characters the beginning.
func cut(text string, most int) string {
	count := 0
	for at := range text {
		if count++; count > most {
			return strings.TrimRight(text[:at], "\n") + "…"
		}
	}
	return text
}
