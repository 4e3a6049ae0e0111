package operator

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"strings"
	"unicode/utf8"

	"github.com/aqltag/aqltag/runtime/approve"
	"github.com/aqltag/aqltag/runtime/words"
)

// widthOfLine is how many characters of a parameter stand on a line: fewer than a terminal shows, so that no text of
// the agent begins one.
const widthOfLine = 72

// showWhole prints everything about one item, with all of its parameters.
func (d *Desk) showWhole(ctx context.Context, f Flags, item *approve.Item) error {
	whole, err := d.Inbox.Whole(ctx, *item)
	if err != nil {
		return err
	}
	item.Whole = 0
	if f.JSON {
		item.Params = whole
		return d.printJSON(item)
	}
	item.Params = ""
	if err := d.writeItem(d.Stdout, item); err != nil {
		return err
	}
	return writeWhole(d.Stdout, fmt.Sprintf("%s, all of their %d bytes", paramsTitle(item), len(whole)), whole)
}

// writeWhole writes all of a JSON object. Each member begins with its name, and has lines behind a bar, and behind a
// plus where a line goes on: what an agent has written begins none.
func writeWhole(w io.Writer, title, object string) error {
	var out strings.Builder
	out.WriteString("  " + title + ":\n")
	for name, value := range members(object) {
		fmt.Fprintf(&out, "    %s\n", words.Printable(name))
		var text string
		if json.Unmarshal(value, &text) != nil {
			text = words.PrintableJSON(string(value))
		}
		for line := range strings.SplitSeq(text, "\n") {
			for mark := "|"; mark == "|" || line != ""; mark = "+" {
				end, count := 0, 0
				for end < len(line) && count < widthOfLine {
					_, size := utf8.DecodeRuneInString(line[end:])
					end, count = end+size, count+1
				}
				fmt.Fprintf(&out, "      %s %s\n", mark, words.Printable(line[:end]))
				line = line[end:]
			}
		}
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// members are the names and values of a JSON object, up to the first that cannot be read.
func members(object string) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		decoder := json.NewDecoder(strings.NewReader(object))
		_, err := decoder.Token()
		for err == nil && decoder.More() {
			var name json.Token
			var value json.RawMessage
			if name, err = decoder.Token(); err != nil {
				return
			}
			if err = decoder.Decode(&value); err != nil || !yield(fmt.Sprint(name), value) {
				return
			}
		}
	}
}
