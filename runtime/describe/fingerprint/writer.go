package fingerprint

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// writer appends JSON. It does not use encoding/json, whose escapes have changed between releases of Go: generator and
// adapter may be built with different releases, and must agree in every byte.
type writer struct{ text []byte }

func (w *writer) object(members func()) {
	w.separate()
	w.text = append(w.text, '{')
	members()
	w.text = append(w.text, '}')
}

// separate writes a comma unless an object, an array or a value begins.
func (w *writer) separate() {
	if n := len(w.text); n > 0 && strings.IndexByte("{[:", w.text[n-1]) < 0 {
		w.text = append(w.text, ',')
	}
}

func (w *writer) key(name string) {
	w.string(name)
	w.text = append(w.text, ':')
}

func (w *writer) textMember(name, value string) {
	if value != "" {
		w.key(name)
		w.string(value)
	}
}

func (w *writer) number(name string, value int) {
	if value != 0 {
		w.key(name)
		w.text = strconv.AppendInt(w.text, int64(value), 10)
	}
}

func (w *writer) flag(name string, set bool) {
	if set {
		w.key(name)
		w.text = append(w.text, "true"...)
	}
}

func (w *writer) texts(name string, values []string) {
	list(w, name, values, func(value *string) { w.string(*value) })
}

// list writes a member that is an array, unless it is empty.
func list[T any](w *writer, name string, values []T, element func(*T)) {
	if len(values) == 0 {
		return
	}
	w.key(name)
	w.text = append(w.text, '[')
	for i := range values {
		element(&values[i])
	}
	w.text = append(w.text, ']')
}

// string writes a text with the escapes of RFC 8785, which are only those that JSON requires.
func (w *writer) string(text string) {
	const digits, short = "0123456789abcdef", "\b\t\n\f\r"
	w.separate()
	w.text = append(w.text, '"')
	for {
		plain := strings.IndexFunc(text, func(r rune) bool { return r < ' ' || r == '"' || r == '\\' || r == utf8.RuneError })
		if plain < 0 {
			w.text = append(append(w.text, text...), '"')
			return
		}
		w.text = append(w.text, text[:plain]...)
		r, size := utf8.DecodeRuneInString(text[plain:])
		switch i := strings.IndexRune(short, r); {
		case r == utf8.RuneError:
			w.text = utf8.AppendRune(w.text, r)
		case r >= ' ':
			w.text = append(w.text, '\\', byte(r))
		case i >= 0:
			w.text = append(w.text, '\\', "btnfr"[i])
		default:
			w.text = append(w.text, '\\', 'u', '0', '0', digits[r>>4], digits[r&15])
		}
		text = text[plain+size:]
	}
}
