package collection

import (
	"context"
	"math"
	"slices"
	"unsafe"
)

// Bound is a query with all that its evaluation needs. It is used by one goroutine.
type Bound struct {
	Filter   *Node // nil: all elements
	Order    Order
	Size     int  // of a page
	Backward bool // the page ends at At, and does not begin there
	At       []Value
	Skip     int // how many elements are in front of the page, in a style without cursors
	Number   int // of the page, in the style that has them; 0: it is another one
	// Asked is the filter as it was before anybody took of it.
	Asked *Node
	// Words are those of the search in Filter; nil: there is none, or it must not be taken from Filter.
	Words []string
	// Taker is what has taken parts of the query, where it takes them only once, and Taken the conditions that it took.
	Taker any
	Taken []Condition
	// Applied says that elements come from Taker, which has applied to them what it took.
	Applied bool
	// Refused is why the query cannot be answered with what was taken and what is left.
	Refused error
	// Ordered says that elements come in Order.
	Ordered bool
	// Trusted says that Order cannot tell whether elements come in it: the database compares texts in another way.
	Trusted bool
	// Placed says that elements come from At on, nearest first: those of a backward page in the opposite order. In a
	// style without cursors, they come from the first one of the page on.
	Placed bool
	// Seal returns the cursor of a position; nil: the style has no cursors.
	Seal func(position []byte) string
	// MaxScanned bounds how many elements are read of an iterator.
	MaxScanned int
	// MaxSkipped bounds how many elements of an iterator are kept that are in front of the page.
	MaxSkipped int
	// Wanted are the summaries of all elements that match. MaxGroups bounds the groups of each.
	Wanted    []Wanted
	MaxGroups int
	// Summed are the answers to summaries where a database has given them; nil: elements are summed.
	Summed []Summed
	// Itemless says that there is no page, but only summaries.
	Itemless bool
	// computing evaluates computed fields; nil: nothing is computed.
	computing *computing
}

// Found is a page of elements, or what they amount to.
type Found struct {
	Items          []unsafe.Pointer
	Next, Previous bool // there are others behind it, and in front of it
	Total          int  // how many elements there are on all pages, or Unknown
	Summed         []Summed
}

// Unknown is the total of elements that nobody has counted.
const Unknown = -1

// search is a page that is being searched for.
type search struct {
	*Bound
	first
	skip    int // how many of the first ones are in front of the page
	total   int
	summing []summing
	// inOrder says that elements come in an order that is not compared.
	inOrder bool
}

// search begins to search for a page. Where elements come from the first one of the page on, none is in front of it.
func (b *Bound) search(skip int) search {
	if b.Placed {
		skip = 0
	}
	most := b.Size + 1 + min(skip, math.MaxInt-b.Size-1)
	return search{
		Bound: b, first: first{order: b.Order, last: b.Backward, most: most, computing: b.computing}, skip: skip,
		summing: b.summaries(),
	}
}

// consider holds an element that the filter left against the position, and reports whether it may be on the page.
func (s *search) consider(p unsafe.Pointer) bool {
	s.total++
	if s.Placed || s.inOrder {
		return len(s.heap) < s.most
	}
	return s.within(p) && s.wants(p)
}

// within reports whether the element at p is on the side of the position where the page is.
func (s *search) within(p unsafe.Pointer) bool {
	if s.At == nil {
		return true
	}
	c := s.Order.compareTo(p, s.At)
	return c != 0 && c < 0 == s.Backward
}

// add adds the element at p, which may be on the page.
func (s *search) add(p unsafe.Pointer) {
	if s.Placed || s.inOrder {
		s.heap = append(s.heap, p)
		return
	}
	s.first.add(p)
}

// unapplied returns the query of elements that come from elsewhere than Taker: nobody has applied to them what it took.
func (b *Bound) unapplied() *Bound {
	if b.Taker == nil || b.Applied {
		return b
	}
	all := *b
	all.Filter, all.Ordered, all.Placed, all.Trusted = b.untaken(), false, false, false
	return &all
}

// untaken returns the filter with what Taker took of it, in front of computed fields, which are tried last. Conditions
// that a handler took itself are not in it: it applies them to whatever elements it has.
func (b *Bound) untaken() *Node {
	if len(b.Taken) == 0 {
		return b.Filter
	}
	all := slices.Clone(b.Taken)
	if b.Filter != nil {
		all = append(all, b.Filter.All...)
	}
	return &Node{All: all}
}

// InOrder reports whether the elements of an iterator come in Order.
func (b *Bound) InOrder() bool { return b.unapplied().Ordered }

// ofAll returns the query of elements that are all at hand: it finds the page itself, and applies what Taker took.
func (b *Bound) ofAll() *Bound {
	if !b.Placed && b.Taker == nil {
		return b
	}
	all := *b
	if all.Placed = false; b.Taker != nil {
		all.Filter = b.untaken()
	}
	return &all
}

// Slice finds a page of the n elements of a size that begin at base.
func (b *Bound) Slice(ctx context.Context, base unsafe.Pointer, size uintptr, n int) (Found, error) {
	b = b.ofAll()
	b.begin(ctx)
	s, part := b.search(b.Skip), block{}
	for i := 0; i < n; i += BlockSize {
		if err := ctx.Err(); err != nil {
			return Found{}, err
		}
		part.fill(unsafe.Add(base, uintptr(i)*size), size, min(BlockSize, n-i))
		if b.Filter != nil {
			part.narrow(b.Filter)
		}
		if !s.sum(&part) {
			return Found{}, ErrGroups
		}
		if b.Itemless {
			continue
		}
		for _, at := range part.left() {
			if p := unsafe.Add(part.base, at); s.consider(p) {
				s.add(p)
			} else {
				s.forget(p)
			}
		}
	}
	return s.found(), b.interrupted(ctx)
}

// Pointers finds a page of elements that are not in one place.
func (b *Bound) Pointers(ctx context.Context, all []unsafe.Pointer) (Found, error) {
	b = b.ofAll()
	b.begin(ctx)
	s := b.search(b.Skip)
	for i, p := range all {
		if err := pause(ctx, i); err != nil {
			return Found{}, err
		}
		if p == nil || b.Filter != nil && !b.Filter.match(p) {
			continue
		}
		if !s.sumOne(p) {
			return Found{}, ErrGroups
		}
		if !b.Itemless && s.consider(p) {
			s.add(p)
		} else {
			s.forget(p)
		}
	}
	return s.found(), b.interrupted(ctx)
}

// pauses is how many elements are read between two looks at the context.
const pauses = BlockSize

// pause looks at the context now and then.
func pause(ctx context.Context, i int) error {
	if i%pauses == 0 {
		return ctx.Err()
	}
	return nil
}

// found returns the page.
func (s *search) found() Found {
	if s.Itemless {
		return Found{Summed: s.summed()}
	}
	items, total := s.heap, Unknown
	switch {
	case !s.Placed && s.inOrder:
		total = s.total
	case !s.Placed:
		items, total = s.sorted(), s.total
		items = items[min(s.skip, len(items)):]
	case s.Backward:
		slices.Reverse(items)
	}
	more := len(items) > s.Size
	f := Found{Items: items, Next: more, Previous: s.At != nil || s.Skip > 0, Total: total, Summed: s.summed()}
	switch {
	case s.Backward:
		f.Next, f.Previous = s.At != nil, more
		f.Items = items[max(0, len(items)-s.Size):]
	case more:
		f.Items = items[:s.Size]
	}
	return f
}

// Cursor returns the cursor of the element at p.
func (b *Bound) Cursor(p unsafe.Pointer) string { return b.Seal(b.Order.position(p)) }
