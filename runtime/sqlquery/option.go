package sqlquery

import (
	"fmt"
	"strings"
)

// Option changes how Query reads a table.
type Option func(*settings)

// settings are what options set.
type settings struct {
	filter  filter
	counted bool
	read    string // what stands behind SELECT; empty: all columns
}

// Where adds a condition of the author's own, such as that on a tenant, to those of the request. A ? outside of
// quotation marks and comments is the placeholder of an argument, in every dialect; ?? is a ? of PostgreSQL, whose
// operators have it. Query fails if it cannot tell where a text ends: it takes no backslash in a text of MySQL or an
// E” of PostgreSQL, no $ outside of quotation marks in PostgreSQL, and no comment of MySQL that is carried out. Pass
// such texts as arguments.
func Where(condition string, args ...any) Option {
	return func(s *settings) { s.filter = append(s.filter, own{condition, args}) }
}

// Counted makes the answer say how many elements match on all pages, if no condition is left to the runtime. That costs
// another statement, unless all of them are on the page.
func Counted() Option { return func(s *settings) { s.counted = true } }

// Reading sets what stands behind SELECT, such as "todo_id, title".
func Reading(columns string) Option { return func(s *settings) { s.read = columns } }

// filter is the author's conditions.
type filter []own

type own struct {
	condition string
	args      []any
}

// err returns what is wrong with options.
func (s *settings) err(d Dialect) error {
	for _, o := range s.filter {
		parts, fault := d.split(o.condition)
		if fault != "" {
			return fmt.Errorf("sqlquery: Where(%q) has %s", o.condition, fault)
		}
		if strings.TrimSpace(o.condition) == "" {
			return fmt.Errorf("sqlquery: the condition of Where(%q) is empty: leave the option out", o.condition)
		}
		if n := len(parts) - 1; n != len(o.args) {
			return fmt.Errorf("sqlquery: Where(%q) has %d placeholders and %d arguments", o.condition, n, len(o.args))
		}
	}
	return nil
}

// write writes the conditions, of which err says that they are sound.
func (f filter) write(w *writer) {
	for _, o := range f {
		w.clause()
		w.text.WriteByte('(')
		parts, _ := w.dialect.split(o.condition)
		for i, text := range parts {
			if i > 0 {
				w.text.WriteString(w.value(o.args[i-1]))
			}
			w.text.WriteString(text)
		}
		if strings.Contains(o.condition, "--") || strings.Contains(o.condition, "#") {
			w.text.WriteByte('\n') // where a comment ends
		}
		w.text.WriteByte(')')
	}
}

// split splits a condition at its placeholders. fault is what of it nobody can be sure of.
func (d Dialect) split(condition string) (parts []string, fault string) {
	var part strings.Builder
	for i := 0; i < len(condition); {
		rest := condition[i:]
		n := 1
		switch c := rest[0]; {
		case c == '\'' || c == '"' || c == '`':
			end := strings.IndexByte(rest[1:], c)
			if end < 0 {
				return nil, "a quotation mark without another"
			}
			n = end + 2
			escapes := d == MySQL && c != '`' || d == PostgreSQL && c == '\'' && i > 0 && condition[i-1]|0x20 == 'e'
			if escapes && strings.Contains(rest[:n], `\`) {
				return nil, "a backslash in a text"
			}
		case d.comments(rest):
			if n = strings.IndexByte(rest, '\n') + 1; n == 0 {
				n = len(rest)
			}
		case strings.HasPrefix(rest, "/*"):
			end := strings.Index(rest[2:], "*/")
			if end < 0 {
				return nil, "a comment without an end"
			}
			n = end + 4
			inner := rest[2 : end+2]
			if strings.Contains(inner, "/*") {
				return nil, "a comment in a comment"
			}
			if d == MySQL && (strings.HasPrefix(inner, "!") || strings.HasPrefix(inner, "M!")) {
				return nil, "a comment that is carried out"
			}
		case c == '$' && d == PostgreSQL:
			return nil, "a $ outside of quotation marks"
		case strings.HasPrefix(rest, "??"):
			if d != PostgreSQL {
				return nil, "a ??, which only PostgreSQL has"
			}
			part.WriteByte('?')
			i += 2
			continue
		case c == '?':
			parts = append(parts, part.String())
			part.Reset()
			i++
			continue
		}
		part.WriteString(rest[:n])
		i += n
	}
	return append(parts, part.String()), ""
}

// comments reports whether a text begins with a comment that ends with the line.
func (d Dialect) comments(text string) bool {
	if d != MySQL {
		return strings.HasPrefix(text, "--")
	}
	return text[0] == '#' || text == "--" || strings.HasPrefix(text, "--") && text[2] <= ' '
}
