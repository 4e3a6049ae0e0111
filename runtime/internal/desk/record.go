package desk

import (
	"github.com/aqltag/aqltag/runtime/audit"
	"github.com/aqltag/aqltag/runtime/words"
)

// Held reports whether a record of this event is about what waits for somebody: it is not done, as its outcome says,
// and not refused either.
func Held(event audit.Event) bool { return event == audit.ConfirmationRequired }

// Recorded says what came of what a record is about: its outcome, where that says it. A record may count refused
// requests.
func Recorded(event audit.Event, outcome audit.Outcome, refused int) string {
	switch {
	case Held(event):
		return "held"
	case event == audit.RefusalsCounted: // those that were held are among them
		return words.Count(refused, "refusal")
	}
	return string(outcome)
}
