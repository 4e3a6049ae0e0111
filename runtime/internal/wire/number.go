package wire

import (
	"math"
	"strconv"
	"strings"
)

// number reads the number at pos and returns its text. ok is false after a fault.
func (r *Reader) number() (string, bool) {
	start, i := r.pos, r.pos
	if i < len(r.data) && r.data[i] == '-' {
		i++
	}
	whole := digits(r.data, i)
	if whole == 0 || whole > 1 && r.data[i] == '0' {
		return r.badNumber(i)
	}
	i += whole
	if i < len(r.data) && r.data[i] == '.' {
		fraction := digits(r.data, i+1)
		if fraction == 0 {
			return r.badNumber(i)
		}
		i += 1 + fraction
	}
	if i < len(r.data) && (r.data[i] == 'e' || r.data[i] == 'E') {
		i++
		if i < len(r.data) && (r.data[i] == '+' || r.data[i] == '-') {
			i++
		}
		exponent := digits(r.data, i)
		if exponent == 0 {
			return r.badNumber(i)
		}
		i += exponent
	}
	r.from, r.to, r.pos = start, i, i
	return r.retained[start:i], true
}

//go:noinline
func (r *Reader) badNumber(i int) (string, bool) {
	r.pos = min(i, len(r.data))
	r.malformed("a number is not spelled as JSON demands")
	return "", false
}

// digits returns the number of digits in data from an offset on.
func digits(data string, from int) int {
	i := from
	for i < len(data) && '0' <= data[i] && data[i] <= '9' {
		i++
	}
	return i - from
}

func isNumber(c byte) bool { return c == '-' || '0' <= c && c <= '9' }

// shortInt reads an integer of at most 18 digits without exponent, which cannot overflow. It reads nothing where the
// next value is anything else, and returns false.
func (r *Reader) shortInt() (v int64, ok bool) {
	const maxDigits = 18
	negative := r.peek() == '-'
	i := r.pos
	if negative {
		i++
	}
	first := i
	for i < len(r.data) {
		digit := r.data[i] - '0'
		if digit > 9 {
			if c := r.data[i]; c == '.' || c|0x20 == 'e' {
				return 0, false
			}
			break
		}
		if i-first == maxDigits {
			return 0, false
		}
		v = v*10 + int64(digit)
		i++
	}
	if n := i - first; n == 0 || n > 1 && r.data[first] == '0' {
		return 0, false
	}
	if negative {
		v = -v
	}
	r.from, r.to, r.pos = r.pos, i, i
	return v, true
}

// Number reads a number and returns its text. Where the next value is something else, it reports a problem, skips the
// value and returns false.
func (r *Reader) Number() (text string, ok bool) {
	if !isNumber(r.peek()) {
		r.mismatch("number")
		return "", false
	}
	return r.number()
}

// Int reads an integer of bits bits (8, 16, 32 or 64; 0 means 64), exactly. 1.0 and 1e2 are integers too. A fraction
// is a problem of type. An integer that does not fit in bits breaks a minimum or a maximum.
func (r *Reader) Int(bits int) (int64, bool) {
	if bits == 0 {
		bits = 64
	}
	limit := uint64(1) << (bits - 1)
	if v, ok := r.shortInt(); ok {
		switch {
		case v < 0 && uint64(-v) > limit:
			return 0, r.below(bits)
		case v > 0 && uint64(v) > limit-1:
			return 0, r.above(limit - 1)
		}
		return v, true
	}
	m, ok := r.integer()
	switch {
	case !ok:
		return 0, false
	case m.negative && (m.overflow || m.value > limit):
		return 0, r.below(bits)
	case !m.negative && (m.overflow || m.value > limit-1):
		return 0, r.above(limit - 1)
	case m.negative:
		return -int64(m.value), true
	default:
		return int64(m.value), true
	}
}

// Uint reads an unsigned integer of bits bits (8, 16, 32 or 64; 0 means 64), exactly: see Int.
func (r *Reader) Uint(bits int) (uint64, bool) {
	if bits == 0 {
		bits = 64
	}
	limit := uint64(math.MaxUint64) >> (64 - bits)
	if v, ok := r.shortInt(); ok {
		switch {
		case v < 0:
			return 0, r.broken("minimum", "0")
		case uint64(v) > limit:
			return 0, r.above(limit)
		}
		return uint64(v), true
	}
	m, ok := r.integer()
	switch {
	case !ok:
		return 0, false
	case m.negative && (m.overflow || m.value > 0):
		return 0, r.broken("minimum", "0")
	case m.overflow, m.value > limit:
		return 0, r.above(limit)
	default:
		return m.value, true
	}
}

