package notify_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/notify"
	"github.com/aqltag/aqltag/runtime/verify"
)

// Details are told where no agent of this machine reads them, and only if they are wanted.
func TestDetails(t *testing.T) {
	isolated(t, func(f *fixture) {
		item := f.ask(ann)
		for _, tt := range []struct {
			strength verify.Strength
			details  bool
			want     bool
		}{
			{verify.OtherDevice, false, false}, {verify.OtherDevice, true, true},
			{verify.OtherUser, true, false}, {verify.SameUser, true, false},
		} {
			phone := &bell{name: fmt.Sprint(tt.strength, tt.details), strength: tt.strength}
			end := f.start(notify.Options{Details: tt.details}, phone)
			pass(time.Second)
			end()
			text := phone.texts()
			for _, detail := range []string{"Delete note 'n1'?", "Removes the note", `note_id  "n1"`, "the agent has chosen:"} {
				if strings.Contains(text, detail) != tt.want {
					t.Errorf("at %v, with details %v, people are told %q", tt.strength, tt.details, text)
				}
			}
			if strings.Contains(text, item.ID) {
				t.Errorf("an identity is in a text for people: %q", text)
			}
		}
	})
}

// A notice links to the console, and to the item if there is one.
func TestLinks(t *testing.T) {
	isolated(t, func(f *fixture) {
		phone := &bell{name: "phone"}
		defer f.start(notify.Options{Link: "https://console.example.com/notes/"}, phone)()
		first := f.ask(ann)
		pass(10 * time.Second)
		f.ask(ann)
		pass(10 * time.Second)
		told := phone.told()
		if len(told) != 2 || told[0].Link != "https://console.example.com/notes/items/"+first.ID ||
			told[1].Link != "https://console.example.com/notes/" {
			t.Errorf("the notices are %+v", told)
		}
	})
}
