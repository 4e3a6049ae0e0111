package sqlquery

import (
	"context"
	"database/sql"
	"fmt"
	"iter"
	"unsafe"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/internal/collection"
)

// Querier is what runs statements: a *sql.DB, a *sql.Tx or a *sql.Conn.
type Querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Query answers with the elements that the database finds. scan makes an element of the columns of a row, which are all
// of the table unless Reading says others.
//
// If conditions are left to the runtime, it reads on, at most Options.Collections.MaxScanned rows, until the page is
// full. Summaries are statements of their own, one for each field by which they group, if nothing of the query is left
// to the runtime and the database can answer all of them exactly. The database looks at all rows that match then, and
// nothing but the operation's timeout bounds that. Else Query reads all rows that match, up to the same bound.
//
// Several statements are one snapshot only in a transaction of REPEATABLE READ, or in any transaction of SQLite: db is
// that *sql.Tx then. Without one, summaries read rows if their statements show that elements have changed in between.
// Else an answer may be of several moments: its summaries, the page beside them and its total.
//
// If Query fails, what the table took is for the query to apply again: its Stream, as well as Slice and Pointers,
// answers from other elements, with all that the request asks but the conditions that the handler has taken itself.
//
// It fails where elements are not in the order that the database was asked for, by what scan has read of them: cursors
// name those values, and pages would lose rows. Columns that are Collated have an order of their own.
//
// A computed field may ask the database too, even on the only connection of db, unless more than 4096 rows are read in
// the order of a column that is InMemory, or for summaries.
func Query[T any](
	ctx context.Context, db Querier, s *Select[T], scan func(*sql.Rows) (T, error), options ...Option,
) (*aql.Page[T], error) {
	return Fetch(ctx, runnerOf(db), s, scan, options...)
}

// Row is a row that a statement has found, such as a *sql.Rows.
type Row interface {
	// Scan reads the values of the columns. A pointer to a pointer reads NULL as nil.
	Scan(into ...any) error
}

// Runner runs a statement and yields its rows, each of which is read before the next one. It ends with an error, if
// there is one, and closes what it has opened.
type Runner[R Row] func(ctx context.Context, statement string, args []any) iter.Seq2[R, error]

// Fetch is Query for databases that are not reached by database/sql. Package pgxquery does so for pgx.
func Fetch[T any, R Row](
	ctx context.Context, run Runner[R], s *Select[T], scan func(R) (T, error), options ...Option,
) (page *aql.Page[T], err error) {
	f := fetch[T, R]{Select: s, run: run, scan: scan, columns: "*", matches: collection.Unknown}
	for _, option := range options {
		option(&f.settings)
	}
	if f.read != "" {
		f.columns = f.read
	}
	if s.bound == nil {
		return s.query.Page(nil, -1) // which fails
	}
	s.apply()
	defer func() {
		if page == nil { // what the query answers with next comes from elsewhere
			s.bound.Applied = false
		}
	}()
	switch {
	case f.err(s.table.dialect) != nil:
		return nil, f.err(s.table.dialect)
	case s.paged != nil, s.grouped != nil:
		return f.beside(ctx)
	case s.bound.Refused != nil:
		return f.refused(ctx)
	}
	return f.answer(ctx)
}

// fetch fetches the elements of a page.
type fetch[T any, R Row] struct {
	*Select[T]
	settings
	run     Runner[R]
	scan    func(R) (T, error)
	columns string
	matches int // on all pages, where summaries have told
}

// runnerOf runs statements by database/sql.
func runnerOf(db Querier) Runner[*sql.Rows] {
	return func(ctx context.Context, statement string, args []any) iter.Seq2[*sql.Rows, error] {
		return func(yield func(*sql.Rows, error) bool) {
			rows, err := db.QueryContext(ctx, statement, args...)
			if err != nil {
				yield(nil, err)
				return
			}
			defer rows.Close() // what it would say, Err has said
			for rows.Next() {
				if !yield(rows, nil) {
					return
				}
			}
			if err := rows.Err(); err != nil {
				yield(nil, err)
			}
		}
	}
}

// refused fails as the query says.
func (f *fetch[T, R]) refused(ctx context.Context) (*aql.Page[T], error) {
	return f.query.Slice(ctx, nil)
}

// answer answers with what was taken and what the query does of the rest.
func (f *fetch[T, R]) answer(ctx context.Context) (*aql.Page[T], error) {
	switch {
	case f.Whole():
		return f.page(ctx)
	case f.keys == nil, !f.bound.Placed:
		return f.query.Stream(ctx, f.whole(ctx))
	}
	return f.query.Stream(ctx, f.ordered(ctx))
}