// BigInt reads an integer of any size and returns its digits. 1.0 and 1e2 are integers too, as long as a float64 can be
// as large: an exponent takes no memory in a request.
func (r *Reader) BigInt() (digits string, ok bool) {
	if !isNumber(r.peek()) {
		r.mismatch("integer")
		return "", false
	}
	text, ok := r.number()
	if !ok || !strings.ContainsAny(text, ".eE") {
		return text, ok
	}
	const maxDigits = 309 // of a float64
	switch d := parseDecimal(text); {
	case d.zero:
		return "0", true
	case !d.Integral():
		r.wrongType("integer", "number")
		return "", false
	case d.point()-int64(d.first) > maxDigits:
		return "", r.beyond(d.negative, 64)
	default:
		return d.digits(), true
	}
}

// below reports that the integer just read is too small for its bits. It returns false.
//
//go:noinline
func (r *Reader) below(bits int) bool {
	return r.broken("minimum", strconv.FormatInt(math.MinInt64>>(64-bits), 10))
}

// above reports that the integer just read exceeds limit. It returns false.
//
//go:noinline
func (r *Reader) above(limit uint64) bool {
	return r.broken("maximum", strconv.FormatUint(limit, 10))
}

// magnitude is an integer as its absolute value and its sign.
type magnitude struct {
	value    uint64
	overflow bool // the value does not fit in 64 bits
	negative bool
}

// integer reads an integer in any spelling.
//
//go:noinline
func (r *Reader) integer() (magnitude, bool) {
	if !isNumber(r.peek()) {
		r.mismatch("integer")
		return magnitude{}, false
	}
	text, ok := r.number()
	if !ok {
		return magnitude{}, false
	}
	m, ok := parseDecimal(text).integer()
	if !ok {
		r.wrongType("integer", "number")
	}
	return m, ok
}

// Float reads a number as a floating-point value of bits bits (32 or 64; 0 means 64). A number outside of the range
// of the type breaks a minimum or a maximum. A number that is too close to 0 for the type is 0.
func (r *Reader) Float(bits int) (float64, bool) {
	if bits != 32 {
		bits = 64
	}
	if !isNumber(r.peek()) {
		r.mismatch("number")
		return 0, false
	}
	if bits == 64 {
		if v, ok := r.shortDecimal(); ok {
			return v, true
		}
	}
	text, ok := r.number()
	if !ok {
		return 0, false
	}
	v, err := strconv.ParseFloat(text, bits)
	if err != nil {
		return 0, r.beyond(v < 0, bits)
	}
	return v, true
}

// powersOfTen are those that shortDecimal needs. A float64 holds them exactly.
var powersOfTen = [...]float64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15}

// shortDecimal reads a number of at most 15 digits without exponent. Its digits as an integer and the power of ten
// for its fraction are exact, so that the quotient is rounded only once. It reads nothing where the next value is
// anything else, and returns false.
func (r *Reader) shortDecimal() (v float64, ok bool) {
	const maxDigits = 15
	i, point := r.pos, -1
	negative := r.data[i] == '-'
	if negative {
		i++
	}
	first, mantissa := i, uint64(0)
scan:
	for ; i < len(r.data); i++ {
		switch c := r.data[i]; {
		case '0' <= c && c <= '9':
			mantissa = mantissa*10 + uint64(c-'0')
		case c == '.' && point < 0:
			point = i
		case c == '.', c|0x20 == 'e':
			return 0, false
		default:
			break scan
		}
		if i-first > maxDigits {
			return 0, false
		}
	}
	whole, fraction := i-first, 0
	if point >= 0 {
		if whole, fraction = point-first, i-point-1; fraction == 0 {
			return 0, false
		}
	}
	if whole == 0 || whole > 1 && r.data[first] == '0' || whole+fraction > maxDigits || negative && mantissa == 0 {
		return 0, false
	}
	v = float64(mantissa) / powersOfTen[fraction]
	if negative {
		v = -v
	}
	r.from, r.to, r.pos = r.pos, i, i
	return v, true
}

// beyond reports that the number just read is outside of the range of floating-point values of bits bits. It returns
// false.
//
//go:noinline
func (r *Reader) beyond(negative bool, bits int) bool {
	largest := math.MaxFloat64
	if bits == 32 {
		largest = math.MaxFloat32
	}
	if negative {
		return r.broken("minimum", strconv.FormatFloat(-largest, 'g', -1, bits))
	}
	return r.broken("maximum", strconv.FormatFloat(largest, 'g', -1, bits))
}
