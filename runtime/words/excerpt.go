package words

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Excerpt returns a text of up to most bytes as it is, and of a longer one the beginning and the end, with the number
// of bytes that are left out between them: … (2800 bytes left out) …
func Excerpt(text string, most int) string {
	if len(text) <= most {
		return text
	}
	begin, end := most-most*2/5, len(text)-most*2/5
	for begin > 0 && !utf8.RuneStart(text[begin]) {
		begin--
	}
	for end < len(text) && !utf8.RuneStart(text[end]) {
		end++
	}
	return fmt.Sprintf("%s… (%d bytes left out) …%s", strings.ToValidUTF8(text[:begin], "\ufffd"), end-begin,
		strings.ToValidUTF8(text[end:], "\ufffd"))
}
