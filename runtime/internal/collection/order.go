package collection

import (
	"cmp"
	"slices"
	"time"
	"unsafe"
)

// Key is a field by which elements are ordered.
type Key struct {
	Field      *Field
	Descending bool
}

// Order is the keys by which elements are ordered, the first one first. Missing values are behind all others in both
// directions.
type Order []Key

// compare compares the elements at a and b.
func (o Order) compare(a, b unsafe.Pointer) int {
	for i := range o {
		k := &o[i]
		pa, hasA := k.Field.at(a)
		pb, hasB := k.Field.at(b)
		if !hasA || !hasB {
			if hasA == hasB {
				continue
			}
			return cmp.Compare(missingLast(hasA), missingLast(hasB))
		}
		if c := k.Field.comparePlaces(pa, pb); c != 0 {
			return k.directed(c)
		}
	}
	return 0
}

// Decide compares the elements at a and b, and returns the index of the key that decides.
func (o Order) Decide(a, b unsafe.Pointer) (c, key int) {
	for i := range o {
		if c := o[i:i+1].compare(a, b); c != 0 {
			return c, i
		}
	}
	return 0, len(o)
}

// compareTo compares the element at p with a position.
func (o Order) compareTo(p unsafe.Pointer, position []Value) int {
	for i := range o {
		k, v := &o[i], &position[i]
		at, has := k.Field.at(p)
		if !has || v.Missing {
			if has != v.Missing {
				continue
			}
			return cmp.Compare(missingLast(has), missingLast(!v.Missing))
		}
		if c := k.Field.compare(at, v); c != 0 {
			return k.directed(c)
		}
	}
	return 0
}

func missingLast(present bool) int {
	if present {
		return 0
	}
	return 1
}

func (k *Key) directed(c int) int {
	if k.Descending {
		return -c
	}
	return c
}

// comparePlaces compares the values at a and b.
func (f *Field) comparePlaces(a, b unsafe.Pointer) int {
	switch {
	case f.Kind == String && f.Ranks == nil:
		return cmp.Compare(*(*string)(a), *(*string)(b))
	case f.Kind == Time:
		return compareTimes((*time.Time)(a), (*time.Time)(b))
	case f.Kind == Int:
		return cmp.Compare(loadInt(a, f.Bits), loadInt(b, f.Bits))
	}
	v := f.Load(b)
	return f.compare(a, &v)
}

// first holds the first elements in an order, or the last ones: a heap whose root is the one that leaves it next.
type first struct {
	order Order
	last  bool
	most  int
	heap  []unsafe.Pointer
	*computing
}

// before reports whether the element at a leaves the heap later than that at b.
func (h *first) before(a, b unsafe.Pointer) bool {
	c := h.order.compare(a, b)
	if h.last {
		return c > 0
	}
	return c < 0
}

// wants reports whether the element at p belongs to the first ones so far.
func (h *first) wants(p unsafe.Pointer) bool {
	return len(h.heap) < h.most || h.most > 0 && h.before(p, h.heap[0])
}

// add adds the element at p, which h wants.
func (h *first) add(p unsafe.Pointer) {
	if len(h.heap) == h.most {
		h.forget(h.heap[0])
		h.heap[0] = p
		h.sink(0)
		return
	}
	h.heap = append(h.heap, p)
	if len(h.heap) == h.most {
		for i := h.most/2 - 1; i >= 0; i-- {
			h.sink(i)
		}
	}
}

// sink moves the element with index i down to where none below it leaves the heap earlier.
func (h *first) sink(i int) {
	for {
		next := 2*i + 1
		if next >= len(h.heap) {
			return
		}
		if other := next + 1; other < len(h.heap) && h.before(h.heap[next], h.heap[other]) {
			next = other
		}
		if !h.before(h.heap[i], h.heap[next]) {
			return
		}
		h.heap[i], h.heap[next] = h.heap[next], h.heap[i]
		i = next
	}
}

// sorted returns the elements in their order.
func (h *first) sorted() []unsafe.Pointer {
	slices.SortFunc(h.heap, h.order.compare)
	return h.heap
}
