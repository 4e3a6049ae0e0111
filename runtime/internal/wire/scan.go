package wire

import (
	"math/bits"
	"strings"
)

// The lowest and the highest bit of each of eight bytes.
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plainEndPortable is plainEnd in Go. It looks at sixteen bytes at a time, and leaves long strings to plainEndFar.
func plainEndPortable(data string, i int) int {
	for far := i + 48; i+16 <= len(data); i += 16 {
		if i >= far {
			return plainEndFar(data, i)
		}
		d := data[i : i+16]
		if first, second := specials(load64(d)), specials(load64(d[8:])); first|second != 0 {
			if first != 0 {
				return i + bits.TrailingZeros64(first)/8
			}
			return i + 8 + bits.TrailingZeros64(second)/8
		}
	}
	for ; i < len(data); i++ {
		if special[data[i]] {
			return i
		}
	}
	return i
}

// window is how many bytes plainEndFar searches at a time. Without it, a string full of escapes would be searched to
// its end for each of them.
const window = 256

// plainEndFar is plainEnd for long strings. It uses strings.IndexByte, which is faster than code in Go.
func plainEndFar(data string, i int) int {
	for i < len(data) {
		end := min(i+window, len(data))
		limit := end
		if at := strings.IndexByte(data[i:end], '"'); at >= 0 {
			end = i + at
		}
		if at := strings.IndexByte(data[i:end], '\\'); at >= 0 {
			end = i + at
		}
		if i = controlEnd(data, i, end); i < limit {
			return i
		}
	}
	return i
}

// uncontrolled returns the offset of the first control character in data[i:end], or end.
func controlEnd(data string, i, end int) int {
	for ; i+16 <= end; i += 16 {
		d := data[i : i+16]
		first, second := load64(d), load64(d[8:])
		if ((first-ones*' ')&^first|(second-ones*' ')&^second)&highs != 0 {
			break
		}
	}
	for i < end && data[i] >= ' ' {
		i++
	}
	return i
}

// specials sets the highest bit of the lowest byte of w that is a quote, a backslash or a control character. The bits
// above that one mean nothing.
func specials(w uint64) uint64 {
	quote, backslash := w^ones*'"', w^ones*'\\'
	return ((w-ones*' ')&^w | (quote-ones)&^quote | (backslash-ones)&^backslash) & highs
}

// load64 returns the first eight bytes of d as a number, the first byte lowest.
func load64(d string) uint64 {
	_ = d[7]
	return uint64(d[0]) | uint64(d[1])<<8 | uint64(d[2])<<16 | uint64(d[3])<<24 |
		uint64(d[4])<<32 | uint64(d[5])<<40 | uint64(d[6])<<48 | uint64(d[7])<<56
}

// special is the set of bytes that a JSON string must escape.
var special = [256]bool{
	0: true, 1: true, 2: true, 3: true, 4: true, 5: true, 6: true, 7: true, 8: true, 9: true, 10: true, 11: true, 12: true,
	13: true, 14: true, 15: true, 16: true, 17: true, 18: true, 19: true, 20: true, 21: true, 22: true, 23: true, 24: true,
	25: true, 26: true, 27: true, 28: true, 29: true, 30: true, 31: true, '"': true, '\\': true,
}
