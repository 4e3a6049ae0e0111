package collection

import (
	"cmp"
	"slices"
	"unsafe"
)

// Summaries are what a query wants to know, put together of what a database says of groups.
type Summaries struct{ all []summing }

// Summaries begins what a query wants to know.
func (b *Bound) Summaries() *Summaries { return &Summaries{b.summaries()} }

// Group returns the group of a value of the field by which the summary with index i groups, to which a part of it is
// added then; nil: there are too many. Values that have one name have one group.
func (s *Summaries) Group(i int, by *Value) *Group {
	one := &s.all[i]
	g := one.last
	switch {
	case one.By == nil:
	case by.Missing:
		g = one.withoutValue()
	case one.By.Kind == String || one.By.Kind == Text:
		g = one.ofText(by.Text)
	default:
		g = one.ofNumber(by.Int)
	}
	if g == nil {
		return nil
	}
	return &g.Group
}

// Keep makes the element at p count for the least value, or the greatest one, of the group in which it is. An element
// in a group that has none yet counts for nothing.
func (s *Summaries) Keep(i int, greatest bool, p unsafe.Pointer) {
	one := &s.all[i]
	g := one.last
	if one.By != nil {
		if at, present := one.By.at(p); present {
			g = one.of(at)
		} else {
			g = one.withoutValue()
		}
	}
	switch {
	case g == nil:
	case greatest:
		one.Max.keep(&g.Max, p, 1)
	default:
		one.Min.keep(&g.Min, p, -1)
	}
}

// Lacks reports whether a group of the summary with index i has elements, but no least value, or no greatest one, of a
// field that each element has.
func (s *Summaries) Lacks(i int, greatest bool) bool {
	one := &s.all[i]
	return slices.ContainsFunc(one.all, func(g *group) bool {
		f, kept := one.Min, &g.Min
		if greatest {
			f, kept = one.Max, &g.Max
		}
		return g.Count > 0 && kept.Missing && !f.Missable()
	})
}

// Summed returns the answers, without groups that have no elements.
func (s *Summaries) Summed() []Summed {
	all := make([]Summed, len(s.all))
	for i := range s.all {
		all[i] = s.all[i].summed()
		if s.all[i].By == nil {
			continue
		}
		counted := all[i].Groups[:0]
		for _, g := range all[i].Groups {
			if g.Count > 0 {
				counted = append(counted, g)
			}
		}
		all[i].Groups = counted
	}
	return all
}

// KeepValue replaces kept by v if v is less, or greater. The field is no enum.
func (f *Field) KeepValue(kept *Value, v Value, greatest bool) {
	if v.Missing {
		return
	}
	if !kept.Missing {
		if c := f.compareValues(&v, kept); c == 0 || c > 0 != greatest {
			return
		}
	}
	*kept = v
}

// compareValues compares values.
func (f *Field) compareValues(a, b *Value) int {
	switch f.Kind {
	case Bool, Int:
		return cmp.Compare(a.Int, b.Int)
	case Uint:
		return cmp.Compare(uint64(a.Int), uint64(b.Int))
	case Float:
		return compareFloats(a.Float, b.Float)
	case Time:
		return compareTimes(&a.Time, &b.Time)
	default:
		return cmp.Compare(a.Text, b.Text)
	}
}
