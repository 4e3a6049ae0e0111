package sqlquery

import (
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/internal/collection"
)

// Indexes returns the statements that create the indexes in which pages are found: one for the order by what identifies
// elements, and one for each field by which agents may sort. The order by an enum is an expression, for which there is
// none: what has the tag key enum gets no index, and that of another type with constants serves conditions only. For
// PostgreSQL a field of such a type has none either if its column is an Expr, such as status::text, of which PostgreSQL
// refuses one if status is of an enum ("functions in index expression must be marked IMMUTABLE"); leave out those of
// other expressions that it refuses so. MySQL uses those of texts only where the columns are Collated, and has none of
// TEXT columns without a length, which are refused with "key specification without a key length": leave these out, or
// add one. Indexes returns nil if the table is a join.
//
// Rows that conditions leave out are passed over one by one: where Where or a filter leaves few, indexes that begin
// with its columns help. The statements are for a migration, since each fails where its index exists.
func (t *Table[T]) Indexes() []string {
	if !t.plain() {
		return nil
	}
	var ids []string
	for i := range t.fields {
		if f := &t.fields[i]; f.id && t.columns.of(f.name) != nil {
			ids = append(ids, t.indexed(f))
		}
	}
	var statements []string
	names := make(map[string]bool)
	add := func(name string, keys []string) {
		for name = strings.ReplaceAll(name, ".", "_"); names[strings.ToLower(name)]; name += "_2" {
		}
		names[strings.ToLower(name)] = true
		statements = append(statements, t.index(name, keys))
	}
	if ids != nil {
		add("identity", ids)
	}
	for i := range t.fields {
		f := &t.fields[i]
		if !f.sorts || f.list || t.columns.of(f.name) == nil || t.ranked(f) {
			continue
		}
		keys := []string{t.indexed(f)}
		for _, id := range ids {
			if id != keys[0] {
				keys = append(keys, id)
			}
		}
		if !slices.Equal(keys, ids) {
			add(f.name, keys)
		}
	}
	return statements
}

// ranked reports whether the order by a field is that of an enum's constants, or may be while PostgreSQL may refuse an
// index: it has none of expressions such as status::text, where status is of an enum.
func (t *Table[T]) ranked(f *offered) bool {
	return f.enum || f.named && !f.id && t.dialect == PostgreSQL && t.columns.of(f.name).Expr != ""
}

// plain reports whether what stands behind FROM is the name of one table.
func (t *Table[T]) plain() bool {
	return !strings.ContainsFunc(t.from, func(r rune) bool {
		return r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// index returns the statement that creates an index.
func (t *Table[T]) index(name string, keys []string) string {
	name = t.dialect.quote(strings.ReplaceAll(t.from, ".", "_") + "_" + name)
	return "CREATE INDEX " + name + " ON " + t.from + " (" + strings.Join(keys, ", ") + ")"
}

// indexed returns a column as an index has it.
func (t *Table[T]) indexed(f *offered) string {
	column := t.columns.of(f.name)
	if text := f.kind == collection.String || f.kind == collection.Text; text && t.dialect != MySQL &&
		!column.Collated && column.Encode == nil {
		return t.dialect.bytes(column.expr)
	}
	return column.expr
}
