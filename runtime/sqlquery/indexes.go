package sqlquery

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/internal/collection"
)

// Indexes returns the statements that create the indexes in which pages are found: one for the order by what identifies
// elements, and one for each field by which agents may sort. The order by an enum is an expression, for which there is
// none: what has the tag key enum gets no index, and that of another type with constants serves conditions only. MySQL
// uses those of texts only where the columns are Collated, and has none of TEXT columns without a length, which are
// refused with "key specification without a key length": leave these out, or add one. Indexes returns nil if the table
// is a join.
//
// Rows that conditions leave out are passed over one by one: where Where or a filter leaves few, indexes that begin
// with its columns help. The statements are for a migration, since each fails where its index exists.
func (t *Table[T]) Indexes() []string {
	if strings.ContainsFunc(t.from, func(r rune) bool {
		return r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
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
		if !f.sorts || f.enum || f.list || t.columns.of(f.name) == nil {
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

// Check asks the database for nothing by each field that has a column, and returns what it refuses, such as columns
// that do not exist or cannot be compared so. A service calls it when it starts.
func (t *Table[T]) Check(ctx context.Context, db Querier) error {
	return t.CheckWith(ctx, func(ctx context.Context, statement string, args []any) error {
		for _, err := range runnerOf(db)(ctx, statement, args) {
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// CheckWith is Check for databases that are not reached by database/sql. run runs a statement, which has no rows, and
// returns what is wrong with it.
func (t *Table[T]) CheckWith(
	ctx context.Context, run func(ctx context.Context, statement string, args []any) error,
) error {
	var refused []error
	for i := range t.fields {
		f := &t.fields[i]
		column := t.columns.of(f.name)
		if column == nil {
			continue
		}
		statement, args := t.checking(f, column)
		if err := run(ctx, statement, args); err != nil {
			refused = append(refused, fmt.Errorf("%s: %w", f.name, err))
		}
	}
	if refused != nil {
		return fmt.Errorf("sqlquery: the database refuses fields of the table %s: %w", t.from, errors.Join(refused...))
	}
	return nil
}

// checking returns a statement that uses a column in every way that requests can.
func (t *Table[T]) checking(f *offered, column *column) (statement string, args []any) {
	w := &writer{dialect: t.dialect, columns: t.columns}
	w.text.WriteString("SELECT 1 FROM " + t.from + " WHERE ")
	field := &collection.Field{Name: f.name, Kind: f.kind, List: f.list}
	c := collection.Condition{Field: field, Op: collection.Eq, Value: collection.Value{Time: time.Unix(0, 0)}}
	if f.list {
		c.Op = collection.Contains
	}
	w.condition(&c)
	text := f.kind == collection.String && !f.named && !f.enum
	if c.Op = collection.Search; text && column.can(&c) {
		w.text.WriteString(" OR ")
		w.condition(&c)
	}
	if !f.list {
		w.text.WriteString(" ORDER BY ")
		w.ordered(place{keys: []key{{
			Key: collection.Key{Field: field}, column: column, missable: f.missable,
		}}})
	}
	w.text.WriteString(" LIMIT 0")
	return w.text.String(), w.args
}
