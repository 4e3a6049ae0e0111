package mcpclient

import (
	"errors"
	"net/url"
	"strings"
)

// hidden are the secrets of a connection, which no text shows that leaves this package: a bearer token that the server
// repeats, and the password and the query of the URL.
type hidden struct{ pairs *strings.Replacer } // nil: there are none

// shortestHidden is the length of the shortest token that is looked for in texts. A shorter one might be a word.
const shortestHidden = 8

func hiddenFor(endpoint, bearer string) hidden {
	var pairs []string
	switch target, err := url.Parse(endpoint); {
	case err != nil:
		pairs = append(pairs, endpoint, "the URL")
	case shown(target) != endpoint:
		inErrors := strings.Replace(target.Redacted(), ":xxxxx@", ":***@", 1) // as net/http writes it
		pairs = append(pairs, endpoint, shown(target), target.Redacted(), shown(target), inErrors, shown(target))
	}
	if len(bearer) >= shortestHidden {
		pairs = append(pairs, bearer, "[bearer token]")
	}
	if pairs == nil {
		return hidden{}
	}
	return hidden{strings.NewReplacer(pairs...)}
}

// text returns a text without the secrets.
func (h hidden) text(text string) string {
	if h.pairs == nil {
		return text
	}
	return h.pairs.Replace(text)
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
