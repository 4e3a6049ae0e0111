package gate

import (
	"crypto/sha256"
	"strings"
)

// Hash returns the SHA-256 of a request's canonical parameters.
func Hash(canonical []byte) [sha256.Size]byte { return sha256.Sum256(canonical) }

// Interpolate fills a confirmation template: it replaces {name} by what value returns for name. A name that value does
// not know stays as it is.
func Interpolate(template string, value func(name string) (string, bool)) string {
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
		if v, ok := value(placeholder[1 : len(placeholder)-1]); ok {
			out.WriteString(v)
		} else {
			out.WriteString(placeholder)
		}
		template = template[open+end+1:]
	}
	out.WriteString(template)
	return out.String()
}
