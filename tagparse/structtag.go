package tagparse

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Pair is one key:"value" of a struct tag.
type Pair struct {
	Key         string
	Value       string // without quotes and escapes
	KeyOffset   int    // in the literal, in bytes
	ValueOffset int    // of the value's first byte, behind its quote
	places      places // offset in Value to offset in the literal
}

// places maps each byte of a text, and its end, to its offset in the literal that the text came from.
type places struct {
	base int   // of the first byte
	list []int // of each byte, if there are escapes; nil: the bytes follow base
}

func (p places) at(i int) int {
	if p.list == nil {
		return p.base + i
	}
	return p.list[i]
}

// Map returns the offset in the literal of the byte at offset i of Value. The length of Value maps to the end of the
// value.
func (p Pair) Map(i int) int {
	if i < 0 {
		return p.ValueOffset
	}
	return p.places.at(min(i, len(p.Value)))
}

// StructTag splits a struct tag, written with its backquotes or double quotes, as package reflect does. It also reports
// what reflect ignores: text that is not a key:"value" pair, a key that occurs twice, and misspellings of aql.
func StructTag(literal string) ([]Pair, []Problem) {
	text, places, ok := unquote(literal, 0)
	if !ok {
		return nil, []Problem{
			{
				Offset: 0, End: len(literal), Code: codeType, Message: "the struct tag is not a string",
				Expected: "`key:\"value\"`",
			},
		}
	}
	t := &tagText{text: text, places: places}
	for t.pair() {
	}
	t.nearMisses()
	return t.pairs, t.problems
}

type tagText struct {
	text     string
	places   places // offset in text to offset in the literal
	pos      int
	pairs    []Pair
	problems []Problem
}

func (t *tagText) problem(from, to int, code, message, expected, suggestion string) {
	to = min(max(to, from+1), len(t.text))
	t.problems = append(t.problems, Problem{
		Offset: t.places.at(min(from, len(t.text))), End: t.places.at(to), Code: code, Message: message, Expected: expected,
		Actual: t.text[min(from, to):to], Suggestion: suggestion,
	})
}

// pair reads one pair. It returns false at the end of the tag.
func (t *tagText) pair() bool {
	before := t.pos
	for t.pos < len(t.text) && t.text[t.pos] == ' ' {
		t.pos++
	}
	if t.pos >= len(t.text) {
		return false
	}
	start := t.pos
	for t.pos < len(t.text) && t.text[t.pos] > ' ' && t.text[t.pos] != ':' && t.text[t.pos] != '"' &&
		t.text[t.pos] != 0x7f {
		t.pos++
	}
	key := t.text[start:t.pos]
	rest := t.text[t.pos:]
	if len(t.pairs) > 0 && key != "" && strings.IndexByte(",;", key[0]) >= 0 {
		name := map[byte]string{',': "the comma", ';': "the semicolon"}[key[0]]
		advice := "replace " + name + " by a space"
		if len(key) == 1 && strings.HasPrefix(rest, " ") {
			advice = "remove " + name
		}
		t.problem(start, start+1, codeType,
			fmt.Sprintf("%q stands between two keys of the struct tag, where a space belongs; reflect does not see what follows",
				key[:1]),
			"a space", advice)
		return false
	}
	if len(t.pairs) > 0 && before == start {
		effect := "reflect sees nothing from here on"
		if key != "" && strings.HasPrefix(rest, `:"`) {
			effect = "go vet and other tools refuse it" // reflect reads on
		}
		t.problem(start, start+1, codeType, "a space is missing between two keys of the struct tag; "+effect, "a space",
			"put a space here")
	}
	switch {
	case key == "":
		t.problem(start, len(t.text), codeType, "this is no key:\"value\" pair; reflect sees nothing from here on",
			`key:"value"`, "")
		return false
	case strings.HasPrefix(strings.TrimLeft(rest, " "), `:"`) && rest[0] == ' ':
		t.problem(t.pos, t.pos+1, codeType,
			fmt.Sprintf("a space stands between %q and its colon; reflect sees nothing from here on", key), `key:"value"`,
			"remove the space")
		return false
	case !strings.HasPrefix(rest, ":") && startsWithItem(key):
		items, _, _ := strings.Cut(t.text[start:], `"`)
		t.problem(start, start+len(items), codeType,
			"this text stands outside of aql:\"…\"; reflect sees nothing from here on", `key:"value"`,
			fmt.Sprintf(`aql:"%s"`, strings.TrimRight(items, " ")))
		return false
	case !strings.HasPrefix(rest, ":"):
		t.problem(start, t.pos, codeType, fmt.Sprintf("key %q has no value; reflect sees nothing from here on", key),
			`key:"value"`, fmt.Sprintf(`%s:"…"`, key))
		return false
	case !strings.HasPrefix(rest, `:"`):
		end := t.pos + 1 + strings.IndexAny(rest[1:]+" ", " ")
		if strings.HasPrefix(rest, `: "`) {
			t.problem(t.pos+1, t.pos+2, codeType,
				fmt.Sprintf("a space stands between %q and its value; reflect sees nothing from here on", key+":"), `key:"value"`,
				"remove the space")
		} else {
			t.problem(t.pos+1, end, codeType,
				fmt.Sprintf("the value of %q is not in double quotes; reflect sees nothing from here on", key), `key:"value"`,
				fmt.Sprintf(`%s:"%s"`, key, strings.Trim(t.text[t.pos+1:min(end, len(t.text))], `'"`)))
		}
		return false
	}
	open := t.pos + 1
	for t.pos = open + 1; t.pos < len(t.text) && t.text[t.pos] != '"'; t.pos++ {
		if t.text[t.pos] == '\\' {
			t.pos++
		}
	}
	if t.pos >= len(t.text) {
		t.problem(open, len(t.text), codeType,
			fmt.Sprintf("the value of %q has no closing quote; reflect does not see it", key), `"`, `close it with "`)
		return false
	}
	t.pos++
	value, inner, ok := unquote(t.text[open:t.pos], open)
	if !ok {
		t.problem(open, t.pos, codeType, fmt.Sprintf("the value of %q is not a valid string; reflect does not see it", key),
			`key:"value"`, "check its backslashes")
		return true
	}
	for _, earlier := range t.pairs {
		if earlier.Key == key {
			t.problem(start, start+len(key), codeDuplicate,
				fmt.Sprintf("key %q stands twice in this struct tag; reflect sees only the first", key), "one "+key,
				"remove one of them")
			return true
		}
	}
	if inner.list == nil && t.places.list == nil {
		inner.base += t.places.base
	} else {
		list := make([]int, len(value)+1)
		for i := range list {
			list[i] = t.places.at(inner.at(i))
		}
		inner = places{list: list}
	}
	t.pairs = append(t.pairs, Pair{
		Key: key, Value: value, KeyOffset: t.places.at(start), ValueOffset: t.places.at(open + 1), places: inner,
	})
	return true
}

