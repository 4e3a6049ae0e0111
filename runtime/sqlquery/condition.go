package sqlquery

import (
	"math"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/internal/collection"
)

// writer writes a statement. Every value of a request is a placeholder.
type writer struct {
	dialect Dialect
	columns columns
	text    strings.Builder
	args    []any
	clauses int // of WHERE so far
}

// clause begins another condition of WHERE.
func (w *writer) clause() {
	if w.clauses++; w.clauses == 1 {
		w.text.WriteString(" WHERE ")
		return
	}
	w.text.WriteString(" AND ")
}

// holding and failing are conditions that always and never hold.
const (
	holding = "1=1"
	failing = "1=0"
)

// can reports whether a condition can be written, with all that it combines. collated says whether a part of it has to
// be, since the runtime does not compare texts as the database does for a column.
func can(columns columns, c *collection.Condition) (written, collated bool) {
	if c.Field != nil {
		column := columns.of(c.Field.Name)
		return column != nil && column.can(c), column != nil && column.Collated
	}
	written = true
	nodes := c.Or
	if c.Not != nil {
		nodes = []*collection.Node{c.Not}
	}
	for _, n := range nodes {
		for i := range n.All {
			w, own := can(columns, &n.All[i])
			written, collated = written && w, collated || own
		}
	}
	return written, collated
}

// can reports whether a condition on the column can be written.
func (c *column) can(on *collection.Condition) bool {
	switch on.Op {
	case collection.Contains, collection.Starts, collection.Search:
		if c.Encode != nil && (!on.Field.List || on.Op == collection.Search) {
			return false // parts of a text are not parts of what it is encoded as
		}
	}
	if on.Field.Missable() && c.List != "" && c.List != JSON && c.List != Array {
		return false
	}
	return on.Field.List == (c.List != "")
}

// node writes conditions that all have to hold.
func (w *writer) node(n *collection.Node) {
	if len(n.All) == 0 {
		w.text.WriteString(holding)
	}
	for i := range n.All {
		if i > 0 {
			w.text.WriteString(" AND ")
		}
		w.condition(&n.All[i])
	}
}

// condition writes a condition that is true or false and never NULL, so that NOT means what it says.
func (w *writer) condition(c *collection.Condition) {
	switch {
	case c.Not != nil:
		w.text.WriteString("NOT (")
		w.node(c.Not)
		w.text.WriteByte(')')
	case c.Field == nil:
		w.alternatives(c.Or)
	default:
		w.comparison(c, w.columns.of(c.Field.Name))
	}
}

func (w *writer) alternatives(nodes []*collection.Node) {
	if len(nodes) == 0 {
		w.text.WriteString(failing)
		return
	}
	w.text.WriteByte('(')
	for i, n := range nodes {
		if i > 0 {
			w.text.WriteString(" OR ")
		}
		if len(n.All) > 1 {
			w.text.WriteByte('(')
		}
		w.node(n)
		if len(n.All) > 1 {
			w.text.WriteByte(')')
		}
	}
	w.text.WriteByte(')')
}

// comparison writes a comparison of a column.
func (w *writer) comparison(c *collection.Condition, column *column) {
	missable := c.Field.Missable()
	switch {
	case c.Op == collection.Null && !missable:
		w.text.WriteString(map[bool]string{true: failing, false: holding}[c.Value.Int != 0])
		return
	case c.Op == collection.Null:
		w.text.WriteString(column.expr + map[bool]string{true: " IS NULL", false: " IS NOT NULL"}[c.Value.Int != 0])
		return
	case missable && c.Op == collection.Ne:
		w.text.WriteString("(" + column.expr + " IS NULL OR ")
	case missable:
		w.text.WriteString("(" + column.expr + " IS NOT NULL AND ")
	}
	if c.Field.List {
		w.list(c, column)
	} else {
		w.present(c, column)
	}
	if missable {
		w.text.WriteByte(')')
	}
}

// present writes a comparison of a column that is not NULL.
func (w *writer) present(c *collection.Condition, column *column) {
	f := c.Field
	switch c.Op {
	case collection.In:
		w.among(c, column)
	case collection.Contains, collection.Search:
		w.text.WriteString(w.dialect.position(w.dialect.lower(column.expr), w.value(c.Value.Text)) + " > 0")
	case collection.Starts:
		w.starts(column, c.Value.Text)
	default:
		op, v := c.Op, c.Value
		always, decided := w.fit(f, column, &op, &v)
		if decided {
			w.text.WriteString(map[bool]string{true: holding, false: failing}[always])
			return
		}
		w.compare(f, column, symbols[op], &v)
	}
}