// beside answers with summaries, and with a page beside them if the request wants one, each from statements of their
// own.
func (f *fetch[T, R]) beside(ctx context.Context) (*aql.Page[T], error) {
	b, bound, paged := f.bound, *f.bound, f.paged
	defer func() { *b, f.keys = bound, nil }()
	b.Refused, b.Itemless = nil, true
	summed, err := f.summaries(ctx)
	if err != nil || bound.Itemless {
		return summed, err
	}
	b.Itemless, b.Wanted, b.Summed = false, nil, nil
	f.takeOrder(paged)
	page, err := f.answer(ctx)
	if err != nil {
		return nil, err
	}
	page.Aggregations = summed.Aggregations
	return page, nil
}

// page answers with what the statements find, to which nothing is to be done.
func (f *fetch[T, R]) page(ctx context.Context) (*aql.Page[T], error) {
	fetched := make([]T, 0, f.bound.Size+1)
	elements := f.ordered(ctx)
	if f.bound.Skip > 0 {
		elements = f.whole(ctx)
	}
	for element, err := range elements {
		if err != nil {
			return nil, err
		}
		if fetched = append(fetched, element); len(fetched) > f.bound.Size {
			break
		}
	}
	total := collection.Unknown
	if f.counted || f.matches != collection.Unknown {
		total = len(fetched)
		if f.bound.At != nil || f.bound.Skip > 0 || total > f.bound.Size {
			var err error
			if total, err = f.count(ctx); err != nil {
				return nil, err
			}
		}
	}
	return f.query.Page(fetched, total)
}

// count counts what matches on all pages.
func (f *fetch[T, R]) count(ctx context.Context) (total int, err error) {
	if f.matches != collection.Unknown {
		return f.matches, nil
	}
	statement, args := f.countSQL(f.filter)
	for row, err := range f.run(ctx, statement, args) {
		if err == nil {
			err = row.Scan(&total)
		}
		if err != nil {
			return 0, fmt.Errorf("sqlquery: counting %s: %w", f.table.from, err)
		}
	}
	return total, nil
}

// whole yields what one statement finds.
func (f *fetch[T, R]) whole(ctx context.Context) iter.Seq2[T, error] {
	statement, args := f.wholeSQL(f.columns, f.filter)
	return f.inOrder(f.elements(ctx, statement, args))
}

// mostRead is how many rows a statement reads where conditions are left to the runtime.
const mostRead = 4096

// ordered yields the elements for which the conditions hold that were taken, from the position on. A statement reads as
// many rows as the page needs, and the next one more, from where it ended.
func (f *fetch[T, R]) ordered(ctx context.Context) iter.Seq2[T, error] {
	return f.inOrder(func(yield func(T, error) bool) {
		whole, _ := f.place()
		limit, still := f.bound.Size+1, f.bound.Size+1
		for _, p := range whole.parts() {
			for {
				if f.Whole() {
					limit = still
				}
				statement, args := f.partSQL(f.columns, f.filter, p, limit)
				read := 0
				var last T
				for element, err := range f.elements(ctx, statement, args) {
					if !yield(element, err) || err != nil {
						return
					}
					last = element
					read++
				}
				still -= read
				if f.Whole() && still <= 0 {
					return
				}
				if read < limit || len(p.keys) == 0 {
					break
				}
				p.at = positionOf(p.keys, &last)
				limit = min(4*limit, mostRead)
			}
		}
	})
}

// positionOf returns the position of an element.
func positionOf[T any](keys []key, element *T) []collection.Value {
	at := make([]collection.Value, len(keys))
	for i := range keys {
		at[i] = keys[i].Field.Of(unsafe.Pointer(element))
	}
	return at
}

// elements yields what a statement finds. Rows are closed before, since whoever gets the elements may need the
// connection; only those of a statement with more than mostRead rows are open while the first of them are yielded.
func (f *fetch[T, R]) elements(ctx context.Context, statement string, args []any) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		read := make([]T, 0, f.bound.Size+1)
		var failed error
		give := func() bool {
			for _, element := range read {
				if !yield(element, nil) {
					return false
				}
			}
			clear(read)
			read = read[:0]
			return true
		}
		for row, err := range f.run(ctx, statement, args) {
			var element T
			if err == nil {
				element, err = f.scan(row)
			}
			if err != nil {
				failed = fmt.Errorf("sqlquery: listing %s: %w", f.table.from, err)
				break
			}
			if len(read) >= max(mostRead, f.bound.Size+1) && !give() {
				return
			}
			read = append(read, element)
		}
		if give() && failed != nil {
			var none T
			yield(none, failed)
		}
	}
}
