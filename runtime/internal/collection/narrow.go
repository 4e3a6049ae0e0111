package collection

import (
	"math"
	"unsafe"
)

// BlockSize is the number of elements that one condition after the other is held against: so few that they stay in the
// first cache of a processor.
const BlockSize = 128

// block is a part of the elements of a slice. Those that are left are listed by their offsets in bytes from base.
type block struct {
	base unsafe.Pointer
	left []uint32
	room [BlockSize]uint32
}

// fill makes a block of n elements of a size that begin at base.
func (b *block) fill(base unsafe.Pointer, size uintptr, n int) {
	b.base = base
	for i := range n {
		b.room[i] = uint32(i) * uint32(size)
	}
	b.left = b.room[:n]
}

// narrow leaves those elements for which a node holds.
func (b *block) narrow(n *Node) {
	for i := range n.All {
		if len(b.left) == 0 {
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
	kept := b.left[:0]
	for _, at := range b.left {
		if c.match(unsafe.Add(b.base, at)) {
			kept = append(kept, at)
		}
	}
	b.left = kept
}

// narrowTexts leaves the elements whose text is Value or in Set.
func (b *block) narrowTexts(offset uintptr, c *Condition) {
	k := 0
	column := unsafe.Add(b.base, offset)
	if c.Op == Eq {
		text := c.Value.Text
		for _, at := range b.left {
			b.left[k] = at
			if *(*string)(unsafe.Add(column, at)) == text {
				k++
			}
		}
	} else {
		for _, at := range b.left {
			text := *(*string)(unsafe.Add(column, at))
			b.left[k] = at
			for i := range c.Set {
				if c.Set[i].Text == text {
					k++
					break
				}
			}
		}
	}
	b.left = b.left[:k]
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
	k := 0
	column := unsafe.Add(b.base, offset)
	for _, at := range b.left {
		v := *(*int64)(unsafe.Add(column, at))
		b.left[k] = at
		if low <= v && v <= high {
			k++
		}
	}
	b.left = b.left[:k]
}
