package policy

import (
	"encoding/json"
	"strings"
)

// cursor goes through the members of a JSON object, or the elements of an array, without decoding what nobody asks for. Its
// text must be valid JSON.
type cursor struct {
	text string
	at   int
}

// open places a cursor behind the bracket that begins an object or array.
func open(text string) cursor { return cursor{text, 1} }

// member is the next member of an object.
func (c *cursor) member() (name, value string, ok bool) {
	literal, ok := c.element()
	if !ok {
		return "", "", false
	}
	if name, ok = unquote(literal); !ok {
		return "", "", false
	}
	value, ok = c.element()
	return name, value, ok
}

// element is the next value, with what separates it passed over: commas, and colons behind names.
func (c *cursor) element() (string, bool) {
	for c.at < len(c.text) && strings.IndexByte(" \t\r\n,:", c.text[c.at]) >= 0 {
		c.at++
	}
	if c.at >= len(c.text) || c.text[c.at] == '}' || c.text[c.at] == ']' {
		return "", false
	}
	start := c.at
	c.at = endOfValue(c.text, start)
	return c.text[start:c.at], true
}

// endOfValue is where the value that begins at i ends.
func endOfValue(text string, i int) int {
	depth := 0
	for i < len(text) {
		switch text[i] {
		case '"':
			i = endOfString(text, i)
		case '{', '[':
			depth++
			i++
			continue
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\r', '\n':
			i++
			continue
		default:
			for i < len(text) && strings.IndexByte(",:]} \t\r\n", text[i]) < 0 {
				i++
			}
		}
		if depth <= 0 {
			return i
		}
	}
	return len(text)
}

// endOfString is where the string that begins at i ends.
func endOfString(text string, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// unquote decodes a JSON string.
func unquote(literal string) (text string, ok bool) {
	if len(literal) < 2 || literal[0] != '"' {
		return "", false
	}
	inner := literal[1 : len(literal)-1]
	if literal[len(literal)-1] == '"' && strings.IndexFunc(inner, func(r rune) bool { return r == '\\' || r == '"' || r < ' ' }) < 0 {
		return inner, true
	}
	err := json.Unmarshal([]byte(literal), &text)
	return text, err == nil
}
