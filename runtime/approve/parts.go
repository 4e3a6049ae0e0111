package approve

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// widthOfPart is how many bytes of a text one of its parts has: fewer than an item keeps of a parameter.
const widthOfPart = 450

// InParts adds a text to the parameters of a question, so that people are shown all of it: a long one as several
// parameters, which are named after the first and stand behind it in the order of names. An item has 200 of them.
func InParts(params map[string]string, name, text string) {
	text = strings.ToValidUTF8(text, "\ufffd")
	part := name
	for i := 2; len(text) > widthOfPart; i++ {
		end := widthOfPart
		for !utf8.RuneStart(text[end]) {
			end--
		}
		params[part], text = text[:end], text[end:]
		part = fmt.Sprintf("%s (%03d)", name, i)
	}
	params[part] = text
}