// starts writes that a column begins with a text.
func (w *writer) starts(column *column, text string) {
	lower := w.dialect.lower(column.expr)
	switch w.dialect {
	case PostgreSQL:
		w.text.WriteString("starts_with(" + lower + ", " + w.value(text) + ")")
	case MySQL:
		// MariaDB takes the two positions in instr(a, 'x') = 1 AND instr(a, 'X') > 0 for one, if the connection has a
		// collation in which the values are equal, and puts 1 in the place of the second. It does so only behind "=".
		w.text.WriteString("abs(" + w.dialect.position(lower, w.value(text)) + " - 1) < 1")
	default:
		w.text.WriteString(w.dialect.position(lower, w.value(text)) + " = 1")
	}
}

// symbols are the operators of SQL.
var symbols = [...]string{
	collection.Eq: " = ", collection.Ne: " <> ", collection.Gt: " > ", collection.Gte: " >= ", collection.Lt: " < ",
	collection.Lte: " <= ",
}

// fit makes of a comparison with a value that the column cannot hold one with a value that it can. decided says that it
// holds always, or never.
func (w *writer) fit(
	f *collection.Field, column *column, op *collection.Op, v *collection.Value,
) (always, decided bool) {
	switch {
	case column.List == JSON && (w.dialect != SQLite || f.Kind == collection.Time): // which has values of any size
		return false, false
	case f.Kind == collection.Time:
		whole := v.Time.Truncate(column.Precision)
		if whole.Equal(v.Time) {
			return false, false
		}
		v.Time = whole // which is in front of it
	case f.Kind == collection.Uint && column.Encode == nil && w.dialect != MySQL && !v.Negative && v.Int < 0:
		*v = collection.Value{Int: math.MaxInt64}
	default:
		return false, false
	}
	switch *op {
	case collection.Eq:
		return false, true
	case collection.Ne:
		return true, true
	case collection.Gte:
		*op = collection.Gt
	case collection.Lt:
		*op = collection.Lte
	}
	return false, false
}

// among writes that a column is one of several values.
func (w *writer) among(c *collection.Condition, column *column) {
	var values []*collection.Value
	for i := range c.Set {
		op, v := collection.Eq, c.Set[i]
		if _, decided := w.fit(c.Field, column, &op, &v); !decided {
			values = append(values, &c.Set[i])
		}
	}
	if len(values) == 0 {
		w.text.WriteString(failing)
		return
	}
	w.in(column.expr, c.Field, column, values)
}

// in writes that an expression, which is a column or an element of a list in it, is one of several values.
func (w *writer) in(expr string, f *collection.Field, column *column, values []*collection.Value) {
	among := func(expr string) {
		w.text.WriteString(expr + " IN (")
		for i, v := range values {
			if i > 0 {
				w.text.WriteString(", ")
			}
			w.text.WriteString(w.operand(f, column, v))
		}
		w.text.WriteByte(')')
	}
	switch {
	case !column.isText(f):
		among(expr)
	case w.dialect == MySQL: // of which the first may look into an index
		among(expr)
		w.text.WriteString(" AND ")
		among(w.dialect.bytes(expr))
	default:
		among(w.dialect.bytes(expr))
	}
}

// compare writes a comparison of a column with a value.
func (w *writer) compare(f *collection.Field, column *column, symbol string, v *collection.Value) {
	if symbol == symbols[collection.Eq] && w.dialect == MySQL && column.isText(f) { // it may look into an index
		w.text.WriteString(column.expr + symbol + w.operand(f, column, v) + " AND ")
	}
	left, right := w.sides(f, column, v)
	w.text.WriteString(left + symbol + right)
}

// sides returns the sides of a comparison of a column with a value.
func (w *writer) sides(f *collection.Field, column *column, v *collection.Value) (left, right string) {
	left, right = column.expr, w.operand(f, column, v)
	switch {
	case !column.isText(f):
	case w.dialect == SQLite: // which looks into no index of a column with a collation behind it
		right = w.dialect.bytes(right)
	default:
		left = w.dialect.bytes(left)
	}
	return left, right
}

// isText reports whether a field is compared by the bytes of its text.
func (c *column) isText(f *collection.Field) bool {
	return (f.Kind == collection.String || f.Kind == collection.Text) && !c.Collated && c.Encode == nil
}

// operand returns the placeholder of a value of a field.
func (w *writer) operand(f *collection.Field, column *column, v *collection.Value) string {
	placeholder := w.value(column.encoded(f.Go(v)))
	if w.dialect == PostgreSQL && column.Encode == nil && (f.Kind == collection.Int || f.Kind == collection.Uint) {
		placeholder += "::bigint" // else it would have to fit into the type of the column
	}
	return placeholder
}

// encoded returns a value as the database keeps it.
func (c *column) encoded(v any) any {
	if c.Encode != nil {
		return c.Encode(v)
	}
	if at, ok := v.(time.Time); ok {
		return at.UTC()
	}
	return v
}

// value adds a value to those of the statement, and returns its placeholder.
func (w *writer) value(v any) string {
	w.args = append(w.args, v)
	return w.dialect.placeholder(len(w.args))
}
