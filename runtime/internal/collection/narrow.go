package collection

import (
	"math"
	"unsafe"
)

// BlockSize is the number of elements that one condition after the other is held against: so few that they stay in the
// first cache of a processor.
const BlockSize = 128

// block is a part of the elements of a slice. The first n offsets, in bytes from base, are of those that are left.
type block struct {
	base    unsafe.Pointer
	n       int
	offsets [BlockSize]uint32
}

// left returns the offsets of the elements that are left.
func (b *block) left() []uint32 { return b.offsets[:b.n] }

// fill makes a block of n elements of a size that begin at base.
func (b *block) fill(base unsafe.Pointer, size uintptr, n int) {
	b.base, b.n = base, n
	for i := range b.left() {
		b.offsets[i] = uint32(i) * uint32(size)
	}
}

// narrow leaves those elements for which a node holds.
func (b *block) narrow(n *Node) {
	for i := range n.All {
		if b.n == 0 {
			return
		}
		b.narrowBy(&n.All[i])
	}
}

// narrowBy leaves those elements for which a condition holds. The most frequent kinds have loops of their own.
func (b *block) narrowBy(c *Condition) {
	if f := c.Field; f != nil && len(f.Steps) == 0 && !f.List {
		switch {
		case f.Kind == String && (c.Op == Eq || c.Op == In):
			b.narrowTexts(f.Offset, c)
			return
		case f.Kind == Int && f.Bits == 64:
			if low, high, ok := c.bounds(); ok {
				b.narrowInts(f.Offset, low, high)
				return
			}
		}
	}
	left, k := b.left(), 0
	for _, at := range left {
		left[k] = at
		if c.match(unsafe.Add(b.base, at)) {
			k++
		}
	}
	b.n = k
}

// narrowTexts leaves the elements whose text is Value or in Set.
func (b *block) narrowTexts(offset uintptr, c *Condition) {
	left, k := b.left(), 0
	column := unsafe.Add(b.base, offset)
	if c.Op == Eq {
		text := c.Value.Text
		for _, at := range left {
			left[k] = at
			if *(*string)(unsafe.Add(column, at)) == text {
				k++
			}
		}
	} else {
		for _, at := range left {
			text := *(*string)(unsafe.Add(column, at))
			left[k] = at
			for i := range c.Set {
				if c.Set[i].Text == text {
					k++
					break
				}
			}
		}
	}
	b.n = k
}

// bounds returns the least and the greatest integer for which a comparison holds; false: it is no range.
func (c *Condition) bounds() (low, high int64, ok bool) {
	v := c.Value.Int
	switch c.Op {
	case Eq:
		return v, v, true
	case Gt:
		return v + 1, math.MaxInt64, v < math.MaxInt64
	case Gte:
		return v, math.MaxInt64, true
	case Lt:
		return math.MinInt64, v - 1, v > math.MinInt64
	case Lte:
		return math.MinInt64, v, true
	}
	return 0, 0, false
}

// narrowInts leaves the elements whose integer is between two bounds.
func (b *block) narrowInts(offset uintptr, low, high int64) {
	left, k := b.left(), 0
	column := unsafe.Add(b.base, offset)
	for _, at := range left {
		v := *(*int64)(unsafe.Add(column, at))
		left[k] = at
		if low <= v && v <= high {
			k++
		}
	}
	b.n = k
}
