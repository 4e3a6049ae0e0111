package desk

import (
	"encoding/json"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/aqltag/aqltag/runtime/words"
)

// widthOfLine is how many characters of a parameter stand on a line: fewer than a terminal shows, so that no text of
// the agent begins one.
const widthOfLine = 72

// Lines returns all of the value of a parameter, a JSON value, in lines for people to read: the lines of a string, or
// the JSON text of another value. Each is behind a bar, and behind a plus where a line goes on: what an agent has
// written begins none.
func Lines(value json.RawMessage) iter.Seq[string] {
	text := words.PrintableJSON(string(value))
	if strings.HasPrefix(text, `"`) {
		var of string
		if json.Unmarshal(value, &of) == nil {
			text = of
		}
	}
	return func(yield func(string) bool) {
		for line := range strings.SplitSeq(text, "\n") {
			for mark := "| "; mark == "| " || line != ""; mark = "+ " {
				end, count := 0, 0
				for end < len(line) && count < widthOfLine {
					_, size := utf8.DecodeRuneInString(line[end:])
					end, count = end+size, count+1
				}
				if !yield(mark + words.Printable(line[:end])) {
					return
				}
				line = line[end:]
			}
		}
	}
}
