package collection

import (
	"slices"
	"strings"
	"unsafe"
)

// Restore makes the query what it was before anybody took of it or answered with it: a handler may run again.
func (b *Bound) Restore() {
	b.Filter, b.Taker, b.Taken, b.Applied, b.Refused = b.Asked, nil, nil, false, nil
	b.Ordered, b.Trusted, b.Placed = false, false, false
	if b.computing != nil {
		clear(b.computing.kept)
	}
}

// Take removes the conditions on a field from the filter and returns them. ok is false, and nothing is removed, if
// there are none, if one of them has an operator that is not among ops, if the field stands inside Or or Not, or if it
// is computed. No ops: any.
func (b *Bound) Take(field string, ops []Op) (taken []Condition, ok bool) {
	if b.Filter == nil {
		return nil, false
	}
	var left []Condition
	for i := range b.Filter.All {
		c := &b.Filter.All[i]
		switch {
		case c.Field == nil && c.about(field):
			return nil, false
		case c.Field == nil || c.Field.Name != field || c.Field.isComputed():
			left = append(left, *c)
		case len(ops) > 0 && !slices.Contains(ops, c.Op):
			return nil, false
		default:
			taken = append(taken, *c)
		}
	}
	if len(taken) == 0 {
		return nil, false
	}
	b.leave(left)
	return taken, true
}

// TakeWhere removes the conditions from the filter for which take returns true. Those on computed fields are not asked
// for: only the query can apply them.
func (b *Bound) TakeWhere(take func(c *Condition) bool) {
	if b.Filter == nil {
		return
	}
	var left []Condition
	for i := range b.Filter.All {
		if c := &b.Filter.All[i]; c.computes() || !take(c) {
			left = append(left, *c)
		}
	}
	b.leave(left)
}

// TakeSearch removes the search for Words from the filter; false: the query has none, or the caller may not know what
// all of the fields contain that are looked into.
func (b *Bound) TakeSearch() bool {
	if len(b.Words) == 0 || b.Filter == nil {
		return false
	}
	found := false
	b.TakeWhere(func(c *Condition) bool {
		is := c.searches()
		found = found || is
		return is
	})
	return found
}

// leave makes conditions the filter.
func (b *Bound) leave(conditions []Condition) {
	b.Filter = nil
	if len(conditions) > 0 {
		b.Filter = &Node{All: conditions}
	}
}

// about reports whether a condition that combines others has one on a field of this name. A search is none: agents do
// not name its fields.
func (c *Condition) about(field string) (found bool) {
	if c.searches() {
		return false
	}
	(&Node{All: []Condition{*c}}).Each(func(f *Field) { found = found || f.Name == field })
	return found
}

// searches reports whether a condition is what Searching adds.
func (c *Condition) searches() bool { return c.Field == nil && c.Op == Search }

// Left says what nobody has applied, for the author's log; empty: everything was taken.
func (b *Bound) Left() string {
	b = b.unapplied()
	var left, fields []string
	if b.Filter != nil {
		for i := range b.Filter.All {
			c := &b.Filter.All[i]
			if c.searches() {
				left = append(left, "the search")
				continue
			}
			(&Node{All: []Condition{*c}}).Each(func(f *Field) {
				if !slices.Contains(fields, f.Name) {
					fields = append(fields, f.Name)
				}
			})
		}
	}
	if len(fields) > 0 {
		left = append([]string{"conditions on " + strings.Join(fields, ", ")}, left...)
	}
	if !b.Ordered {
		left = append(left, "the order")
	}
	if !b.Placed {
		left = append(left, "the page")
	}
	return strings.Join(left, "; ")
}

// Matches reports whether the element at p matches what is left of the filter.
func (b *Bound) Matches(p unsafe.Pointer) bool { return b.Filter == nil || b.Filter.match(p) }

// Page makes a page of the n elements of a size that begin at base. They are what Placed says; total is the number of
// elements on all pages, or negative.
func (b *Bound) Page(base unsafe.Pointer, size uintptr, n, total int) Found {
	s := b.search(0)
	for i := range min(n, s.most) {
		s.add(unsafe.Add(base, uintptr(i)*size))
	}
	f := s.found()
	f.Total = max(total, Unknown)
	return f
}

// Go returns v, of this field, as a string, bool, float64, time.Time or int64, or as a uint64 where an int64 has no
// room; nil: it is missing.
func (f *Field) Go(v *Value) any {
	switch {
	case v.Missing:
		return nil
	case f.Kind == Bool:
		return v.Int != 0
	case f.Kind == Uint && v.Int < 0 && !v.Negative:
		return uint64(v.Int)
	case f.Kind == Int, f.Kind == Uint:
		return v.Int
	case f.Kind == Float:
		return v.Float
	case f.Kind == Time:
		return v.Time
	default:
		return v.Text
	}
}
