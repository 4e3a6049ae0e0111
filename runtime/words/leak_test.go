package words

import (
	"os"
	"strings"
	"testing"
)

// corpus reads the entries of a file in testdata.
func corpus(t *testing.T, file, separator string, atLeast int) []string {
	t.Helper()
	text, err := os.ReadFile("testdata/" + file)
	if err != nil {
		t.Fatal(err)
	}
	entries := strings.Split(strings.TrimSpace(string(text)), separator)
	if len(entries) < atLeast {
		t.Fatalf("%s has %d entries, want %d or more", file, len(entries), atLeast)
	}
	return entries
}

// A1, T-29: messages for people are not withheld, whatever they mention.
func TestHarmlessMessagesPass(t *testing.T) {
	for _, text := range corpus(t, "harmless.txt", "\n", 2000) {
		if what, part := Leak(text); part != "" {
			t.Errorf("%q has %s: %q", text, what, part)
		}
	}
}

// A1, T-29, REQ-ER-08: what programs write when they fail is found. The file has what Node.js, Python, Java, Perl,
// SQLite, PostgreSQL and Redis answered when they were provoked, and other languages in their formats.
func TestLeaksAreFound(t *testing.T) {
	for _, text := range corpus(t, "leaks.txt", "\n%%\n", 300) {
		if what, part := Leak(text); what == "" || part == "" || !strings.Contains(text, part) {
			t.Errorf("not found in %q: %q, %q", text, what, part)
		}
	}
}

// A leak is found wherever it stands in a message.
func TestLeaksAreFoundInMessages(t *testing.T) {
	for _, text := range corpus(t, "leaks.txt", "\n%%\n", 300) {
		for _, message := range []string{"Cannot save order 'A 12': " + text, "Saving failed\n" + text + "\nTry again."} {
			if _, part := Leak(message); part == "" && !wholeTexts[text] {
				t.Errorf("not found in %q", message)
			}
		}
	}
}

// wholeTexts are leaks only where nothing stands around them: parts of sentences say the same.
var wholeTexts = map[string]bool{"conn busy": true, "conn closed": true, "tx is closed": true}

// What a log says of a leak.
func TestKindsOfLeaks(t *testing.T) {
	for text, want := range map[string][2]string{
		"":                                   {},
		"What has to be done":                {},
		"see notes.go:12":                    {"a source file with a line", ".go:1"},
		"goroutine 7 [running]":              {"a stack trace", "goroutine"},
		"sql: no such row":                   {"the text of a Go error or panic", "sql: n"},
		"it is a *fs.PathError":              {"the name of a Go type or function", " *fs.PathError"},
		"pointer 0xc000012345":               {"an address in memory", "0xc000012345"},
		"UNIQUE constraint failed: users.id": {"the text of a database error", "constraint failed"},
		"dial tcp 10.0.0.1:80: refused":      {"the text of a network or system error", "dial tcp"},
		"ValueError: x":                      {"the text of an error of another language", "ValueError:"},
		"postgres://app:pw@db/shop":          {"a connection string", "postgres://app:pw@db/shop"},
		"-----BEGIN EC PRIVATE KEY-----":     {"a secret", "PRIVATE KEY-----"},
		"see /home/ada/notes":                {"a path on the server", " /home/ada/notes"},
	} {
		if what, part := Leak(text); [2]string{what, part} != want {
			t.Errorf("Leak(%q) is %q, %q, want %q", text, what, part, want)
		}
	}
}

// T-29: texts in source avoid the patterns of the protocol's runner too, which have no word boundaries.
func TestStaticLeak(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "Parameter 'title' must be a string": "", "'created_at' is missing": "", "What has to be done": "at has",
		"created_at is read-only": "at is", "TypeError: x is undefined": "TypeError", "see /src/app": "/src/",
		"/node_modules/": "/node_modules/", "a.ts:12": ".ts:12", "a.JS:12": ".JS:12", "see notes.go:12": ".go:1",
	} {
		if got := StaticLeak(text); got != want {
			t.Errorf("StaticLeak(%q) is %q, want %q", text, got, want)
		}
	}
}
