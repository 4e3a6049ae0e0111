package gate

import (
	"crypto/sha256"
	"strings"
	"unicode/utf8"
)

// Hash returns the SHA-256 of a request's canonical parameters.
func Hash(canonical []byte) [sha256.Size]byte { return sha256.Sum256(canonical) }

// quotes are the quotation marks that can stand around a value in a template.
var quotes = map[rune]rune{'\'': '\'', '"': '"', '`': '`', '‘': '’', '“': '”', '«': '»'}

// Interpolate fills a confirmation template: it replaces {name} by what value returns for name. A name that value does
// not know stays as it is. mark is the quotation mark that ends the value in the template; 0: there is none.
func Interpolate(template string, value func(name string, mark rune) (string, bool)) string {
	var out strings.Builder
	for {
		open := strings.IndexByte(template, '{')
		if open < 0 {
			break
		}
		end := strings.IndexByte(template[open:], '}')
		if end < 0 {
			break
		}
		out.WriteString(template[:open])
		placeholder := template[open : open+end+1]
		before, _ := utf8.DecodeLastRuneInString(template[:open])
		mark, _ := utf8.DecodeRuneInString(template[open+end+1:])
		if closing, ok := quotes[before]; !ok || closing != mark {
			mark = 0
		}
		if v, ok := value(placeholder[1:len(placeholder)-1], mark); ok {
			out.WriteString(v)
		} else {
			out.WriteString(placeholder)
		}
		template = template[open+end+1:]
	}
	out.WriteString(template)
	return out.String()
}
