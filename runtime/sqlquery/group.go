package sqlquery

import (
	"slices"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/runtime/internal/collection"
)

// grouping is the summaries of a request with one group_by, which one statement answers, but for some values.
type grouping struct {
	by       *collection.Field // nil: all elements are one group
	of       []sum
	extremes []extreme
}

// sum is a summary with its place among those of the request.
type sum struct {
	*collection.Wanted
	index int
}

// extreme is the least value of a field, or the greatest one, that is read of an element: the database keeps it in
// another way, or orders it in another way than its functions do.
type extreme struct {
	field    *collection.Field
	greatest bool
	keys     []key
	index    int // of the summary
}

// groupings returns the statements that answer summaries; nil: at least one cannot be answered exactly so, and rows
// have to be read for all of them.
func (t *Table[T]) groupings(wanted []collection.Wanted) (all []grouping) {
	for i := range wanted {
		w := sum{&wanted[i], i}
		at := slices.IndexFunc(all, func(g grouping) bool {
			return g.by == w.By || g.by != nil && w.By != nil && g.by.Name == w.By.Name
		})
		if at < 0 {
			if w.By != nil && !t.groups(w.By) {
				return nil
			}
			at = len(all)
			all = append(all, grouping{by: w.By})
		}
		all[at].of = append(all[at].of, w)
		if w.Sum != nil && !t.adds(w.Sum) || w.Avg != nil && !t.adds(w.Avg) ||
			!t.extreme(&all[at], w.Min, false, i) || !t.extreme(&all[at], w.Max, true, i) {
			return nil
		}
	}
	return all
}

// valued returns the column of a field that has one value; nil: there is none.
func (t *Table[T]) valued(f *collection.Field) *column {
	column := t.columns.of(f.Name)
	if column == nil || f.List || column.List != "" || (collection.Order{{Field: f}}).Computes() {
		return nil
	}
	return column
}

// groups reports whether the database groups by a field, so that the names of groups are known.
func (t *Table[T]) groups(f *collection.Field) bool {
	column := t.valued(f)
	return column != nil && column.Encode == nil && !column.foreign(f) && f.Kind != collection.Float &&
		f.Kind != collection.Time
}

// adds reports whether the database adds up a field exactly. The sum of floating-point numbers depends on their order.
func (t *Table[T]) adds(f *collection.Field) bool {
	column := t.valued(f)
	return column != nil && column.Encode == nil && (f.Kind == collection.Int || f.Kind == collection.Uint)
}

// extreme adds the least value of a field, or the greatest one, to those that are read of elements, unless a function
// of the database returns it. f may be nil. It returns false if the database finds it in neither way.
func (t *Table[T]) extreme(g *grouping, f *collection.Field, greatest bool, index int) bool {
	if f == nil {
		return true
	}
	column := t.valued(f)
	switch {
	case column == nil, column.foreign(f), column.Collated && f.Ranks != nil:
		return false
	case column.returned(f, t.dialect):
		return true
	case column.Collated && isTextual(f): // whose order is another one
		return false
	}
	keys, ok := keysOf(t.dialect, t.columns, collection.Order{{Field: f, Descending: greatest}})
	for i := range keys {
		keys[i].missable = false // elements without it are left out
	}
	g.extremes = append(g.extremes, extreme{f, greatest, keys, index})
	return ok && (g.by == nil || t.identities() != nil)
}

// isTextual reports whether values of a field are texts.
func isTextual(f *collection.Field) bool {
	return f.Kind == collection.String || f.Kind == collection.Text
}

// foreign reports whether the texts of a field may have another spelling in the database.
func (c *column) foreign(f *collection.Field) bool { return c.Collated && f.Kind == collection.Text }

