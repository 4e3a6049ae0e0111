package collection

import (
	"context"
	"errors"
	"unsafe"
)

// The errors of iterators.
var (
	// ErrScanned is that of one with more elements than may be read.
	ErrScanned = errors.New("the iterator has more elements than may be read")
	// ErrSkipped is that of one with more elements in front of the page than may be kept.
	ErrSkipped = errors.New("the iterator has more elements in front of the page than may be kept")
	// ErrOrder is that of one whose elements are not in the order that was taken.
	ErrOrder = errors.New("the elements are not in the order that TakeSort returned")
)

// Stream finds a page of elements that come block by block.
type Stream struct {
	search
	part    block
	scanned int
	before  unsafe.Pointer // the element in front of the next one, where they come in order
	ended   bool           // the page is known, though there may be more elements
	// Keep copies an element and returns the copy.
	Keep func(p unsafe.Pointer) unsafe.Pointer
}

// Stream begins to find a page.
func (b *Bound) Stream(keep func(p unsafe.Pointer) unsafe.Pointer) *Stream {
	b = b.unapplied()
	skip := b.Skip
	if b.Ordered {
		skip = 0 // Next passes them over
	}
	s := &Stream{search: b.search(min(skip, b.MaxSkipped)), Keep: keep}
	s.skip, s.inOrder = skip, b.Trusted
	return s
}

// Add takes in the n elements of a size that begin at base, up to BlockSize. They may change afterwards.
func (s *Stream) Add(ctx context.Context, base unsafe.Pointer, size uintptr, n int) error {
	if s.scanned += n; s.scanned > s.MaxScanned {
		return ErrScanned
	}
	s.begin(ctx)
	s.part.fill(base, size, n)
	if s.Filter != nil {
		s.part.narrow(s.Filter)
	}
	if !s.sum(&s.part) {
		return ErrGroups
	}
	if s.Itemless {
		return ctx.Err()
	}
	for _, at := range s.part.left() {
		if p := unsafe.Add(base, at); s.consider(p) {
			s.add(s.Keep(p))
		}
		s.forget(unsafe.Add(base, at))
	}
	return ctx.Err()
}

// Next takes in the element at p, where elements come in order, and reports whether the page needs more. The element
// may change after the next one was taken in.
func (s *Stream) Next(ctx context.Context, p unsafe.Pointer) (more bool, err error) {
	if s.scanned++; s.scanned > s.MaxScanned {
		return false, ErrScanned
	}
	if err := pause(ctx, s.scanned); err != nil {
		return false, err
	}
	s.begin(ctx)
	if !s.Placed && !s.Trusted {
		if s.before != nil && s.Order.compare(s.before, p) > 0 {
			return false, ErrOrder
		}
		s.before = p
	}
	matches := s.Matches(p)
	if matches && !s.sumOne(p) {
		return false, ErrGroups
	}
	switch {
	case !matches:
	case !s.Placed && s.total < s.Skip:
		s.total++
	case s.consider(p):
		s.add(s.Keep(p))
	}
	if s.Backward && !s.Placed {
		s.ended = s.At != nil && !s.within(p)
	} else {
		s.ended = len(s.heap) == s.most
	}
	s.ended = s.ended && s.summing == nil // which need all elements
	return !s.ended, nil
}

// Found returns the page.
func (s *Stream) Found() (Found, error) {
	if s.skip > s.MaxSkipped && s.total > s.skip {
		return Found{}, ErrSkipped
	}
	f := s.found()
	if s.ended {
		f.Total = Unknown
	}
	return f, nil
}
