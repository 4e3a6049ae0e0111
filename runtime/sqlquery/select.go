package sqlquery

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unsafe"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/internal/collection"
)

// Select is what a database does of the query of one request. What it does not stays with the query, which does it when
// the handler calls its Stream.
type Select[T any] struct {
	table      *Table[T]
	query      *aql.Query[T]
	bound      *collection.Bound // nil: no request brought the query
	conditions collection.Node
	keys       []key      // nil: the order is left to the query
	paged      []key      // the order of the page beside summaries, which only Query finds in another statement; nil: none
	grouped    []grouping // the statements that answer summaries, which only Query runs; nil: rows are summed
}

// Take takes of q what the database does exactly: the conditions on columns of the table, and the order, if it is by
// columns and the request wants no summaries. The handler then ends with Query, or with the Stream of q and the rows
// that the statement of SQL finds. Should the database fail, Slice and Pointers answer from memory, with all that the
// request asks but the conditions that the handler has taken itself, and so does Stream, unless a statement of SQL or
// Condition failed before its first row: Stream cannot know of that. One table takes of a query: an answer fails if
// another one was asked, too.
func (t *Table[T]) Take(q *aql.Query[T]) *Select[T] {
	s := &Select[T]{table: t, query: q, bound: boundOf(q)}
	if s.bound == nil {
		return s
	}
	if taken, ok := s.bound.Taker.(*Select[T]); ok {
		if taken.table != t {
			s.bound.Refused = fmt.Errorf("sqlquery: the table %s has taken of the query what %s was to take",
				taken.table.from, t.from)
		}
		return taken
	}
	s.bound.Taker = s
	var refused []string
	s.bound.TakeWhere(func(c *collection.Condition) bool {
		written, _ := can(t.columns, c)
		if written {
			s.conditions.All = append(s.conditions.All, *c)
		}
		return written
	})
	s.bound.Taken = s.conditions.All
	left := s.leavesCollated()
	if left {
		refused = append(refused, "a condition on a Collated column together with what is left to the runtime")
	}
	if name := t.unknown(s.bound.Order); name != "" && !s.bound.Itemless { // quietly, every page would read all rows
		refused = append(refused, fmt.Sprintf("the order by %s, a field that it has not found in %s by its tags; "+
			"what identifies elements is sure to be found if its aql tag has id", name, reflect.TypeFor[T]()))
	}
	keys, ok := keysOf(t.dialect, t.columns, s.bound.Order)
	switch ok = ok && !s.bound.Ordered; {
	case ok && s.bound.Wanted == nil: // summaries need what is on all pages
		s.takeOrder(keys)
	case (ok || s.bound.Itemless) && s.group():
		s.paged = keys
	case ok && !left && slices.ContainsFunc(keys, func(k key) bool { return k.column.Collated }):
		s.paged = keys // the pages behind this one may be asked for without summaries
		fallthrough
	case t.sortsCollated(s.bound.Order):
		refused = append(refused, "the order by a Collated column together with what is left to the runtime")
	}
	switch {
	case s.bound.Skip > s.bound.MaxSkipped:
		s.bound.Refused, s.paged, s.grouped = collection.ErrSkipped, nil, nil
	case refused != nil:
		s.bound.Refused = fmt.Errorf("sqlquery: the table %s cannot do: %s", t.from, strings.Join(refused, "; "))
	}
	return s
}

// group finds the statements that answer summaries. It returns false if what is left to the query needs rows.
func (s *Select[T]) group() bool {
	if s.bound.Filter == nil {
		s.grouped = s.table.groupings(s.bound.Wanted)
	}
	return s.grouped != nil
}

// takeOrder takes the order, and the page where that is possible.
func (s *Select[T]) takeOrder(keys []key) {
	s.keys, s.bound.Ordered, s.bound.Trusted = keys, true, true
	s.takePage()
}

// leavesCollated reports whether a condition on a Collated column is left to the query, which would compare bytes.
func (s *Select[T]) leavesCollated() bool {
	return s.bound.Filter != nil && slices.ContainsFunc(s.bound.Filter.All, func(c collection.Condition) bool {
		_, collated := can(s.table.columns, &c)
		return collated
	})
}

// sortsCollated reports whether an order that is left to the query is by a Collated column. The keys behind the first
// one identify elements and only break ties, for which the order of their bytes does.
func (t *Table[T]) sortsCollated(o collection.Order) bool {
	if len(o) == 0 {
		return false
	}
	column := t.columns.of(o[0].Field.Name)
	return column != nil && column.Collated
}

// unknown returns the first field of an order that is none of the table's; empty: all are, or are computed. One that is
// InMemory is among them.
func (t *Table[T]) unknown(o collection.Order) string {
	for i := range o {
		name := o[i].Field.Name
		if !o[i:i+1].Computes() && !slices.ContainsFunc(t.fields, func(f offered) bool { return f.isCalled(name) }) {
			return name
		}
	}
	return ""
}

// takePage takes the page, unless elements in front of it are needed: to pass over those that conditions leave which
// are left to the query, or whatever else the query knows of.
func (s *Select[T]) takePage() {
	left := s.bound.Filter
	if left != nil && s.bound.Skip > 0 {
		return
	}
	s.bound.Filter = nil // the statement can begin at a position all the same
	s.query.TakePage()
	s.bound.Filter = left
}

// boundOf returns what the request asks, which is all that a Query consists of.
func boundOf[T any](q *aql.Query[T]) *collection.Bound {
	return (*collection.Query[T])(unsafe.Pointer(q)).Bound
}

// apply says that elements come from here now.
func (s *Select[T]) apply() {
	if s.bound != nil && s.bound.Taker == any(s) {
		s.bound.Applied = true
	}
}

