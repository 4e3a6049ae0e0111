package sqlquery

import (
	"math/big"

	"github.com/aqltag/aqltag/runtime/internal/collection"
)

// groupRow is a row of the statement of a grouping: a group, or a part of one.
type groupRow struct {
	places  []any // where its columns are read
	by      cell
	whole   *bool // whether the database has looked at the whole value; nil: it does
	count   int
	amounts []*amounts
}

// amounts are what a row says of one summary.
type amounts struct {
	sum
	total, mean     total
	least, greatest cell
	counts          [2]*int // of elements with the field of the least value and the greatest; nil: no column has that
}

// groupRow makes a row to read; see Select.groupSQL.
func (t *Table[T]) groupRow(g *grouping) *groupRow {
	r := new(groupRow)
	if g.by != nil {
		r.by.field = g.by
		r.places = append(r.places, r.by.place())
		w := writer{dialect: t.dialect, columns: t.columns}
		for range w.groupKeys(g.by)[1:] {
			r.places = append(r.places, new(*string))
		}
		if w.shortens(g.by) {
			r.places = append(r.places, &r.whole)
		}
	}
	r.places = append(r.places, &r.count)
	for _, of := range g.of {
		a := &amounts{sum: of, least: cell{field: of.Min}, greatest: cell{field: of.Max}}
		r.amounts = append(r.amounts, a)
		if of.Sum != nil {
			r.places = append(r.places, a.total.places(t.dialect)...)
		}
		if of.Avg != nil {
			r.places = append(r.places, a.mean.places(t.dialect)...)
		}
		for i, c := range []*cell{&a.least, &a.greatest} {
			if c.field != nil && t.columns.of(c.field.Name).returned(c.field, t.dialect) {
				a.counts[i] = new(int)
				r.places = append(r.places, a.counts[i], c.place())
			}
		}
	}
	for range t.texts(g) {
		r.places = append(r.places, new(any))
	}
	return r
}

// addTo adds what was read.
func (r *groupRow) addTo(sums *collection.Summaries) error {
	var by collection.Value
	if r.by.field != nil {
		var ok bool
		if by, ok = r.by.value(); !ok || by.Missing && !r.by.field.Missable() || r.whole != nil && !*r.whole {
			return errUnclear
		}
	}
	for _, a := range r.amounts {
		g := sums.Group(a.index, &by)
		if g == nil {
			return collection.ErrGroups
		}
		if !a.addTo(g, r.count) {
			return errUnclear
		}
	}
	return nil
}

// addTo adds what was read of so many elements to a group; false: values are none that the fields have.
func (a *amounts) addTo(g *collection.Group, elements int) bool {
	g.Count += elements
	if a.Sum != nil && !a.total.addTo(&g.Sum, a.Sum, elements) || a.Avg != nil && !a.mean.addTo(&g.Avg, a.Avg, elements) {
		return false
	}
	for i, kept := range []*collection.Value{&g.Min, &g.Max} {
		c := []*cell{&a.least, &a.greatest}[i]
		if a.counts[i] == nil {
			continue
		}
		v, ok := c.value()
		if !ok || *a.counts[i] != elements && !c.field.Missable() {
			return false
		}
		c.field.KeepValue(kept, v, i == 1)
	}
	return true
}

// total is a sum of integers with the number of them.
type total struct {
	count        int
	text         *string
	upper, lower *int64 // 32 bits each, of SQLite; see Dialect.sums
}

func (t *total) places(d Dialect) []any {
	if d == SQLite {
		return []any{&t.count, &t.upper, &t.lower}
	}
	return []any{&t.count, &t.text}
}

// addTo adds the sum of a field of so many elements.
func (t *total) addTo(all *collection.Total, f *collection.Field, elements int) bool {
	sum := new(big.Int)
	switch {
	case t.count != elements && !f.Missable():
		return false
	case t.text != nil:
		if _, ok := sum.SetString(*t.text, 10); !ok {
			return false
		}
	case t.upper != nil && t.lower != nil:
		sum.Add(sum.Lsh(big.NewInt(*t.upper), 32), big.NewInt(*t.lower))
	case t.count > 0:
		return false
	}
	return all.AddIntegers(sum, t.count)
}

// cell is a column with a value of a field, or NULL.
type cell struct {
	field    *collection.Field
	truth    *bool
	integer  *int64
	natural  *uint64
	fraction *float64
	short    *float32
	text     *string
}

// place is where the column is read, as into a field of the type.
func (c *cell) place() any {
	switch c.field.Kind {
	case collection.Bool:
		return &c.truth
	case collection.Int:
		return &c.integer
	case collection.Uint:
		return &c.natural
	case collection.Float:
		if c.field.Bits == 32 {
			return &c.short
		}
		return &c.fraction
	default:
		return &c.text
	}
}

// value returns what was read; false: the type of the field has no such value.
func (c *cell) value() (v collection.Value, ok bool) {
	ok = true
	switch {
	case c.truth != nil:
		if *c.truth {
			v.Int = 1
		}
	case c.integer != nil:
		unused := 64 - c.field.Bits
		v.Int = *c.integer
		ok = v.Int<<unused>>unused == v.Int
	case c.natural != nil:
		v.Int = int64(*c.natural)
		ok = *c.natural>>(c.field.Bits-1)>>1 == 0
	case c.fraction != nil:
		v.Float = *c.fraction
	case c.short != nil:
		v.Float = float64(*c.short)
	case c.text != nil:
		v.Text = *c.text
	default:
		v.Missing = true
	}
	return v, ok
}
