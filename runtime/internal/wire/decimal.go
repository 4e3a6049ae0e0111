package wire

import (
	"cmp"
	"math"
	"strconv"
	"strings"
)

// Decimal is the exact value of a JSON number. It refers to the number's text, so that a large exponent takes no
// memory.
type Decimal struct {
	negative        bool
	whole, fraction string
	first, last     int // offsets of the first and last digit other than 0, in whole and fraction taken together
	zero            bool
	exponent        string // its digits, without leading zeros
	shrinks         bool   // the exponent is negative
}

// ParseDecimal parses a JSON number. It returns false where the text is anything else.
func ParseDecimal(text string) (Decimal, bool) {
	var r Reader
	r.Reset(text, Limits{})
	if number, ok := r.Number(); !ok || number != text {
		return Decimal{}, false
	}
	return parseDecimal(text), true
}

// parseDecimal parses the text of a valid JSON number.
func parseDecimal(text string) Decimal {
	var d Decimal
	text, d.negative = strings.CutPrefix(text, "-")
	n := digits(text, 0)
	d.whole, text = text[:n], text[n:]
	if text != "" && text[0] == '.' {
		n := digits(text, 1)
		d.fraction, text = text[1:1+n], text[1+n:]
	}
	if text != "" { // e, perhaps a sign, digits
		d.shrinks = text[1] == '-'
		d.exponent = strings.TrimLeft(strings.TrimLeft(text[1:], "+-"), "0")
	}
	d.last = len(d.whole) + len(d.fraction) - 1
	for d.first <= d.last && d.digit(d.first) == '0' {
		d.first++
	}
	for d.last > d.first && d.digit(d.last) == '0' {
		d.last--
	}
	d.zero = d.first > d.last
	return d
}

// digit returns the digit at offset i, which is 0 after the last one.
func (d *Decimal) digit(i int) byte {
	if i < len(d.whole) {
		return d.whole[i]
	}
	if i -= len(d.whole); i < len(d.fraction) {
		return d.fraction[i]
	}
	return '0'
}

// shortExponent is the number of digits up to which an exponent does not overflow an int64, whatever is added to it
// here.
const shortExponent = 17

// power returns the exponent. For one with more digits than shortExponent it returns half of the largest or smallest
// int64, which is farther from 0 than any text is long.
func (d *Decimal) power() int64 {
	power := int64(math.MaxInt64 / 2)
	if len(d.exponent) <= shortExponent {
		power = 0
		for _, c := range []byte(d.exponent) {
			power = power*10 + int64(c-'0')
		}
	}
	if d.shrinks {
		power = -power
	}
	return power
}

// point returns the number of digits before the decimal point, counted from the first digit of the text.
func (d *Decimal) point() int64 { return int64(len(d.whole)) + d.power() }

// Integral reports whether the number is an integer.
func (d Decimal) Integral() bool { return d.zero || d.point() > int64(d.last) }

// Compare returns -1, 0 or 1 as d is less than, equal to or greater than other. Numbers whose exponents have more than
// 17 digits count as equally far from zero.
func (d Decimal) Compare(other Decimal) int {
	if s := cmp.Compare(d.sign(), other.sign()); s != 0 || d.zero {
		return s
	}
	// The place values of the first digits that are not zero, and then the digits.
	c := cmp.Compare(d.point()-int64(d.first), other.point()-int64(other.first))
	for i := 0; c == 0 && i <= max(d.last-d.first, other.last-other.first); i++ {
		c = cmp.Compare(d.digit(d.first+i), other.digit(other.first+i))
	}
	return c * d.sign()
}

// sign returns -1, 0 or 1.
func (d *Decimal) sign() int {
	switch {
	case d.zero:
		return 0
	case d.negative:
		return -1
	}
	return 1
}

// integer returns the number as an integer, if it is one.
func (d Decimal) integer() (magnitude, bool) {
	m := magnitude{negative: d.negative}
	if d.zero {
		return m, true
	}
	point := d.point()
	if point <= int64(d.last) {
		return m, false
	}
	const maxDigits = 20 // of a uint64
	if point-int64(d.first) > maxDigits {
		m.overflow = true
		return m, true
	}
	for i := d.first; i < int(point); i++ {
		digit := uint64(d.digit(i) - '0')
		if m.value > (math.MaxUint64-digit)/10 {
			m.overflow = true
			return m, true
		}
		m.value = m.value*10 + digit
	}
	return m, true
}

// digits appends the digits of an integer, which is not zero.
func (d Decimal) digits() string {
	var text strings.Builder
	if d.negative {
		text.WriteByte('-')
	}
	for i := d.first; i < int(d.point()); i++ {
		text.WriteByte(d.digit(i))
	}
	return text.String()
}

// appendCanonical appends the canonical spelling, which numbers of the same value share: the significant digits and a
// power of ten. It is at most a few bytes longer than the text.
func (d Decimal) appendCanonical(dst []byte) []byte {
	if d.zero {
		return append(dst, '0')
	}
	if d.negative {
		dst = append(dst, '-')
	}
	for i := d.first; i <= d.last; i++ {
		dst = append(dst, d.digit(i))
	}
	shift := int64(len(d.whole) - d.last - 1)
	if len(d.exponent) <= shortExponent {
		if power := d.power() + shift; power != 0 {
			dst = strconv.AppendInt(append(dst, 'e'), power, 10)
		}
		return dst
	}
	dst = append(dst, 'e')
	if d.shrinks {
		dst, shift = append(dst, '-'), -shift
	}
	return appendSum(dst, d.exponent, shift)
}

// appendSum appends the sum of a large number, given by its digits, and a much smaller one.
func appendSum(dst []byte, large string, small int64) []byte {
	sum := []byte(large)
	for i := len(sum) - 1; small != 0 && i >= 0; i-- {
		digit := int64(sum[i]-'0') + small%10
		small /= 10
		switch {
		case digit < 0:
			digit += 10
			small--
		case digit > 9:
			digit -= 10
			small++
		}
		sum[i] = byte('0' + digit)
	}
	if small > 0 {
		dst = strconv.AppendInt(dst, small, 10)
		return append(dst, sum...)
	}
	return append(dst, strings.TrimLeft(string(sum), "0")...)
}