// Whole reports whether the statement finds no more than the page and one element behind it: nothing is left to the
// query.
func (s *Select[T]) Whole() bool {
	return s.bound != nil && s.keys != nil && s.bound.Placed && s.bound.Filter == nil
}

// SQL returns a statement that finds what the request asks for, and the values of its placeholders. columns is what
// stands behind SELECT. Rows come as Stream of the query wants them, from the position of the request on, and no more
// than it reads.
//
// An order by a field that may be missing is one statement here, with those rows last: at least behind the first page
// the database reads all rows that match. Query asks for rows with the field and for those without it in two.
func (s *Select[T]) SQL(columns string) (statement string, args []any) {
	s.apply()
	return s.wholeSQL(columns, nil)
}

// wholeSQL returns the one statement that finds what the request asks for.
func (s *Select[T]) wholeSQL(columns string, f filter) (statement string, args []any) {
	w := s.writer(nil)
	w.text.WriteString("SELECT " + columns + " FROM " + s.table.from)
	f.write(w)
	s.where(w)
	s.ordered(w)
	if s.Whole() {
		w.limit(s.bound.Size + 1)
		if s.bound.Skip > 0 {
			w.text.WriteString(" OFFSET " + strconv.Itoa(s.bound.Skip))
		}
	} else if s.bound != nil && s.bound.MaxScanned < math.MaxInt { // of one more row the query says that it is too many
		w.limit(s.bound.MaxScanned + 1)
	}
	return w.text.String(), w.args
}

// ordered writes the order that was taken.
func (s *Select[T]) ordered(w *writer) {
	if p, ok := s.place(); ok {
		w.text.WriteString(" ORDER BY ")
		w.ordered(p)
	}
}

// limit writes a bound on the number of rows. In MySQL it is a value: a statement without values gets numbers as texts,
// in which those of type FLOAT have six digits, and positions of such rows are wrong.
func (w *writer) limit(rows int) {
	limit := strconv.Itoa(rows)
	if w.dialect == MySQL {
		limit = w.value(int64(rows))
	}
	w.text.WriteString(" LIMIT " + limit)
}

// Condition returns what stands behind WHERE, for statements that are written by hand, with the values of its
// placeholders behind args: those in front of it in the statement, on which the numbers of PostgreSQL's depend. It is
// never empty.
func (s *Select[T]) Condition(args ...any) (condition string, all []any) {
	s.apply()
	w := s.writer(args)
	s.where(w)
	if w.clauses == 0 {
		return holding, w.args
	}
	return strings.TrimPrefix(w.text.String(), " WHERE "), w.args
}

// OrderBy returns the clauses ORDER BY, LIMIT and OFFSET, with a blank in front of them. It has neither of the last two
// if conditions are left to the query, and is empty if the order is. For an order by a field that may be missing the
// database reads all rows that match, as for the statement of SQL.
func (s *Select[T]) OrderBy() string {
	w := s.writer(nil)
	s.ordered(w)
	if s.Whole() {
		w.text.WriteString(" LIMIT " + strconv.Itoa(s.bound.Size+1))
		if s.bound.Skip > 0 {
			w.text.WriteString(" OFFSET " + strconv.Itoa(s.bound.Skip))
		}
	}
	return w.text.String()
}

// CountSQL returns a statement that counts what matches on all pages, and the values of its placeholders. If conditions
// are left to the query it counts too many.
func (s *Select[T]) CountSQL() (statement string, args []any) { return s.countSQL(nil) }

func (s *Select[T]) countSQL(f filter) (statement string, args []any) {
	w := s.writer(nil)
	w.text.WriteString("SELECT COUNT(*) FROM " + s.table.from)
	f.write(w)
	s.filtered(w)
	return w.text.String(), w.args
}

// partSQL returns the statement of a part that finds up to limit rows.
func (s *Select[T]) partSQL(columns string, f filter, p part, limit int) (statement string, args []any) {
	w := s.writer(nil)
	w.text.WriteString("SELECT " + columns + " FROM " + s.table.from)
	f.write(w)
	s.filtered(w)
	if p.presence != nil {
		w.clause()
		w.text.WriteString(p.presence.column.expr)
		w.text.WriteString(map[bool]string{true: " IS NULL", false: " IS NOT NULL"}[p.missing])
	}
	if p.at != nil {
		w.clause()
		w.beyond(p.place)
	}
	if len(p.keys) > 0 {
		w.text.WriteString(" ORDER BY ")
		w.ordered(p.place)
	}
	w.limit(limit)
	return w.text.String(), w.args
}

func (s *Select[T]) writer(args []any) *writer {
	return &writer{dialect: s.table.dialect, columns: s.table.columns, args: slices.Clone(args)}
}

// filtered writes the conditions that were taken.
func (s *Select[T]) filtered(w *writer) {
	if s.bound == nil {
		w.clause()
		w.text.WriteString(failing)
	}
	for i := range s.conditions.All {
		w.clause()
		w.condition(&s.conditions.All[i])
	}
}

// where writes the conditions that were taken, and the position of the request.
func (s *Select[T]) where(w *writer) {
	s.filtered(w)
	if p, ok := s.place(); ok && p.at != nil {
		w.clause()
		w.beyond(p)
	}
}

// place returns where the page is; false: the order is left to the query.
func (s *Select[T]) place() (p place, ok bool) {
	switch {
	case s.keys == nil:
		return p, false
	case !s.bound.Placed:
		return place{keys: s.keys}, true
	}
	p = place{keys: s.keys, backward: s.bound.Backward}
	if s.bound.At != nil {
		for i := range s.keys {
			p.at = append(p.at, s.bound.At[s.keys[i].of])
		}
	}
	return p, true
}
