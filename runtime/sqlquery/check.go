package sqlquery

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aqltag/aqltag/runtime/internal/collection"
)

// Check asks the database for nothing by each field that has a column, and returns what it refuses, such as columns
// that do not exist or cannot be compared so. It also returns which columns are NULL in a row though their fields
// cannot be missing, since conditions and pages would leave out such rows, and which are dates of PostgreSQL behind
// times. A service calls it when it starts, with the Where of its queries if rows for which that does not hold may have
// NULL.
//
// The database finds NULL in an index, and knows of columns that are declared NOT NULL; of others it reads rows until
// it finds one. A time-out of ctx bounds that.
func (t *Table[T]) Check(ctx context.Context, db Querier, options ...Option) error {
	return t.CheckWith(ctx, func(ctx context.Context, statement string, args []any) (found bool, err error) {
		for _, err := range runnerOf(db)(ctx, statement, args) {
			if err != nil {
				return false, err
			}
			found = true
		}
		return found, nil
	}, options...)
}

// CheckWith is Check for databases that are not reached by database/sql. run runs a statement, which finds one row at
// most, and reports whether it has found it.
func (t *Table[T]) CheckWith(
	ctx context.Context, run func(ctx context.Context, statement string, args []any) (found bool, err error),
	options ...Option,
) error {
	var s settings
	for _, option := range options {
		option(&s)
	}
	if err := s.err(t.dialect); err != nil {
		return err
	}
	var refused []error
	for i := range t.fields {
		f := &t.fields[i]
		column := t.columns.of(f.name)
		if column == nil {
			continue
		}
		statement, args := t.checking(f, column)
		_, err := run(ctx, statement, args)
		if err == nil && f.time && column.List == "" && column.Encode == nil && t.dialect == PostgreSQL {
			var date bool
			if date, err = run(ctx, t.dateSQL(column), nil); date && err == nil {
				err = fmt.Errorf("its column is a date, with which times are compared without the time of day: give it Expr: %q",
					column.written()+"::timestamp")
			}
		}
		if err != nil && column.Collated && f.kind == collection.String && t.dialect == PostgreSQL {
			err = fmt.Errorf("%w (of a type that is no text, give the column an Expr such as %s::text)", err, column.expr)
		}
		if err == nil && !f.missable && !f.list {
			statement, args := t.nullSQL(s.filter, column)
			var null bool
			if null, err = run(ctx, statement, args); null && err == nil {
				err = errors.New("it cannot be missing, and its column is NULL in a row: " + f.remedy(column))
			}
		}
		if err != nil {
			refused = append(refused, fmt.Errorf("%s: %w", f.name, err))
		}
	}
	if refused != nil {
		return fmt.Errorf("sqlquery: the database refuses fields of the table %s: %w", t.from, errors.Join(refused...))
	}
	return nil
}

// nullSQL returns a statement that finds a row in which a column is NULL.
func (t *Table[T]) nullSQL(own filter, column *column) (statement string, args []any) {
	w := &writer{dialect: t.dialect, columns: t.columns}
	w.text.WriteString("SELECT 1 FROM " + t.from)
	own.write(w)
	w.clause()
	w.text.WriteString(column.expr + " IS NULL")
	if t.dialect == PostgreSQL && t.plain() && column.Expr == "" { // before 17 it reads all rows, whatever is declared
		w.clause()
		w.text.WriteString("NOT EXISTS (SELECT 1 FROM pg_attribute WHERE attnotnull AND attrelid = to_regclass(" +
			w.value(t.from) + ") AND attname = " + w.value(column.Name) + ")")
	}
	w.text.WriteString(" LIMIT 1")
	return w.text.String(), w.args
}

// dateSQL returns a statement that finds a row if a column of PostgreSQL is a date.
func (t *Table[T]) dateSQL(column *column) string {
	return "SELECT 1 WHERE pg_typeof((SELECT " + column.expr + " FROM " + t.from + " LIMIT 0)) = 'date'::regtype"
}

// written returns the column as an author writes it in an expression.
func (c *column) written() string {
	if c.Expr != "" {
		return c.Expr
	}
	return c.Name
}

// remedy says what to do where the column of a field is NULL.
func (f *offered) remedy(column *column) string {
	expr := column.written()
	switch f.kind {
	case collection.Int, collection.Uint, collection.Float:
		expr = "coalesce(" + expr + ", 0)"
	case collection.Bool:
		expr = "coalesce(" + expr + ", false)"
	case collection.String:
		expr = "coalesce(" + expr + ", '')"
	default:
		return "make the field a pointer"
	}
	return fmt.Sprintf("make the field a pointer, or give its column Expr: %q", expr)
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
	if f.known(column) {
		w.text.WriteString(column.expr + " = " + column.expr)
	} else {
		w.condition(&c)
	}
	text := f.kind == collection.String && !f.named && !f.enum
	if c.Op = collection.Search; text && (f.searches || f.allows("contains", "starts")) && column.can(&c) {
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

// known reports whether a column of a type of its own, which may take no other text, is compared only with texts that
// the database has written itself, that are among the constants of an enum, or that the type of the field has read.
func (f *offered) known(column *column) bool {
	if !column.Collated || f.list || column.Encode != nil {
		return false
	}
	compares := f.allows("eq", "ne", "in", "gt", "gte", "lt", "lte")
	return f.kind == collection.Text || f.kind == collection.String && (f.named || f.enum || !compares)
}
