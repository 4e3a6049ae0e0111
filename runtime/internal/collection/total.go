package collection

import (
	"math"
	"math/big"
	"math/bits"
	"unsafe"
)

// Total is an exact sum of numbers: it does not depend on their order.
type Total struct {
	count  int // numbers
	high   int64
	low    uint64      // of the sum of integers, which has 128 bits
	floats *fixedPoint // sum of floating-point numbers; nil: there were none
	beyond float64     // sum of those that are infinite or no numbers
}

// add adds the value of a field in the element at p, if it has one.
func (t *Total) add(f *Field, p unsafe.Pointer) {
	p, ok := f.at(p)
	if !ok {
		return
	}
	t.count++
	switch f.Kind {
	case Int:
		t.addInt(loadInt(p, f.Bits))
	case Uint:
		t.addUint(loadUint(p, f.Bits))
	case Float:
		t.addFloat(loadFloat(p, f.Bits))
	}
}

func (t *Total) addInt(v int64) {
	var carry uint64
	t.low, carry = bits.Add64(t.low, uint64(v), 0)
	t.high += v>>63 + int64(carry)
}

func (t *Total) addUint(v uint64) {
	var carry uint64
	t.low, carry = bits.Add64(t.low, v, 0)
	t.high += int64(carry)
}

// AddIntegers adds the sum of so many integers; false: no integers of 64 bits have such a sum.
func (t *Total) AddIntegers(sum *big.Int, count int) (ok bool) {
	if sum.BitLen() > 64+bits.Len(uint(count)) {
		return false
	}
	low, high := new(big.Int).And(sum, new(big.Int).SetUint64(math.MaxUint64)), new(big.Int).Rsh(sum, 64)
	var carry uint64
	t.low, carry = bits.Add64(t.low, low.Uint64(), 0)
	t.high += high.Int64() + int64(carry)
	t.count += count
	return true
}

func (t *Total) addFloat(v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		t.beyond += v
		return
	}
	if t.floats == nil {
		t.floats = new(fixedPoint)
	}
	t.floats.add(v)
}

// small returns a sum of integers that has 64 bits; false: it has more, or is not one of integers.
func (t *Total) small() (int64, bool) {
	v := int64(t.low)
	return v, t.floats == nil && t.beyond == 0 && t.high == v>>63
}

// integer returns a sum of integers.
func (t *Total) integer() *big.Int {
	v := new(big.Int).Lsh(big.NewInt(t.high), 64)
	return v.Add(v, new(big.Int).SetUint64(t.low))
}

// Sum returns the sum. That of integers is an int64, or a string where it has more than 64 bits. That of floating-point
// numbers is the float64 next to it, or a string where it is greater than all of them. The sum of nothing is 0.
func (t *Total) Sum() any {
	if v, ok := t.small(); ok {
		return v
	}
	switch {
	case t.beyond != 0:
		return t.beyond
	case t.floats == nil:
		return t.integer().String()
	}
	exact := t.floats.exact()
	if v, _ := exact.Float64(); !math.IsInf(v, 0) {
		return v
	}
	return exact.Text('g', 17)
}

// Mean returns the float64 next to the mean; nil: that of nothing.
func (t *Total) Mean() any {
	switch v, ok := t.small(); {
	case t.count == 0:
		return nil
	case t.beyond != 0:
		return t.beyond
	case ok && -maxSafe <= v && v <= maxSafe:
		return float64(v) / float64(t.count)
	}
	sum := new(big.Float)
	if t.floats != nil {
		sum = t.floats.exact()
	} else {
		sum.SetInt(t.integer())
	}
	mean, _ := new(big.Float).SetPrec(53).Quo(sum, new(big.Float).SetInt64(int64(t.count))).Float64()
	return mean
}

// maxSafe is the greatest of the integers that float64 holds without gaps.
const maxSafe = 1<<53 - 1

// fixedPoint is a sum of floating-point numbers with all of their bits, in two's complement: the lowest is 2^-1074, as
// in float64. There is room for 2^63 of them.
type fixedPoint [34]uint64

func (x *fixedPoint) add(v float64) {
	b := math.Float64bits(v)
	mantissa, exponent := b&(1<<52-1), int(b>>52)&(1<<11-1)
	if exponent > 0 {
		mantissa |= 1 << 52
		exponent--
	}
	i, shift := exponent/64, exponent%64
	low, high := mantissa<<shift, mantissa>>(64-shift)
	combine := bits.Add64
	if v < 0 {
		combine = bits.Sub64
	}
	var carry uint64
	x[i], carry = combine(x[i], low, 0)
	x[i+1], carry = combine(x[i+1], high, carry)
	for i += 2; carry != 0 && i < len(x); i++ {
		x[i], carry = combine(x[i], 0, carry)
	}
}

// exact returns the sum.
func (x *fixedPoint) exact() *big.Float {
	magnitude, negative := *x, x[len(x)-1]>>63 != 0
	if negative {
		carry := uint64(1)
		for i := range magnitude {
			magnitude[i], carry = bits.Add64(^magnitude[i], 0, carry)
		}
	}
	text := make([]byte, 0, 8*len(x))
	for i := len(x) - 1; i >= 0; i-- {
		for shift := 56; shift >= 0; shift -= 8 {
			text = append(text, byte(magnitude[i]>>shift))
		}
	}
	v := new(big.Float).SetInt(new(big.Int).SetBytes(text))
	if v.SetMantExp(v, -1074); negative {
		v.Neg(v)
	}
	return v
}
