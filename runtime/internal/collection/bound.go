package collection

import (
	"context"
	"errors"
	"math"
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
	Page     int // the number of the page, in the style that has them; 0: it is another one
	// Seal returns the cursor of a position; nil: the style has no cursors.
	Seal func(position []byte) string
	// MaxScanned bounds how many elements are read of an iterator.
	MaxScanned int
	// MaxSkipped bounds how many elements of an iterator are kept that are in front of the page.
	MaxSkipped int
}

// Found is a page of elements.
type Found struct {
	Items          []unsafe.Pointer
	Next, Previous bool // there are others behind it, and in front of it
	Total          int  // how many elements there are on all pages
}

// The errors of an iterator with more elements than may be read, and with more in front of the page than may be kept.
var (
	ErrScanned = errors.New("the iterator has more elements than may be read")
	ErrSkipped = errors.New("the iterator has more elements in front of the page than may be kept")
)

// search is a page that is being searched for.
type search struct {
	*Bound
	first
	total int
}

func (b *Bound) search(skip int) search {
	most := b.Size + 1 + min(skip, math.MaxInt-b.Size-1)
	return search{Bound: b, first: first{order: b.Order, last: b.Backward, most: most}}
}

// consider holds an element that the filter left against the position, and reports whether it may be on the page.
func (s *search) consider(p unsafe.Pointer) bool {
	s.total++
	if s.At != nil {
		if c := s.Order.compareTo(p, s.At); c == 0 || c < 0 != s.Backward {
			return false
		}
	}
	return s.wants(p)
}

// Slice finds a page of the n elements of a size that begin at base.
func (b *Bound) Slice(ctx context.Context, base unsafe.Pointer, size uintptr, n int) (Found, error) {
	s, part := b.search(b.Skip), block{}
	for i := 0; i < n; i += BlockSize {
		if err := pause(ctx, i); err != nil {
			return Found{}, err
		}
		part.fill(unsafe.Add(base, uintptr(i)*size), size, min(BlockSize, n-i))
		if b.Filter != nil {
			part.narrow(b.Filter)
		}
		for _, at := range part.left {
			if p := unsafe.Add(part.base, at); s.consider(p) {
				s.add(p)
			}
		}
	}
	return s.found(), nil
}

// Pointers finds a page of elements that are not in one place.
func (b *Bound) Pointers(ctx context.Context, all []unsafe.Pointer) (Found, error) {
	s := b.search(b.Skip)
	for i, p := range all {
		if err := pause(ctx, i); err != nil {
			return Found{}, err
		}
		if p != nil && (b.Filter == nil || b.Filter.match(p)) && s.consider(p) {
			s.add(p)
		}
	}
	return s.found(), nil
}

// Stream finds a page of elements that come block by block.
type Stream struct {
	search
	part    block
	scanned int
	// Keep copies an element and returns the copy.
	Keep func(p unsafe.Pointer) unsafe.Pointer
}

// Stream begins to find a page.
func (b *Bound) Stream(keep func(p unsafe.Pointer) unsafe.Pointer) *Stream {
	return &Stream{search: b.search(min(b.Skip, b.MaxSkipped)), Keep: keep}
}

// Add takes in the n elements of a size that begin at base, up to BlockSize. They may change afterwards.
func (s *Stream) Add(ctx context.Context, base unsafe.Pointer, size uintptr, n int) error {
	if s.scanned += n; s.scanned > s.MaxScanned {
		return ErrScanned
	}
	s.part.fill(base, size, n)
	if s.Filter != nil {
		s.part.narrow(s.Filter)
	}
	for _, at := range s.part.left {
		if p := unsafe.Add(base, at); s.consider(p) {
			s.add(s.Keep(p))
		}
	}
	return ctx.Err()
}

// Found returns the page.
func (s *Stream) Found() (Found, error) {
	if s.Skip > s.MaxSkipped && s.total > s.Skip {
		return Found{}, ErrSkipped
	}
	return s.found(), nil
}

// pauses is how many elements are read between two looks at the context.
const pauses = 64 * BlockSize

// pause looks at the context now and then.
func pause(ctx context.Context, i int) error {
	if i%pauses == 0 {
		return ctx.Err()
	}
	return nil
}

// found returns the page.
func (s *search) found() Found {
	items := s.sorted()
	items = items[min(s.Skip, len(items)):]
	more := len(items) > s.Size
	f := Found{Items: items, Next: more, Previous: s.At != nil || s.Skip > 0, Total: s.total}
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