// returned reports whether MIN and MAX of the column return its values as rows do, in the order of the field.
func (c *column) returned(f *collection.Field, d Dialect) bool {
	switch f.Kind {
	case collection.Bool, collection.Int, collection.Uint:
		return c.Encode == nil
	case collection.Float: // MySQL may make a FLOAT a number with other digits
		return c.Encode == nil && d != MySQL
	case collection.String, collection.Text: // of a type without COLLATE, PostgreSQL may write a text in two ways
		return c.Encode == nil && f.Ranks == nil && (d != PostgreSQL || !c.Collated)
	}
	return false
}

// identities returns the columns that identify elements; nil: not all of these have a column.
func (t *Table[T]) identities() (columns []string) {
	for i := range t.fields {
		f := &t.fields[i]
		if !f.id {
			continue
		}
		column := t.columns.of(f.name)
		if column == nil || f.missable || f.list {
			return nil
		}
		columns = append(columns, column.expr)
	}
	return columns
}

// groupKeys returns expressions that are equal where a field has one value.
func (w *writer) groupKeys(f *collection.Field) []string {
	column := w.columns.of(f.Name)
	switch {
	case !isTextual(f):
		return []string{column.expr}
	case column.Collated && w.dialect == PostgreSQL: // the type may have no COLLATE
		return []string{column.expr, w.dialect.bytes("(" + column.expr + ")::text")}
	default:
		return []string{w.dialect.bytes(column.expr)}
	}
}

// shortens reports whether the database may look at the beginnings of a field's values only.
func (w *writer) shortens(f *collection.Field) bool { return w.dialect == MySQL && isTextual(f) }

// texts returns the fields whose texts the rows of a grouping have, where drivers may know columns by their types: of
// one that is a DATE they make a time, and of an expression that compares its bytes they do not.
func (t *Table[T]) texts(g *grouping) (fields []*collection.Field) {
	if t.dialect == PostgreSQL { // in which such expressions are texts, or keep the type
		return nil
	}
	add := func(f *collection.Field) {
		if f != nil && isTextual(f) && !slices.Contains(fields, f) {
			fields = append(fields, f)
		}
	}
	add(g.by)
	for i := range g.of {
		for _, f := range []*collection.Field{g.of[i].Min, g.of[i].Max} {
			if f != nil && t.columns.of(f.Name).returned(f, t.dialect) {
				add(f)
			}
		}
	}
	return fields
}

// typed returns an expression that has the type of a field's column.
func (w *writer) typed(f *collection.Field) string {
	expr := w.columns.of(f.Name).expr
	if w.dialect == MySQL {
		return "MAX(" + expr + ")"
	}
	return expr // as in any one row of the group
}

// groupSQL returns the statement of a grouping. Its rows have the value of the group, the number of elements, the
// columns of each summary, and those that tell types; see groupRow.
func (s *Select[T]) groupSQL(f filter, g *grouping, limit int) (statement string, args []any) {
	w := s.writer(nil)
	var expressions []string
	grouped := ""
	if g.by != nil {
		expressions = w.groupKeys(g.by)
		if grouped = " GROUP BY 1"; len(expressions) > 1 {
			grouped = " GROUP BY 1, 2"
		}
		if w.shortens(g.by) {
			expressions = append(expressions, "MAX(LENGTH("+expressions[0]+")) <= @@max_sort_length")
		}
	}
	expressions = append(expressions, "COUNT(*)")
	for i := range g.of {
		expressions = append(expressions, w.functions(g.of[i].Wanted)...)
	}
	for _, f := range s.table.texts(g) {
		expressions = append(expressions, w.typed(f))
	}
	w.text.WriteString("SELECT " + strings.Join(expressions, ", ") + " FROM " + s.table.from)
	f.write(w)
	s.filtered(w)
	w.text.WriteString(grouped)
	w.limit(limit)
	return w.text.String(), w.args
}

