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
// quotation marks is the placeholder of an argument, in every dialect.
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
func (s *settings) err() error {
	for _, o := range s.filter {
		if n := len(split(o.condition)) - 1; n != len(o.args) || strings.TrimSpace(o.condition) == "" {
			return fmt.Errorf("sqlquery: Where(%q) has %d placeholders and %d arguments", o.condition, n, len(o.args))
		}
	}
	return nil
}

// write writes the conditions.
func (f filter) write(w *writer) {
	for _, o := range f {
		w.clause()
		w.text.WriteByte('(')
		for i, text := range split(o.condition) {
			if i > 0 {
				w.text.WriteString(w.value(o.args[i-1]))
			}
			w.text.WriteString(text)
		}
		w.text.WriteByte(')')
	}
}

// split splits a condition at its placeholders.
func split(condition string) (parts []string) {
	start, quote := 0, rune(0)
	for i, c := range condition {
		switch {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"' || c == '`':
			quote = c
		case c == '?':
			parts = append(parts, condition[start:i])
			start = i + 1
		}
	}
	return append(parts, condition[start:])
}
