package toolhook

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// longestHint is how many characters a hint has room for: those of next_action_hint.
	longestHint = 2000
	// head and tail are how many are left of a longer one.
	head, tail = 1500, 300
)

// mark begins what identifies a tool use that its words alone do not, and cut what identifies one of which the hint
// leaves something out. Both end with it, so that neither reads like the other.
const (
	mark = " (sha256 "
	cut  = ", sha256 "
)

// text returns a tool use in words: the name of the tool, and its arguments as they are, without quotes and escapes, so
// that patterns find what the tool gets.
func (u *use) text() string {
	w := &writer{plain: isName(u.tool)}
	w.WriteString(u.tool)
	switch input := u.input.(type) {
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(input)) {
			w.plain = w.plain && isName(name)
			w.WriteString(" " + name + ": ")
			w.value(input[name])
		}
	default:
		w.plain = false
		w.WriteString(" ")
		w.value(input)
	}
	if !w.plain {
		w.WriteString(mark + u.digest() + ")")
	}
	return w.String()
}

// hint returns the text, cut to what a hint has room for. Two tool uses have the same hint only if they are the same.
func (u *use) hint(text string) string {
	n := utf8.RuneCountInString(text)
	if n <= longestHint {
		return text
	}
	letters := []rune(text)
	// The character outside ASCII keeps automatic approvals away, which would be of the half that they see.
	return fmt.Sprintf("%s … %s (%d characters%s%s)",
		string(letters[:head]), string(letters[n-tail:]), n, cut, u.digest())
}

// digest identifies the tool use.
func (u *use) digest() string {
	h := sha256.New()
	fmt.Fprintf(h, "%d:%s", len(u.tool), u.tool)
	h.Write(u.canonical)
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// writer writes the words of a tool use.
type writer struct {
	strings.Builder
	plain bool // the words alone tell it from every other one
}

func (w *writer) value(v any) {
	switch v := v.(type) {
	case string:
		w.plain = w.plain && isPlain(v)
		w.WriteString(v)
	case map[string]any:
		if len(v) == 0 {
			w.WriteString("{}")
			return
		}
		w.plain = false
		w.WriteString("{")
		for i, name := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				w.WriteString(" ")
			}
			w.WriteString(name + ": ")
			w.value(v[name])
		}
		w.WriteString("}")
	case []any:
		if len(v) == 0 {
			w.WriteString("[]")
			return
		}
		w.plain = false
		w.WriteString("[")
		for i, element := range v {
			if i > 0 {
				w.WriteString(", ")
			}
			w.value(element)
		}
		w.WriteString("]")
	default:
		literal, err := json.Marshal(v)
		if err != nil { // which numbers, booleans and null cannot fail to be
			w.plain = false
		}
		w.Write(literal)
	}
}

// isName reports whether a name is told from what follows it.
func isName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("_-.", r)
	})
}

// isPlain reports whether a string reads as nothing but a string that ends where the next name begins: a name stands
// between a space and ": ". What identifies a tool use does not stand in it.
func isPlain(s string) bool {
	return !strings.Contains(s, ": ") && !strings.Contains(s, mark[1:]) && !strings.Contains(s, cut) &&
		!json.Valid([]byte(s))
}