// functions returns the expressions of a summary that the database adds up or compares.
func (w *writer) functions(of *collection.Wanted) (expressions []string) {
	for _, f := range []*collection.Field{of.Sum, of.Avg} {
		if f != nil {
			expressions = append(expressions, w.valuesOf(f))
			expressions = append(expressions, w.dialect.sums(w.columns.of(f.Name).expr)...)
		}
	}
	for i, f := range []*collection.Field{of.Min, of.Max} {
		if f != nil && w.columns.of(f.Name).returned(f, w.dialect) {
			expressions = append(expressions, w.valuesOf(f), w.end(f, i == 1))
		}
	}
	return expressions
}

// valuesOf returns the number of values of a column. It is NULL if there are values of another type than the field's:
// functions would round them, or compare them in another order.
func (w *writer) valuesOf(f *collection.Field) string {
	expr := w.columns.of(f.Name).expr
	count := "COUNT(" + expr + ")"
	switch {
	case w.dialect == SQLite: // which keeps any value in any column
		types := "'integer'"
		if isTextual(f) {
			types = "'text'"
		} else if f.Kind == collection.Float {
			types = "'real', 'integer'"
		}
		known := "COUNT(*) FILTER (WHERE typeof(" + expr + ") IN (" + types + "))"
		return "CASE " + count + " WHEN " + known + " THEN " + count + " END"
	case f.Kind == collection.Int, f.Kind == collection.Uint:
		// The product has the fraction .0 if integers were added up, a longer one if it was decimals, and none if it was
		// floating-point numbers, or texts that MySQL takes for such.
		return "CASE WHEN " + count + " = 0 OR RIGHT(CONCAT(SUM(" + expr + ") * 1.0), 2) = '.0' THEN " + count + " END"
	}
	return count
}

// end returns the least value of a column, or the greatest one.
func (w *writer) end(f *collection.Field, greatest bool) string {
	expr := w.columns.of(f.Name).expr
	if isTextual(f) {
		expr = w.dialect.bytes(expr)
	}
	names := [...]string{"MIN", "MAX"}
	if f.Kind == collection.Bool && w.dialect == PostgreSQL {
		names = [...]string{"bool_and", "bool_or"}
	}
	if greatest {
		return names[1] + "(" + expr + ")"
	}
	return names[0] + "(" + expr + ")"
}

// extremeSQL returns a statement that finds, of each group, at least one of the elements with an extreme value.
func (s *Select[T]) extremeSQL(columns string, f filter, g *grouping, e *extreme, limit int) (string, []any) {
	w := s.writer(nil)
	found := func() {
		w.clauses = 0
		w.text.WriteString(" FROM " + s.table.from)
		f.write(w)
		s.filtered(w)
		if e.field.Missable() {
			w.clause()
			w.text.WriteString(w.columns.of(e.field.Name).expr + " IS NOT NULL")
		}
	}
	w.text.WriteString("SELECT " + columns)
	found()
	if g.by == nil {
		w.text.WriteString(" ORDER BY ")
		w.ordered(place{keys: e.keys})
		w.limit(1)
		return w.text.String(), w.args
	}
	ids := s.table.identities()
	w.clause()
	w.text.WriteString("(" + strings.Join(ids, ", ") + ") IN (SELECT ")
	names := make([]string, len(ids))
	for i := range ids {
		names[i] = "id" + strconv.Itoa(i)
	}
	w.text.WriteString(strings.Join(names, ", ") + " FROM (SELECT ")
	for i, id := range ids {
		w.text.WriteString(id + " AS " + names[i] + ", ")
	}
	by := strings.Join(w.groupKeys(g.by), ", ")
	if w.dialect == SQLite && !isTextual(e.field) { // columns beside MIN or MAX are those of the row that has the value
		w.text.WriteString(w.end(e.field, e.greatest))
		found()
		w.text.WriteString(" GROUP BY " + by + ") AS placed)")
	} else {
		w.text.WriteString("ROW_NUMBER() OVER (PARTITION BY " + by + " ORDER BY ")
		w.ordered(place{keys: e.keys})
		w.text.WriteString(") AS place")
		found()
		w.text.WriteString(") AS placed WHERE place = 1)")
	}
	w.limit(limit)
	return w.text.String(), w.args
}