// startsWithItem reports whether a text begins like the inside of an aql tag.
func startsWithItem(text string) bool {
	name := text
	if i := strings.IndexAny(text, ",="); i >= 0 {
		name = text[:i]
	}
	_, operation := lookup(name, Operation)
	_, parameter := lookup(name, Parameter)
	return operation || parameter
}

// nearMisses reports keys that look like a misspelt aql.
func (t *tagText) nearMisses() {
	for _, pair := range t.pairs {
		switch key := pair.Key; {
		case key == "aql" || !strings.EqualFold(key, "aql") && key != "aq1" && key != "agl" && key != "alq" &&
			key != "qal" && key != "aqls" && key != "aql-tag" && key != "aqltag":
		default:
			t.problems = append(t.problems, Problem{
				Offset: pair.KeyOffset, End: pair.KeyOffset + len(key), Code: codeName,
				Message: fmt.Sprintf("struct tag key %q is ignored; it looks like \"aql\"", key), Expected: "aql", Actual: key,
				Suggestion: "aql",
			})
		}
	}
}

// unquote returns the text of a Go string literal, and where its bytes came from: base plus the offset in literal.
func unquote(literal string, base int) (text string, from places, ok bool) {
	if len(literal) < 2 || literal[0] != literal[len(literal)-1] || literal[0] != '`' && literal[0] != '"' {
		return "", places{}, false
	}
	body := literal[1 : len(literal)-1]
	from.base = base + 1
	if literal[0] == '`' {
		return body, from, !strings.Contains(body, "`")
	}
	if strings.Contains(body, "\n") {
		return "", places{}, false
	}
	if !strings.ContainsAny(body, "\\\"") && utf8.ValidString(body) {
		return body, from, true
	}
	var out []byte
	for rest := body; rest != ""; {
		at := base + 1 + len(body) - len(rest)
		char, multibyte, tail, err := strconv.UnquoteChar(rest, '"')
		if err != nil {
			return "", places{}, false
		}
		size := len(out)
		if char < utf8.RuneSelf || !multibyte {
			out = append(out, byte(char))
		} else {
			out = utf8.AppendRune(out, char)
		}
		for range len(out) - size {
			from.list = append(from.list, at)
		}
		rest = tail
	}
	from.list = append(from.list, base+1+len(body))
	return string(out), from, true
}
