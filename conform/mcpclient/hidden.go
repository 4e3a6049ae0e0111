package mcpclient

import (
	"errors"
	"net/url"
	"strconv"
	"strings"
)

// hidden are the secrets of a connection, which no text shows that leaves this package: a bearer token that the server
// repeats, and the password and the query of the URL.
type hidden struct {
	pairs *strings.Replacer // nil: there are none
	token string            // empty: there is none
}

// shortestHidden is the length of the shortest token that is looked for in texts. A shorter one might be a word.
const shortestHidden = 8

// inItsPlace is what texts show in place of a bearer token.
const inItsPlace = "[bearer token]"

func hiddenFor(endpoint, bearer string) hidden {
	var pairs []string
	switch target, err := url.Parse(endpoint); {
	case err != nil:
		pairs = append(pairs, endpoint, "the URL")
	case shown(target) != endpoint:
		inErrors := strings.Replace(target.Redacted(), ":xxxxx@", ":***@", 1) // as net/http writes it
		pairs = append(pairs, endpoint, shown(target), target.Redacted(), shown(target), inErrors, shown(target))
	}
	var h hidden
	if len(bearer) >= shortestHidden {
		pairs = append(pairs, bearer, inItsPlace)
		h.token = bearer
	}
	if pairs != nil {
		h.pairs = strings.NewReplacer(pairs...)
	}
	return h
}

// withoutEscaped returns a JSON text without the token, where escapes stand for characters of it.
func (h hidden) withoutEscaped(text string) string {
	plain, at := unescaped(text)
	var out strings.Builder
	kept := 0 // of text
	for from := 0; ; {
		i := strings.Index(plain[from:], h.token)
		if i < 0 {
			return out.String() + text[kept:]
		}
		start := from + i
		from = start + len(h.token)
		out.WriteString(text[kept:at[start]] + inItsPlace)
		kept = at[from]
	}
}

// unescaped returns a JSON text with each character below 128 in place of its escape, and where in the text each byte
// of that was, and its end.
func unescaped(text string) (plain string, at []int) {
	var out []byte
	for i := 0; i < len(text); {
		char, size := text[i], 1
		if rest := text[i:]; strings.HasPrefix(rest, `\/`) {
			char, size = '/', 2
		} else if strings.HasPrefix(rest, `\u00`) && len(rest) >= 6 {
			if code, err := strconv.ParseUint(rest[4:6], 16, 7); err == nil {
				char, size = byte(code), 6
			}
		}
		out, at = append(out, char), append(at, i)
		i += size
	}
	return string(out), append(at, len(text))
}

// text returns a text without the secrets.
func (h hidden) text(text string) string {
	if h.pairs != nil {
		text = h.pairs.Replace(text)
	}
	if h.token != "" && (strings.Contains(text, `\u00`) || strings.Contains(text, `\/`)) {
		text = h.withoutEscaped(text)
	}
	return text
}

// in returns an error whose text has no secrets. It may be nil.
func (h hidden) in(err error) error {
	if err == nil || h.text(err.Error()) == err.Error() {
		return err
	}
	return errors.New(h.text(err.Error())) // what it wraps has them
}

// shown is a URL for people, without the password and the values in the query.
func shown(u *url.URL) string {
	plain := *u
	if plain.RawQuery != "" {
		plain.RawQuery = "…"
	}
	return plain.Redacted()
}
