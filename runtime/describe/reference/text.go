package reference

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/go-json-experiment/json/jsontext"
)

// slug returns the anchor that GitHub makes of a heading: lowercase letters, digits, hyphens and underscores, and a
// number if an earlier heading has the same.
func slug(title string, taken map[string]int) string {
	base := strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
			return unicode.ToLower(r)
		default:
			return -1
		}
	}, title)
	name := base
	for n, again := taken[name]; again; _, again = taken[name] {
		n++
		taken[base] = n
		name = fmt.Sprintf("%s-%d", base, n)
	}
	taken[name] = 0
	return name
}

// link returns a link to the heading with a key.
func (p *page) link(key, text string) string { return "[" + text + "](#" + p.anchors[key] + ")" }

// code returns a code span. In tables, table escapes its bars.
func code(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return `""`
	}
	fence := "`"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	if len(fence) > 1 {
		return fence + " " + text + " " + fence
	}
	return fence + text + fence
}

func codes(values []string) string {
	var list []string
	for _, v := range values {
		list = append(list, code(v))
	}
	return strings.Join(list, ", ")
}

// code writes a block of JSON.
func (p *page) code(text string) { p.paragraph("```json\n" + text + "\n```") }

// lineLength is the greatest length of a request on one line.
const lineLength = 100

// request returns the arguments of a tool for the parameters of an example.
func (p *page) request(o *gen.Operation, params string) string {
	text := fmt.Sprintf(`{"operation":%q,"params":%s}`, o.Name, params)
	if p.surface.Mode == describe.Discrete {
		text = params
	}
	line := jsontext.Value(text)
	err := line.Format(jsontext.SpaceAfterColon(true), jsontext.SpaceAfterComma(true))
	if err == nil && utf8.RuneCount(line) <= lineLength {
		return string(line)
	}
	lines := jsontext.Value(text)
	if err := lines.Format(jsontext.Multiline(true), jsontext.WithIndent("  ")); err == nil {
		return string(lines)
	}
	return text
}

// escape returns plain text as one line of Markdown. Addresses become links.
func escape(text string) string {
	words := strings.Fields(text)
	for i, word := range words {
		words[i] = escapeWord(word, i == 0)
	}
	return strings.Join(words, " ")
}

// escapeParagraphs is escape for text of several paragraphs.
func escapeParagraphs(text string) string {
	var paragraphs []string
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		if paragraph = escape(paragraph); paragraph != "" {
			paragraphs = append(paragraphs, paragraph)
		}
	}
	return strings.Join(paragraphs, "\n\n")
}

func escapeWord(word string, first bool) string {
	if address, rest, ok := cutAddress(word); ok {
		return "<" + address + ">" + rest
	}
	if first && startsBlock(word) {
		if end := len(word) - 1; word[end] == '.' || word[end] == ')' {
			return word[:end] + `\` + word[end:]
		}
		return `\` + word
	}
	var b strings.Builder
	for i, r := range word {
		switch r {
		case '\\', '*', '[', ']', '<', '>', '`', '~':
			b.WriteByte('\\')
		case '_':
			// Inside a word it has no meaning in Markdown.
			before, _ := utf8.DecodeLastRuneInString(word[:i])
			after, _ := utf8.DecodeRuneInString(word[i+1:])
			if !isWord(before) || !isWord(after) {
				b.WriteByte('\\')
			}
		case '&':
			if strings.Contains(word[i:], ";") {
				b.WriteByte('\\')
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}

func isWord(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_' }

// startsBlock reports whether a word at the beginning of a line would begin a heading, a list or a rule.
func startsBlock(word string) bool {
	digits := strings.TrimLeft(word, "0123456789")
	heading := strings.Trim(word, "#") == "" || strings.Trim(word, "=") == ""
	return heading || word == "+" || strings.Trim(word, "-") == "" ||
		len(digits) < len(word) && (digits == "." || digits == ")")
}

// cutAddress splits a word that begins with an address.
func cutAddress(word string) (address, rest string, ok bool) {
	if !strings.HasPrefix(word, "http://") && !strings.HasPrefix(word, "https://") || strings.ContainsAny(word, "<>`|") {
		return "", "", false
	}
	address = strings.TrimRight(word, ".,;:!?)'\"")
	return address, word[len(address):], true
}

// table is a table with its header.
type table [][]string

func (p *page) table(t table) {
	line := func(cells []string) {
		for _, cell := range cells {
			p.text.WriteString(strings.TrimRight("| "+strings.ReplaceAll(cell, "|", `\|`), " ") + " ")
		}
		p.text.WriteString("|\n")
	}
	line(t[0])
	line(strings.Split(strings.Repeat("---,", len(t[0])-1)+"---", ","))
	for _, row := range t[1:] {
		line(row)
	}
	p.text.WriteByte('\n')
}
