package words

import "testing"

func TestLeak(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "",
		"Parameter 'title' must be a string": "",
		"'created_at' is missing":            "",
		"What has to be done":                "at has",
		"created_at is read-only":            "at is",
		"TypeError: x is undefined":          "TypeError",
		"open /home/ada/notes":               "/home/",
		"see notes.go:12":                    ".go:1",
		"goroutine 7 [running]":              "goroutine 7",
		"sql: no rows in result set":         "sql: ",
	} {
		if got := Leak(text); got != want {
			t.Errorf("Leak(%q) is %q, want %q", text, got, want)
		}
	}
}
