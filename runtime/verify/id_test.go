package verify_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/verify"
)

// Every id that is made is one that is read, in each form in which it may come back.
func TestIDsAreReadAsTheyAreMade(t *testing.T) {
	seen := make(map[verify.ID]bool)
	for range 10_000 {
		id := verify.NewID()
		if seen[id] {
			t.Fatalf("%v was made twice", id)
		}
		seen[id] = true
		text := id.String()
		if len(text) != 36 || text[14] != '4' || !strings.ContainsRune("89ab", rune(text[19])) {
			t.Fatalf("%s is no UUID of version 4", text)
		}
		for _, form := range []string{text, strings.ToUpper(text), " " + text + "\n"} {
			if got, err := verify.ParseID(form); err != nil || got != id {
				t.Fatalf("%q is read as %v, %v", form, got, err)
			}
		}
		encoded, err := json.Marshal(id)
		var decoded verify.ID
		if err != nil || json.Unmarshal(encoded, &decoded) != nil || decoded != id {
			t.Fatalf("%s is decoded as %v, %v", encoded, decoded, err)
		}
	}
}

func TestWhatIsNoID(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":           "",
		"an item's":         "ask_HYVRPLUBOB5A43TG42PDLPFIFM",
		"another version":   "0b8f3a52-6d0e-1c1e-9a57-3f6f1c1f5d11",
		"another variant":   "0b8f3a52-6d0e-4c1e-ca57-3f6f1c1f5d11",
		"no digits":         "0b8f3a52-6d0e-4c1e-9a57-3f6f1c1f5dxx",
		"too short":         "0b8f3a52-6d0e-4c1e-9a57-3f6f1c1f5d1",
		"in braces":         "{0b8f3a52-6d0e-4c1e-9a57-3f6f1c1f5d11}",
		"without hyphens":   "0b8f3a526d0e4c1e9a573f6f1c1f5d110000",
		"hyphens elsewhere": "0b8f3a5-26d0e-4c1e-9a57-3f6f1c1f5d11",
	} {
		if id, err := verify.ParseID(text); err == nil {
			t.Errorf("%s: %q is read as %v", name, text, id)
		}
	}
}

// FuzzParseID: what is read is written in one form, which is read as the same.
func FuzzParseID(f *testing.F) {
	f.Add("0b8f3a52-6d0e-4c1e-9a57-3f6f1c1f5d11")
	f.Add(" 0B8F3A52-6D0E-4C1E-9A57-3F6F1C1F5D11 ")
	f.Add("challenge_1763856000_9f")
	f.Fuzz(func(t *testing.T, text string) {
		id, err := verify.ParseID(text)
		if err != nil {
			return
		}
		if again, err := verify.ParseID(id.String()); err != nil || again != id ||
			!strings.EqualFold(strings.TrimSpace(text), id.String()) {
			t.Errorf("%q is read as %v, and that as %v, %v", text, id, again, err)
		}
	})
}
