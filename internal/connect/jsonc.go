package connect

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// object is a JSON object in a text: the places of its members and of its braces.
type object struct {
	open, closing int // the offsets of the braces
	members       []place
	comma         bool // there is a comma behind the last member
}

// place is a member of an object in a text.
type place struct {
	name       string
	start      int // of the name
	value, end int // of the value
	object     *object
}

func (o *object) find(name string) *place {
	for i := range o.members {
		if o.members[i].name == name {
			return &o.members[i]
		}
	}
	return nil
}

// jsonc reads JSON with comments and trailing commas.
type jsonc struct {
	text string
	at   int
}

// errTwice means that an object has a member twice, so that it is not known which one a client reads.
var errTwice = errors.New("a member stands twice in one object")

// readJSONC reads the object that a text is. It fails if it is not exactly one object of JSON with comments.
func readJSONC(text string) (*object, error) {
	if !utf8.ValidString(text) {
		return nil, errors.New("it is not UTF-8")
	}
	r := &jsonc{text: text}
	if strings.HasPrefix(text, "\ufeff") {
		r.at = len("\ufeff")
	}
	_, found, err := r.value(0)
	if err == nil {
		err = r.space()
	}
	if err == nil && r.at < len(text) {
		err = errors.New("there is more behind the value")
	}
	if err != nil {
		return nil, fmt.Errorf("line %d: %w", 1+strings.Count(text[:r.at], "\n"), err)
	}
	if found == nil {
		return nil, errors.New("it is not an object")
	}
	return found, nil
}

// space skips blanks and comments.
func (r *jsonc) space() error {
	for r.at < len(r.text) {
		rest := r.text[r.at:]
		switch {
		case strings.ContainsRune(" \t\r\n", rune(rest[0])):
			r.at++
		case strings.HasPrefix(rest, "//"):
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			r.at += end
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return errors.New("a comment does not end")
			}
			r.at += end + 4
		default:
			return nil
		}
	}
	return nil
}

// next skips blanks and comments, and returns the byte behind them; 0: there is none.
func (r *jsonc) next() (byte, error) {
	if err := r.space(); err != nil || r.at == len(r.text) {
		return 0, err
	}
	return r.text[r.at], nil
}

const maxDepth = 200

// value reads a value, and returns where it begins, and the object if it is one.
func (r *jsonc) value(depth int) (start int, found *object, err error) {
	c, err := r.next()
	start = r.at
	switch {
	case err != nil:
	case depth > maxDepth:
		err = errors.New("it is nested too deeply")
	case c == '{':
		found, err = r.object(depth)
	case c == '[':
		err = r.list(depth)
	case c == '"':
		_, err = r.string()
	default:
		end := strings.IndexAny(r.text[r.at:], " \t\r\n,]}/")
		if end < 0 {
			end = len(r.text) - r.at
		}
		if !json.Valid([]byte(r.text[r.at : r.at+end])) {
			err = fmt.Errorf("%.20q is not a value of JSON", r.text[r.at:r.at+end])
		}
		r.at += end
	}
	return start, found, err
}

func (r *jsonc) string() (string, error) {
	for end := r.at + 1; end < len(r.text); end++ {
		switch r.text[end] {
		case '\\':
			end++
		case '"':
			var text string
			err := json.Unmarshal([]byte(r.text[r.at:end+1]), &text)
			r.at = end + 1
			return text, err
		}
	}
	return "", errors.New("a string does not end")
}

func (r *jsonc) list(depth int) error {
	r.at++
	for first := true; ; first = false {
		c, err := r.next()
		if err != nil {
			return err
		}
		if c == ',' && !first {
			r.at++
			if c, err = r.next(); err != nil {
				return err
			}
		} else if c != ']' && !first {
			return errors.New("a comma or ']' is missing")
		}
		if c == ']' {
			r.at++
			return nil
		}
		if _, _, err := r.value(depth + 1); err != nil {
			return err
		}
	}
}

func (r *jsonc) object(depth int) (*object, error) {
	o := &object{open: r.at}
	r.at++
	for first := true; ; first = false {
		c, err := r.next()
		if err != nil {
			return nil, err
		}
		if c == ',' && !first {
			r.at++
			o.comma = true
			if c, err = r.next(); err != nil {
				return nil, err
			}
		} else if c != '}' && !first {
			return nil, errors.New("a comma or '}' is missing")
		}
		if c == '}' {
			o.closing = r.at
			r.at++
			return o, nil
		}
		if c != '"' {
			return nil, errors.New("the name of a member is missing")
		}
		o.comma = false
		m := place{start: r.at}
		if m.name, err = r.string(); err != nil {
			return nil, err
		}
		if o.find(m.name) != nil {
			return nil, fmt.Errorf("%w: %q", errTwice, m.name)
		}
		if c, err = r.next(); err != nil {
			return nil, err
		}
		if c != ':' {
			return nil, errors.New("a colon is missing")
		}
		r.at++
		if m.value, m.object, err = r.value(depth + 1); err != nil {
			return nil, err
		}
		m.end = r.at
		o.members = append(o.members, m)
	}
}

// plain returns a text of JSON with comments as JSON.
func plain(text string) []byte {
	r := &jsonc{text: text, at: len(text) - len(strings.TrimPrefix(text, "\ufeff"))}
	var out []byte
	for r.at < len(text) {
		if r.space() != nil || r.at == len(text) {
			break
		}
		start := r.at
		switch c := text[r.at]; c {
		case '"':
			if _, err := r.string(); err != nil {
				return out
			}
		case ']', '}':
			if n := len(out); n > 0 && out[n-1] == ',' {
				out = out[:n-1]
			}
			r.at++
		case ',', ':', '[', '{':
			r.at++
		default:
			r.at += max(1, strings.IndexAny(text[r.at:]+" ", " \t\r\n,:]}/"))
		}
		out = append(out, text[start:r.at]...)
	}
	return out
}
