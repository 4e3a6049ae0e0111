package sqlquery

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unsafe"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/internal/collection"
)

// errUnclear is why groups that a database returns do not answer a summary: a value is none that the field can have, or
// not all groups were read. Rows tell.
var errUnclear = errors.New("the groups do not answer the summary")

// summaries answers with summaries and nothing else: from groups, or else from rows.
func (f *fetch[T, R]) summaries(ctx context.Context) (*aql.Page[T], error) {
	if f.grouped == nil {
		return f.query.Stream(ctx, f.whole(ctx))
	}
	sums := f.bound.Summaries()
	err := f.sum(ctx, sums)
	switch {
	case errors.Is(err, errUnclear):
		f.matches = collection.Unknown
		return f.query.Stream(ctx, f.whole(ctx))
	case errors.Is(err, collection.ErrGroups), errors.Is(err, collection.ErrScanned):
		f.bound.Refused = err
		return f.refused(ctx)
	case err != nil:
		return nil, fmt.Errorf("sqlquery: summing up %s: %w", f.table.from, err)
	}
	f.bound.Summed = sums.Summed()
	return f.query.Stream(ctx, func(func(T, error) bool) {})
}

// sum runs the statements of all groupings.
func (f *fetch[T, R]) sum(ctx context.Context, sums *collection.Summaries) error {
	for i := range f.grouped {
		g := &f.grouped[i]
		elements, err := f.sumGroups(ctx, sums, g)
		if err != nil {
			return err
		}
		if i > 0 && elements != f.matches {
			return errUnclear // elements have come or gone in between
		}
		f.matches = elements
		for k := range g.extremes {
			if err := f.sumExtreme(ctx, sums, g, &g.extremes[k]); err != nil {
				return err
			}
		}
	}
	return nil
}

// mostGroups is how many rows the statements of a grouping find at most: of one more, its summaries are refused.
func (f *fetch[T, R]) mostGroups(g *grouping) int {
	most := f.bound.MaxGroups
	if g.by == nil {
		most = 1
	} else if g.by.Missable() && isTextual(g.by) {
		most++ // what is missing is in the group of a text, which may have a row of its own
	}
	return min(most, f.bound.MaxScanned)
}

// sumGroups adds what the statement of a grouping finds, and returns how many elements that is.
func (f *fetch[T, R]) sumGroups(
	ctx context.Context, sums *collection.Summaries, g *grouping,
) (elements int, err error) {
	most := f.mostGroups(g)
	statement, args := f.groupSQL(f.filter, g, most+1)
	groups, texts := 0, len(f.table.texts(g))
	for row, err := range f.run(ctx, statement, args) {
		if err != nil {
			return 0, err
		}
		if groups == 0 && makesTimes(row, texts) {
			return 0, errUnclear
		}
		r := f.table.groupRow(g)
		if row.Scan(r.places...) != nil {
			return 0, errUnclear
		}
		if err := r.addTo(sums); err != nil {
			return 0, err
		}
		elements += r.count
		groups++
	}
	switch {
	case groups > f.bound.MaxScanned:
		return 0, collection.ErrScanned
	case groups > most:
		return 0, errUnclear // several rows were of one group
	}
	return elements, nil
}

// makesTimes reports whether the driver may make times of the values of so many columns at the end of a row, by their
// types.
func makesTimes(row Row, columns int) bool {
	typed, ok := row.(interface {
		ColumnTypes() ([]*sql.ColumnType, error)
	})
	if !ok || columns == 0 {
		return false
	}
	types, err := typed.ColumnTypes()
	return err != nil || slices.ContainsFunc(types[len(types)-columns:], func(c *sql.ColumnType) bool {
		name := strings.ToUpper(c.DatabaseTypeName())
		return strings.Contains(name, "DATE") || strings.Contains(name, "TIME")
	})
}

// sumExtreme reads the elements that have the extreme values of groups.
func (f *fetch[T, R]) sumExtreme(ctx context.Context, sums *collection.Summaries, g *grouping, e *extreme) error {
	most := f.mostGroups(g)
	statement, args := f.extremeSQL(f.columns, f.filter, g, e, most+1)
	read := 0
	for element, err := range f.elements(ctx, statement, args) {
		if err != nil {
			return err
		}
		sums.Keep(e.index, e.greatest, unsafe.Pointer(&element))
		read++
	}
	if read > most || sums.Lacks(e.index, e.greatest) {
		return errUnclear // elements are not identified, or have changed since the groups were counted
	}
	return nil
}
