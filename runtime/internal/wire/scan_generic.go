//go:build !amd64 || purego

package wire

// plainEnd returns the offset of the first quote, backslash or control character in data from i on, or len(data).
func plainEnd(data string, i int) int { return plainEndPortable(data, i) }
