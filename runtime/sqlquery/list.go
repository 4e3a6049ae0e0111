package sqlquery

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/internal/collection"
)

// list writes a condition on a list.
func (w *writer) list(c *collection.Condition, column *column) {
	switch c.Op {
	case collection.Search:
		w.elements(column, func(element string) {
			w.text.WriteString(w.dialect.position(w.dialect.lower(element), w.value(c.Value.Text)) + " > 0")
		})
	case collection.Contains:
		w.anyOf(c.Field, column, []collection.Value{c.Value})
	case collection.In:
		w.anyOf(c.Field, column, c.Set)
	case collection.All:
		w.text.WriteByte('(')
		for i := range c.Set {
			if i > 0 {
				w.text.WriteString(" AND ")
			}
			w.anyOf(c.Field, column, c.Set[i:i+1])
		}
		if len(c.Set) == 0 {
			w.text.WriteString(holding)
		}
		w.text.WriteByte(')')
	}
}

// anyOf writes that one of the elements of a list is one of several values.
func (w *writer) anyOf(f *collection.Field, column *column, values []collection.Value) {
	var kept []*collection.Value
	for i := range values {
		op, v := collection.Eq, values[i]
		if _, decided := w.fit(f, column, &op, &v); !decided {
			kept = append(kept, &values[i])
		}
	}
	if len(kept) == 0 {
		w.text.WriteString(failing)
		return
	}
	if column.List == Array || column.List == JSON && w.dialect != SQLite {
		w.containing(f, column, kept)
		return
	}
	w.elements(column, func(element string) {
		w.in(element, f, column, kept)
	})
}

// containing writes the same with the operator of the database for it, which may look into an index.
func (w *writer) containing(f *collection.Field, column *column, values []*collection.Value) {
	w.text.WriteString("COALESCE(")
	for i, v := range values {
		if i > 0 {
			w.text.WriteString(" OR ")
		}
		switch {
		case column.List == Array:
			w.text.WriteString(w.operand(f, column, v) + " = ANY(" + column.expr + ")")
		case w.dialect == PostgreSQL:
			w.text.WriteString(column.expr + "::jsonb @> " + w.value(column.json(f, v)) + "::text::jsonb")
		default:
			w.text.WriteString("JSON_CONTAINS(" + column.expr + ", " + w.value(column.json(f, v)) + ")")
		}
	}
	w.text.WriteString(", " + failing + ")")
}

// json returns a list of one value as JSON.
func (c *column) json(f *collection.Field, v *collection.Value) string {
	value := c.encoded(f.Go(v))
	if at, ok := value.(time.Time); ok {
		value = at.Format(time.RFC3339Nano)
	}
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode([]any{value}); err != nil {
		return "no JSON, which databases refuse" // an Encode returned a value that has none
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// elements writes that a condition, which condition writes, holds for an element of a list.
func (w *writer) elements(column *column, condition func(element string)) {
	w.text.WriteString("EXISTS (")
	switch {
	case column.List != JSON && column.List != Array:
		before, behind, _ := strings.Cut(column.List, "%s")
		w.text.WriteString(before)
		condition(column.expr)
		w.text.WriteString(behind)
	case column.List == Array:
		w.text.WriteString("SELECT 1 FROM unnest(" + column.expr + ") AS e(value) WHERE ")
		condition("e.value")
	case w.dialect == PostgreSQL:
		w.text.WriteString("SELECT 1 FROM jsonb_array_elements_text(CASE jsonb_typeof(" + column.expr +
			"::jsonb) WHEN 'array' THEN " + column.expr + "::jsonb ELSE '[]' END) AS e(value) WHERE ")
		condition("e.value")
	case w.dialect == MySQL:
		w.text.WriteString("SELECT 1 FROM JSON_TABLE(" + column.expr +
			", '$[*]' COLUMNS (value LONGTEXT PATH '$')) AS e WHERE ")
		condition("e.value")
	default:
		w.text.WriteString("SELECT 1 FROM json_each(" + column.expr + ") AS e WHERE ")
		condition("e.value")
	}
	w.text.WriteByte(')')
}
