package sqlquery

import (
	"fmt"
	"iter"
	"slices"
	"unsafe"
)

// inOrder yields elements, and fails at one that is in front of the one before it in the order that was taken. What
// scan has read is then not what the column holds, such as 0 for NULL, and a position in the order loses rows.
func (f *fetch[T, R]) inOrder(elements iter.Seq2[T, error]) iter.Seq2[T, error] {
	if f.keys == nil {
		return elements
	}
	return func(yield func(T, error) bool) {
		var pair [2]T // an element and the one in front of it
		i := 0
		for element, err := range elements {
			if pair[i%2] = element; err == nil && i > 0 {
				err = f.follows(&pair[(i+1)%2], &pair[i%2])
			}
			if !yield(element, err) || err != nil {
				return
			}
			i++
		}
	}
}

// follows says what is wrong where an element comes behind another one.
func (f *fetch[T, R]) follows(before, element *T) error {
	c, at := f.bound.Order.Decide(unsafe.Pointer(before), unsafe.Pointer(element))
	if f.bound.Placed && f.bound.Backward {
		c = -c
	}
	if c <= 0 || slices.ContainsFunc(f.keys, func(k key) bool { return k.of == at && k.column.Collated }) {
		return nil
	}
	name := f.bound.Order[at].Field.Name
	return fmt.Errorf("sqlquery: listing %s: rows in the order by %s are in another one by what was scanned, and pages "+
		"would lose some: scan what the column holds; where that may be NULL, make the field a pointer, or give its column "+
		"an Expr such as coalesce(%[2]s, 0)", f.table.from, name)
}
