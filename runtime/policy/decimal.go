package policy

import (
	"cmp"
	"strings"
)

// decimal is the exact value of a JSON number: ± 0.digits × 10^exponent, whose digits neither begin nor end with 0. Zero
// has none.
type decimal struct {
	negative bool
	digits   string
	exponent int64
}

// farthest bounds exponents; what lies beyond is as large, or as near to zero, as that.
const farthest = 1 << 40

// parseDecimal reads a number by the grammar of JSON; false: the text is none.
func parseDecimal(text string) (decimal, bool) {
	var d decimal
	text, d.negative = strings.CutPrefix(text, "-")
	whole := leadingDigits(text)
	text = text[len(whole):]
	if whole == "" || len(whole) > 1 && whole[0] == '0' {
		return d, false
	}
	fraction := ""
	if rest, ok := strings.CutPrefix(text, "."); ok {
		fraction = leadingDigits(rest)
		if text = rest[len(fraction):]; fraction == "" {
			return d, false
		}
	}
	if text != "" {
		if text[0] != 'e' && text[0] != 'E' {
			return d, false
		}
		text = text[1:]
		sign := int64(1)
		if rest, ok := strings.CutPrefix(text, "-"); ok {
			text, sign = rest, -1
		} else {
			text = strings.TrimPrefix(text, "+")
		}
		if text == "" || leadingDigits(text) != text {
			return d, false
		}
		for _, c := range []byte(text) {
			d.exponent = min(10*d.exponent+int64(c-'0'), farthest)
		}
		d.exponent *= sign
	}
	d.exponent += int64(len(whole))
	d.digits = whole
	if fraction != "" {
		d.digits += fraction
	}
	significant := strings.TrimLeft(d.digits, "0")
	d.exponent -= int64(len(d.digits) - len(significant))
	d.digits = strings.TrimRight(significant, "0")
	if d.digits == "" {
		return decimal{}, true
	}
	return d, true
}

func leadingDigits(text string) string {
	n := 0
	for n < len(text) && '0' <= text[n] && text[n] <= '9' {
		n++
	}
	return text[:n]
}

// integral reports whether d is a whole number.
func (d decimal) integral() bool { return int64(len(d.digits)) <= d.exponent || d.digits == "" }

// compare orders numbers by their values.
func (d decimal) compare(other decimal) int {
	if s := cmp.Compare(d.sign(), other.sign()); s != 0 || d.digits == "" {
		return s
	}
	// Digits that end earlier are followed by zeros, which is how texts are ordered too.
	c := cmp.Or(cmp.Compare(d.exponent, other.exponent), cmp.Compare(d.digits, other.digits))
	return c * d.sign()
}

func (d decimal) sign() int {
	switch {
	case d.digits == "":
		return 0
	case d.negative:
		return -1
	}
	return 1
}
