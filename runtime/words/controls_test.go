package words

import (
	"encoding/json"
	"testing"
)

// C12: what is escaped or removed, and what of it a text may have.
func TestControls(t *testing.T) {
	for text, want := range map[string][2]string{
		"plain\n\ttext":                      {"plain\n\ttext", "plain\n\ttext"},
		"esc \x1b[31m":                       {`esc \u001b[31m`, "esc [31m"},
		"C1 \u009b2J":                        {`C1 \u009b2J`, "C1 2J"},
		"bidi \u202egnp\u202c \u2066x\u2069": {`bidi \u202egnp\u202c \u2066x\u2069`, "bidi gnp x"},
		"line \u2028 end\r":                  {`line \u2028 end\u000d`, "line  end"},
		"tag \U000e0041":                     {`tag \udb40\udc41`, "tag "},
		"selector \U000e0100":                {`selector \udb40\udd00`, "selector "},
		"👩\u200d💻 ⚠\ufe0f שלום مرحبا": {"👩\u200d💻 ⚠\ufe0f שלום مرحبا", "👩\u200d💻 ⚠\ufe0f שלום مرحبا"},
	} {
		if got := Visible(text); got != want[0] {
			t.Errorf("Visible(%q) is %q, want %q", text, got, want[0])
		}
		if got := WithoutControls(text); got != want[1] {
			t.Errorf("WithoutControls(%q) is %q, want %q", text, got, want[1])
		}
		document, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var same string
		if err := json.Unmarshal([]byte(Visible(string(document))), &same); err != nil || same != text {
			t.Errorf("JSON of %q becomes %q, %v", text, same, err)
		}
	}
}
