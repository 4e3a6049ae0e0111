//go:build !purego

package wire

import "unsafe"

// plainLength returns the number of bytes from p on, up to n, that are neither a quote, a backslash nor a control
// character.
//
//go:noescape
func plainLength(p *byte, n int) int

// plainEnd returns the offset of the first quote, backslash or control character in data from i on, or len(data).
func plainEnd(data string, i int) int {
	data = data[i:]
	return i + plainLength(unsafe.StringData(data), len(data))
}
