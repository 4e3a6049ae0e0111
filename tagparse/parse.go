package tagparse

import (
	"fmt"
	"math/big"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Item is one key of a tag with its value.
type Item struct {
	Key         string
	Value       string   // without quotes; empty for a flag
	List        []string // elements of a list, without quotes
	Flag        bool     // has no value
	KeyOffset   int      // of the key, in bytes of the text
	ValueOffset int      // of the value, quotes included; the end of the key for a flag
	End         int      // of the item
}

// Problem is a mistake in a text, at the bytes from Offset to End.
type Problem struct {
	Offset, End int
	Code        string // SCHEMA_… (MCP-AQL structured error codes §3.2)
	Message     string
	Expected    string
	Actual      string
	Suggestion  string
}

// The codes of problems.
const (
	codeMissing   = "SCHEMA_MISSING_FIELD"
	codeType      = "SCHEMA_INVALID_TYPE"
	codeName      = "SCHEMA_INVALID_NAME"
	codeDuplicate = "SCHEMA_DUPLICATE_NAME"
)

// Parse reads the text of a tag. It returns the items without mistakes, and every mistake in the others.
func Parse(text string, scope Scope) ([]Item, []Problem) {
	p := &parser{text: text, scope: scope, seen: make(map[string]bool)}
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	for {
		p.item()
		if p.pos >= len(text) {
			break
		}
		p.pos++ // the comma
		if strings.TrimSpace(text[p.pos:]) == "" {
			p.problem(p.pos-1, p.pos, codeMissing, "nothing follows the comma", "a key", "", "remove the comma")
			break
		}
	}
	p.contradictions()
	return p.items, p.problems
}

type parser struct {
	text     string
	scope    Scope
	pos      int
	seen     map[string]bool // keys so far, with and without mistakes
	items    []Item
	problems []Problem
}

func (p *parser) problem(from, to int, code, message, expected, actual, suggestion string) {
	from = min(from, len(p.text)-1)
	to = min(max(to, from+1), len(p.text))
	p.problems = append(p.problems, Problem{from, to, code, message, expected, actual, suggestion})
}

func (p *parser) spaces() {
	for p.pos < len(p.text) && (p.text[p.pos] == ' ' || p.text[p.pos] == '\t') {
		p.pos++
	}
}

// item reads one item and stops at its comma or at the end.
func (p *parser) item() {
	p.spaces()
	start := p.pos
	for p.pos < len(p.text) && p.text[p.pos] != ',' && p.text[p.pos] != '=' {
		p.pos++
	}
	name := strings.TrimRight(p.text[start:p.pos], " \t")
	item := Item{Key: name, KeyOffset: start, ValueOffset: start + len(name), End: start + len(name)}
	sound := true
	if p.pos < len(p.text) && p.text[p.pos] == '=' {
		p.pos++
		sound = p.value(&item)
	} else {
		item.Flag = true
	}
	if name == "" {
		p.problem(start, max(start+1, item.End), codeMissing, "a key is missing here", "a key", "",
			"remove the comma or name a key")
		return
	}
	key, known := lookup(name, p.scope)
	if !known {
		p.unknown(item)
		return
	}
	if p.seen[name] {
		p.problem(start, start+len(name), codeDuplicate, fmt.Sprintf("key %q stands twice in this tag", name), "one "+name,
			"two", "remove one of them")
		return
	}
	p.seen[name] = true
	if sound && p.check(key, item) {
		p.items = append(p.items, item)
	}
}

func (p *parser) unknown(item Item) {
	from, to := item.KeyOffset, item.KeyOffset+len(item.Key)
	other := Parameter
	where := "an ordinary field"
	if p.scope == Parameter {
		other, where = Operation, "the blank field '_'"
	}
	if _, elsewhere := lookup(item.Key, other); elsewhere {
		p.problem(from, to, codeName, fmt.Sprintf("key %q belongs on %s, not here", item.Key, where),
			"a key of "+article(p.scope), item.Key, "move it to "+where)
		return
	}
	suggestion := ""
	if ours, ok := translate(item.Key, p.scope); ok {
		suggestion = ours
	} else if near, ok := suggest(item.Key, names(p.scope)); ok {
		suggestion = near
	} else if near, ok := suggest(item.Key, names(other)); ok {
		suggestion = near + ", on " + where
	}
	p.problem(from, to, codeName, fmt.Sprintf("there is no key %q", item.Key),
		"one of "+strings.Join(names(p.scope), ", "), item.Key, suggestion)
}

func article(s Scope) string {
	switch s {
	case Operation, Adopt:
		return "an operation"
	case Update:
		return "an update"
	default:
		return "a parameter"
	}
}

// value reads what follows the equals sign.
func (p *parser) value(item *Item) bool {
	p.spaces()
	item.ValueOffset = p.pos
	key, known := lookup(item.Key, p.scope)
	stops := ","
	if !known || key.isList() {
		stops = ",|"
	}
	sound := true
	for {
		start := p.pos
		element, ok := p.element(stops)
		if !ok {
			item.End = p.pos
			return false
		}
		if alone := len(item.List) == 0 && (p.pos >= len(p.text) || p.text[p.pos] == ','); known && element == "" &&
			!alone && (start == p.pos || !key.takesEmpty()) {
			p.problem(max(start-1, item.ValueOffset), p.pos, codeMissing, fmt.Sprintf("an element of %q is empty", key.Name),
				key.describe(), "", key.withoutEmpty("remove one |"))
			sound = false
		}
		item.List = append(item.List, element)
		if p.pos >= len(p.text) || p.text[p.pos] != '|' {
			break
		}
		p.pos++
		p.spaces()
	}
	item.End = p.pos
	item.Value = strings.Join(item.List, "|")
	for item.End > item.ValueOffset && (p.text[item.End-1] == ' ' || p.text[item.End-1] == '\t') {
		item.End--
	}
	if !known || !key.isList() {
		item.List = nil
	}
	return sound
}

// isList reports whether the key takes several values.
func (k Key) isList() bool { return k.Value == List || k.Value == FlagList }

// takesEmpty reports whether the empty text, which must be quoted, is a value of the key.
func (k Key) takesEmpty() bool { return k.Value == Literal || k.Name == "enum" || k.Name == "desc" }

// withoutEmpty adds how the empty text is written, for keys that take it.
func (k Key) withoutEmpty(advice string) string {
	if k.takesEmpty() {
		return advice + ", or write '' for the empty text"
	}
	return advice
}

// element reads a bare or quoted value up to one of stops.
func (p *parser) element(stops string) (string, bool) {
	if p.pos < len(p.text) && p.text[p.pos] == '\'' {
		return p.quoted(stops)
	}
	start := p.pos
	for p.pos < len(p.text) && strings.IndexByte(stops, p.text[p.pos]) < 0 {
		p.pos++
	}
	return strings.TrimRight(p.text[start:p.pos], " \t"), true
}

func (p *parser) quoted(stops string) (string, bool) {
	start := p.pos
	var out strings.Builder
	for p.pos++; p.pos < len(p.text); p.pos++ {
		if p.text[p.pos] != '\'' {
			out.WriteByte(p.text[p.pos])
			continue
		}
		if p.pos+1 < len(p.text) && p.text[p.pos+1] == '\'' {
			out.WriteByte('\'')
			p.pos++
			continue
		}
		p.pos++
		p.spaces()
		if p.pos < len(p.text) && strings.IndexByte(stops, p.text[p.pos]) < 0 {
			p.stray(start, stops)
			return "", false
		}
		return out.String(), true
	}
	p.problem(start, len(p.text), codeType, "the closing quote is missing", "'", "", "close the value with '")
	return "", false
}

// stray reports text behind what looks like the closing quote of the value that opens at start. Mostly that quote was
// an apostrophe and the value ends at a later quote. Reading continues there, so that its commas do not begin new
// items.
func (p *parser) stray(start int, stops string) {
	const advice = "write '' for a quote inside a quoted value"
	from, rest := p.pos, p.text[p.pos:]
	for i := 0; i < len(rest); i++ {
		if rest[i] != '\'' {
			continue
		}
		if i > 0 && strings.IndexByte("=|,", rest[i-1]) >= 0 {
			break // opens a value
		}
		behind := strings.TrimLeft(rest[i+1:], " \t")
		if behind == "" || strings.IndexByte(stops, behind[0]) >= 0 {
			p.pos = len(p.text) - len(behind)
			for p.pos < len(p.text) && p.text[p.pos] != ',' {
				p.pos++
			}
			meant := strings.ReplaceAll(p.text[start+1:from+i], "''", "'")
			p.problem(from, from+i+1, codeType, "text follows the closing quote", "a comma", rest[:i+1],
				advice+": '"+strings.ReplaceAll(meant, "'", "''")+"'")
			return
		}
		if strings.IndexByte(" \t", rest[i+1]) >= 0 {
			break
		}
	}
	for p.pos < len(p.text) && p.text[p.pos] != ',' {
		p.pos++
	}
	p.problem(from, p.pos, codeType, "text follows the closing quote", "a comma", p.text[from:p.pos], advice)
}

// check reports whether an item has a value that its key takes.
func (p *parser) check(key Key, item Item) bool {
	wrong := func(expected, suggestion string) bool {
		p.problem(item.ValueOffset, max(item.End, item.ValueOffset+1), codeType,
			fmt.Sprintf("key %q takes %s", key.Name, expected), expected, item.Value, suggestion)
		return false
	}
	if key.Value == Flag || item.Flag && (key.Value == FlagText || key.Value == FlagList) {
		if !item.Flag {
			p.problem(item.KeyOffset, item.End, codeType, fmt.Sprintf("key %q takes no value", key.Name), "no value", item.Value,
				key.Name)
		}
		return item.Flag
	}
	if item.Flag || item.Value == "" && (!key.takesEmpty() || item.End == item.ValueOffset) {
		p.problem(item.KeyOffset, max(item.End, item.KeyOffset+len(key.Name)), codeMissing,
			fmt.Sprintf("key %q needs a value", key.Name), key.describe(), "nothing",
			key.withoutEmpty(key.Name+"="+key.example()))
		return false
	}
	switch key.Value {
	case FlagText:
		switch strings.ToLower(item.Value) {
		case "false", "no", "off", "0":
			return wrong("no value, or a text that says why", "remove it")
		case "true", "yes", "on", "1":
			return wrong("no value, or a text that says why", key.Name)
		}
	case Integer:
		if n, err := strconv.Atoi(item.Value); err != nil || n < 0 {
			return wrong("a whole number, 0 or more", "")
		}
	case Number:
		if !jsonNumber.MatchString(item.Value) {
			return wrong("a number", "")
		}
	case Duration:
		if d, err := time.ParseDuration(item.Value); err != nil || d <= 0 {
			return wrong("a duration such as 30s or 2m", "")
		}
	case OneOf:
		for _, allowed := range key.OneOf {
			if item.Value == allowed {
				return true
			}
		}
		near, _ := suggest(item.Value, key.OneOf)
		return wrong("one of "+strings.Join(key.OneOf, ", "), near)
	}
	return true
}

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?$`)

func (k Key) describe() string {
	switch k.Value {
	case Integer:
		return "a whole number"
	case Number:
		return "a number"
	case Duration:
		return "a duration"
	case OneOf:
		return "one of " + strings.Join(k.OneOf, ", ")
	case Pattern:
		return "a regular expression"
	default:
		return "a value"
	}
}

func (k Key) example() string {
	switch k.Value {
	case Integer, Number:
		return "1"
	case Duration:
		return "30s"
	case OneOf:
		return k.OneOf[0]
	case Pattern:
		return "'^[a-z]+$'"
	case List, FlagList:
		return "a|b"
	default:
		return "…"
	}
}

// contradictions reports lower bounds above upper ones.
func (p *parser) contradictions() {
	find := func(name string) *Item {
		for i := range p.items {
			if p.items[i].Key == name {
				return &p.items[i]
			}
		}
		return nil
	}
	for _, pair := range [][2]string{{"min", "max"}, {"minlen", "maxlen"}, {"minitems", "maxitems"}} {
		low, high := find(pair[0]), find(pair[1])
		if low == nil || high == nil {
			continue
		}
		l, lowOK := new(big.Rat).SetString(low.Value)
		h, highOK := new(big.Rat).SetString(high.Value)
		if lowOK && highOK && l.Cmp(h) > 0 {
			p.problem(high.KeyOffset, high.End, codeType, fmt.Sprintf("%s=%s is above %s=%s: no value can satisfy both", low.Key,
				low.Value, high.Key, high.Value),
				pair[1]+" >= "+low.Value, high.Value, "")
		}
	}
}
