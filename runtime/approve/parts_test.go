package approve_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/approve"
)

// A text in parts is shown whole, in its order, however long it is and whatever it is written in.
func TestInParts(t *testing.T) {
	for name, text := range map[string]string{
		"short": "rm x", "empty": "", "long": strings.Repeat("abc", 300) + "end", "not of ASCII": strings.Repeat("ä€😀", 200),
		"of quotes": strings.Repeat(`"\`, 2000), "very long": strings.Repeat("0123456789", 8000) + "end",
	} {
		params := map[string]string{"agent": "bot"}
		approve.InParts(params, "text", text)
		encoded, err := json.Marshal(params)
		if err != nil {
			t.Fatal(err)
		}
		item := (&approve.Question{Params: string(encoded)}).Item()
		var shown map[string]string
		if err := json.Unmarshal([]byte(item.Params), &shown); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		whole := ""
		for _, part := range slices.Sorted(maps.Keys(shown)) {
			if part != "agent" {
				whole += shown[part]
			}
		}
		if whole != text || shown["text"] == "" && text != "" {
			t.Errorf("%s: %d of %d bytes are shown, in %d parts", name, len(whole), len(text), len(shown))
		}
	}
	params := map[string]string{}
	approve.InParts(params, "text", strings.Repeat("\x80", 1000))
	if len(params) != 1 || params["text"] != "\ufffd" {
		t.Errorf("what is no UTF-8 is %q", params)
	}
}
