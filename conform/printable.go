package conform

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/aqltag/aqltag/runtime/words"
)

// Printable returns a text, such as a name or a message that a server sent, in one line that a terminal shows as it is:
// line breaks, escape sequences, and characters that are invisible or change the direction of writing are replaced by
// their escapes in JSON, such as \u001b. The writers of reports apply it to all that comes from the server.
func Printable(text string) string { return escape(text, "") }

// PrintableJSON returns a JSON document with those characters escaped, line breaks between its tokens excepted. It
// remains the same document.
func PrintableJSON(document []byte) []byte { return []byte(escape(string(document), "\n")) }

// escape replaces characters that are not printable, except those in keep.
func escape(text, keep string) string {
	plain := func(r rune) bool {
		return r != '\ufffd' && !words.Misleads(r) || strings.ContainsRune(keep, r)
	}
	if !strings.ContainsFunc(text, func(r rune) bool { return !plain(r) }) {
		return text
	}
	var s strings.Builder
	for _, r := range text {
		switch {
		case plain(r):
			s.WriteRune(r)
		case r == '\n':
			s.WriteString(`\n`)
		case r == '\t':
			s.WriteString(`\t`)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&s, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&s, `\u%04x`, r)
		}
	}
	return s.String()
}

// serverError is an error whose text may come from the server.
type serverError struct{ error }

func (e serverError) Error() string { return Printable(e.error.Error()) }
func (e serverError) Unwrap() error { return e.error }

// page is a report that is being written. What it writes besides the formats is escaped here and nowhere else.
type page struct {
	strings.Builder
	escape func(text string) string
}

// printf writes a line or several. The format is the report's own; the arguments may come from the server.
func (p *page) printf(format string, args ...any) {
	for i, arg := range args {
		switch arg.(type) {
		case int, uint64:
		default:
			args[i] = p.escape(fmt.Sprint(arg))
		}
	}
	fmt.Fprintf(p, format, args...)
}
