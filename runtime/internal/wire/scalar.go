package wire

import (
	"encoding/base64"
	"strings"
)

// String reads a string. Where the next value is something else, it reports a problem, skips the value and returns
// false.
func (r *Reader) String() (s string, ok bool) {
	if r.peek() != '"' {
		r.mismatch("string")
		return "", false
	}
	start := r.pos + 1
	i := plainEnd(r.data, start)
	if i < len(r.data) && r.data[i] == '"' && i-start <= r.sharedLength {
		r.from, r.to, r.pos = r.pos, i+1, i+1
		return r.retained[start:i], true
	}
	return r.textTo(i, retains)
}

// maxReusedStrings is the number of strings up to which Strings reuses its memory.
const maxReusedStrings = 1024

// Strings reads an array of strings. Elements that are something else are problems, and left out. Where the next
// value is not an array, Strings reports a problem, skips the value and returns false. The list has no spare
// capacity.
func (r *Reader) Strings() (list []string, ok bool) {
	if !r.Array() {
		return nil, false
	}
	read := r.strings
	for r.NextElement() {
		if s, ok := r.String(); ok {
			read = append(read, s)
		}
	}
	list = r.reserveStrings(len(read))
	copy(list, read)
	clear(read)
	if cap(read) <= maxReusedStrings {
		r.strings = read[:0]
	}
	return list, r.fault == nil
}

// maxSharedStrings is the number of strings up to which lists share memory with each other.
const maxSharedStrings = 64

// reserveStrings returns a list of n strings. In a request with many lists they share memory, as their strings do. The
// first one has memory of its own, since most requests have no other.
func (r *Reader) reserveStrings(n int) []string {
	if n == 0 || n > maxSharedStrings || len(r.data) > longInput {
		return make([]string, n)
	}
	if n > len(r.freeStrings) {
		r.chunk = min(max(n, 2*r.chunk), maxSharedStrings)
		r.freeStrings = make([]string, r.chunk)
	}
	list := r.freeStrings[:n:n]
	r.freeStrings = r.freeStrings[n:]
	return list
}

// Bool reads true or false. Where the next value is something else, it reports a problem, skips the value and returns
// false for ok.
func (r *Reader) Bool() (v, ok bool) {
	switch r.peek() {
	case 't':
		ok = r.literal("true")
		return ok, ok
	case 'f':
		return false, r.literal("false")
	default:
		r.mismatch("boolean")
		return false, false
	}
}

// Bytes reads binary data in standard base64 with padding (MCP-AQL core §4.7.4). Any other value is a problem of type.
func (r *Reader) Bytes() (b []byte, ok bool) {
	if r.peek() != '"' {
		r.mismatch("base64")
		return nil, false
	}
	s, ok := r.text(borrows)
	if !ok {
		return nil, false
	}
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil || strings.ContainsAny(s, "\r\n") {
		r.wrongType("base64", "string")
		return nil, false
	}
	return b, true
}
