package wire

import (
	"math"
	"strconv"
	"strings"
)

// number reads the number at pos and returns its text.
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
	return r.data[start:i], true
}

func (r *Reader) badNumber(i int) (string, bool) {
	r.pos = min(i, len(r.data))
	r.malformed("a number is not spelled as JSON demands")
	return "", false
}

func digits(data string, from int) int {
	i := from
	for i < len(data) && '0' <= data[i] && data[i] <= '9' {
		i++
	}
	return i - from
}

// Int reads an integer of bits bits (8, 16, 32 or 64; 0 means 64), exactly. Spellings such as 1.0 and 1e2 are integers
// too. A fraction is a problem of type; an integer that bits cannot hold is a broken minimum or maximum.
func (r *Reader) Int(bits int) (int64, bool) {
	if bits == 0 {
		bits = 64
	}
	negative, magnitude, ok := r.integer()
	if !ok {
		return 0, false
	}
	limit := uint64(1) << (bits - 1)
	switch {
	case magnitude.overflow && negative, negative && magnitude.value > limit:
		return 0, r.broken("minimum", strconv.FormatInt(math.MinInt64>>(64-bits), 10))
	case magnitude.overflow, !negative && magnitude.value > limit-1:
		return 0, r.broken("maximum", strconv.FormatUint(limit-1, 10))
	case negative:
		return -int64(magnitude.value), true
	default:
		return int64(magnitude.value), true
	}
}

// Uint reads an unsigned integer of bits bits (8, 16, 32 or 64; 0 means 64), exactly.
func (r *Reader) Uint(bits int) (uint64, bool) {
	if bits == 0 {
		bits = 64
	}
	negative, magnitude, ok := r.integer()
	if !ok {
		return 0, false
	}
	limit := uint64(math.MaxUint64) >> (64 - bits)
	switch {
	case negative && (magnitude.overflow || magnitude.value > 0):
		return 0, r.broken("minimum", "0")
	case magnitude.overflow, magnitude.value > limit:
		return 0, r.broken("maximum", strconv.FormatUint(limit, 10))
	default:
		return magnitude.value, true
	}
}

// magnitude is an integer without its sign.
type magnitude struct {
	value    uint64
	overflow bool // does not fit
}

// integer reads a number that has no fraction.
func (r *Reader) integer() (negative bool, m magnitude, ok bool) {
	if r.Kind() != "number" {
		r.mismatch("integer")
		return false, m, false
	}
	text, ok := r.number()
	if !ok {
		return false, m, false
	}
	text, negative = strings.CutPrefix(text, "-")
	if len(text) < 19 && digits(text, 0) == len(text) { // the usual case cannot overflow
		for _, c := range []byte(text) {
			m.value = m.value*10 + uint64(c-'0')
		}
		return negative, m, true
	}
	significand, exponent := decompose(text)
	switch {
	case exponent < 0:
		r.wrongType("integer", "number")
		return false, m, false
	case len(significand)+exponent > 20:
		m.overflow = true
		return negative, m, true
	}
	value, err := strconv.ParseUint(significand+strings.Repeat("0", exponent), 10, 64)
	return negative, magnitude{value: value, overflow: err != nil}, true
}

// largeExponent stands for every exponent that is larger; no number of that size can be told from another.
const largeExponent = 1 << 40

// decompose splits a number without sign into its significant digits, without zeros before or behind them, and the power
// of ten they are to be multiplied with. Zero is "0" and 0.
func decompose(text string) (significand string, exponent int) {
	if i := strings.IndexAny(text, "eE"); i >= 0 {
		var err error
		if exponent, err = strconv.Atoi(strings.TrimPrefix(text[i+1:], "+")); err != nil || exponent > largeExponent || exponent < -largeExponent {
			exponent = largeExponent
			if text[i+1] == '-' {
				exponent = -largeExponent
			}
		}
		text = text[:i]
	}
	if whole, fraction, found := strings.Cut(text, "."); found {
		text = whole + fraction
		exponent -= len(fraction)
	}
	text = strings.TrimLeft(text, "0")
	significand = strings.TrimRight(text, "0")
	if significand == "" {
		return "0", 0
	}
	return significand, exponent + len(text) - len(significand)
}

// Float reads a number as a floating-point value of bits bits (32 or 64).
func (r *Reader) Float(bits int) (float64, bool) {
	if r.Kind() != "number" {
		r.mismatch("number")
		return 0, false
	}
	text, ok := r.number()
	if !ok {
		return 0, false
	}
	v, err := strconv.ParseFloat(text, bits)
	if err != nil {
		largest := math.MaxFloat64
		if bits == 32 {
			largest = math.MaxFloat32
		}
		if v < 0 {
			return 0, r.broken("minimum", strconv.FormatFloat(-largest, 'g', -1, bits))
		}
		return 0, r.broken("maximum", strconv.FormatFloat(largest, 'g', -1, bits))
	}
	return v, true
}
