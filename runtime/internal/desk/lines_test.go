package desk_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/aqltag/aqltag/runtime/internal/desk"
	"github.com/aqltag/aqltag/runtime/words"
)

// All of a text is in its lines, whatever it is, and none of them begins with it or is long.
func FuzzLines(f *testing.F) {
	for _, text := range []string{
		"", "a", "\n", "a\n\nb\n", strings.Repeat("x", 72), strings.Repeat("x", 73), strings.Repeat("é", 145) + "\nend",
		"| a\n+ b", "\u202eab\x00\r\n", strings.Repeat(" ", 300) + "rm -rf /",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "\ufffd")
		value, err := json.Marshal(text)
		if err != nil {
			t.Fatal(err)
		}
		var read []string
		for line := range desk.Lines(value) {
			of, goesOn := strings.CutPrefix(line, "+ ")
			if goesOn {
				read[len(read)-1] += of
				continue
			}
			of, begins := strings.CutPrefix(line, "| ")
			if !begins || strings.Contains(of, "\n") {
				t.Fatalf("the line %q", line)
			}
			read = append(read, of)
		}
		var want []string
		for line := range strings.SplitSeq(text, "\n") {
			want = append(want, words.Printable(line))
		}
		if !slices.Equal(read, want) {
			t.Errorf("got %q, want %q", read, want)
		}
	})
}

// What is no object is one member, so that nothing of it is left out.
func TestAll(t *testing.T) {
	for object, want := range map[string][]string{
		`{"a":1,"b":[2]}`: {"a 1", "b [2]"}, `{}`: nil, `[1,2]`: {"what cannot be read as parameters [1,2]"},
		`{"a":1,"b`: {`what cannot be read as parameters {"a":1,"b`}, "": {"what cannot be read as parameters "},
	} {
		var got []string
		for name, value := range desk.All(object) {
			got = append(got, name+" "+string(value))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", object, got, want)
		}
	}
}

// What is no string is shown as the JSON that it is, and no line is longer than a terminal is wide.
func TestLines(t *testing.T) {
	for value, want := range map[string][]string{
		`["a","b\nc"]`:   {`| ["a","b\nc"]`},
		`{"a":"\u202e"}`: {`| {"a":"\u202e"}`},
		`12`:             {"| 12"}, `null`: {"| null"},
		`"` + strings.Repeat("x", 100) + `"`: {"| " + strings.Repeat("x", 72), "+ " + strings.Repeat("x", 28)},
	} {
		got := slices.Collect(desk.Lines(json.RawMessage(value)))
		if !slices.Equal(got, want) {
			t.Errorf("%s: got %q, want %q", value, got, want)
		}
		for _, line := range got {
			if utf8.RuneCountInString(line) > 74 {
				t.Errorf("%q is long", line)
			}
		}
	}
}
