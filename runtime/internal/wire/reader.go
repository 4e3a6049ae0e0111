// Package wire reads and writes JSON at the level of bytes: strictly, in one pass, and without reflection.
//
// A Reader refuses what most JSON decoders accept: duplicate names, invalid UTF-8, lone surrogates, NUL, bytes after
// the value, and what exceeds its limits (MCP-AQL core §4.7). Each of these is a Fault, which ends the reading. A
// value that is valid JSON but not acceptable, such as a number where the caller reads a string, is a Problem.
// Problems are collected while reading goes on.
package wire

import (
	"cmp"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// Limits bounds what a Reader accepts (MCP-AQL core §4.7.5). A zero field means that there is no limit.
type Limits struct {
	MaxStringLength  int // bytes of a string or name, after unescaping
	MaxArrayElements int
	MaxDepth         int // levels of objects and arrays; the root is level 1
}

// absoluteDepth bounds the nesting where MaxDepth does not, so that recursion ends.
const absoluteDepth = 10_000

// Reader reads one JSON value. Its methods follow the structure of the value: for an object, call Object, and then
// Next until it returns false, and read one value after each call of Next. Before a Reader is used, Reset must be
// called.
//
// Strings that a Reader returns share the memory of its input. Strings with escapes, and all strings of a long input,
// share memory of a few KiB with each other instead. After Reset, a Reader refers to nothing of an earlier input.
type Reader struct {
	data         string // the input
	retained     string // the same text in memory that results may share
	ownBytes     []byte // the memory of retained, in which strings are unescaped; nil: they are unescaped in the arena
	sharedLength int    // up to this length, strings without escapes are parts of retained
	preserving   bool   // retained must not change
	tolerant     bool   // strings may hold U+0000 and half a surrogate pair, until Reset is called
	pos          int
	from, to     int // the last scalar or name read, for problems
	fault        *Fault
	frames       []frame
	name         string   // of the member that was begun last
	names        []string // names read so far in each open object, to find duplicates
	limits       Limits
	prefix       string // of the paths of problems
	origin       int    // frames that the paths of problems leave out
	problems     []Problem
	reported     [stages]int           // problems of each stage
	arena        []byte                // memory for strings
	sets         []map[string]struct{} // names of open objects with many names
	spare        map[string]struct{}   // an empty set for the next object with many names
	strings      []string              // elements of the array that Strings is reading
	freeStrings  []string              // memory for lists of strings
	chunk        int                   // the number of strings for which memory was taken last; 0: none yet
}

// frame is an open object or array. It has no pointers, so that opening and closing it is cheap.
type frame struct {
	count  int    // members or elements begun
	nameAt int    // offset of the current member's name
	first  int    // index in Reader.names of the object's first name
	seen   uint64 // fingerprints of the names so far
	set    int32  // number of its set in Reader.sets, from 1 on; 0: none
	object bool
}

// NewReader returns a Reader of data.
func NewReader(data string, limits Limits) *Reader {
	r := new(Reader)
	r.Reset(data, limits)
	return r
}

// Reset makes r read data from its beginning. It reuses the memory of r, so that problems and faults that r returned
// before must not be used any more.
func (r *Reader) Reset(data string, limits Limits) {
	r.data, r.name, r.pos, r.from, r.to = data, "", 0, 0, 0
	r.limits, r.prefix, r.origin = limits, "", 0
	r.frames = r.frames[:0]
	if len(r.names) > 0 {
		clear(r.names)
		r.names = r.names[:0]
	}
	if len(r.sets) > 0 {
		clear(r.sets)
		r.sets = r.sets[:0]
	}
	if len(r.problems) > 0 {
		clear(r.problems)
		r.problems = r.problems[:0]
	}
	if r.fault != nil || r.reported != [stages]int{} {
		r.fault, r.reported = nil, [stages]int{}
	}
	if r.sharedLength = -1; len(data) <= longInput {
		r.sharedLength = cmp.Or(limits.MaxStringLength, len(data))
	}
	r.retained, r.ownBytes, r.preserving, r.tolerant = data, nil, false, false
	r.arena, r.freeStrings, r.chunk = nil, nil, 0 // results may still use them
	if !utf8.ValidString(data) {
		r.invalidUTF8()
	}
}

// ResetBytes is Reset for an input that the caller may change when reading has ended. Results do not share its
// memory, except for what Text, Raw and LastMember return.
func (r *Reader) ResetBytes(input []byte, limits Limits) {
	r.Reset(unsafe.String(unsafe.SliceData(input), len(input)), limits)
	if len(input) <= longInput {
		r.ownBytes = append([]byte(nil), input...)
		r.retained = unsafe.String(unsafe.SliceData(r.ownBytes), len(r.ownBytes))
	}
}

// Preserve makes r keep the text that it reads for RetainText, until Preserve is called with false.
func (r *Reader) Preserve(on bool) { r.preserving = on }

// RetainText returns the input between two offsets, in memory that the result may share. The text must have been read
// under Preserve.
func (r *Reader) RetainText(from, to int) string {
	if len(r.data) > longInput {
		return strings.Clone(r.data[from:to])
	}
	return r.retained[from:to]
}

// SetPath sets the path of the value, such as "input", which the paths of problems begin with. Reset sets the empty
// path.
func (r *Reader) SetPath(prefix string) { r.prefix = prefix }

// SetOrigin makes the paths of problems begin at the next value. The locations of faults still begin at the root.
func (r *Reader) SetOrigin() { r.origin = len(r.frames) }

// TakeProblems removes the problems so far from r and appends them to out.
func (r *Reader) TakeProblems(out []Problem) []Problem {
	if len(r.problems) > 0 {
		out = append(out, r.problems...)
		clear(r.problems)
		r.problems, r.reported = r.problems[:0], [stages]int{}
	}
	return out
}

// Offset returns the byte offset at which reading continues.
func (r *Reader) Offset() int { return r.pos }

// Remaining returns the number of bytes that are still to be read.
func (r *Reader) Remaining() int { return len(r.data) - r.pos }

// Text returns the input between two offsets.
func (r *Reader) Text(from, to int) string { return r.data[from:to] }

// valuePath returns the path of the value that was read last, or is read next: "input.metadata.labels.x", "tags[2]".
// After the last member or element, it is the path of the object or array. Names longer than 128 bytes are cut.
func (r *Reader) valuePath() string { return r.path(r.origin, len(r.frames)) }

// End reports a fault where anything but white space follows the value.
func (r *Reader) End() {
	r.peek()
	if r.pos < len(r.data) {
		r.malformed("something follows the JSON value")
	}
}

// peek skips white space and returns the next byte, or 0 at the end. It is small enough to be inlined.
func (r *Reader) peek() byte {
	if r.pos < len(r.data) {
		if c := r.data[r.pos]; c > ' ' {
			return c
		}
	}
	return r.peekPastSpace()
}

func (r *Reader) peekPastSpace() byte {
	for ; r.pos < len(r.data); r.pos++ {
		switch c := r.data[r.pos]; c {
		case ' ', '\n', '\r', '\t':
		default:
			return c
		}
	}
	return 0
}

// Kind returns the kind of the next value: string, number, boolean, object, array or null. It returns the empty
// string where no value begins.
func (r *Reader) Kind() string {
	switch c := r.peek(); c {
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "array"
	case 't', 'f':
		return "boolean"
	case 'n':
		return "null"
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return "number"
	default:
		return ""
	}
}

// AtNull reports whether the value that was reached may be null.
func (r *Reader) AtNull() bool { return r.pos < len(r.data) && r.data[r.pos] == 'n' }

// Null reads the next value if it is null.
func (r *Reader) Null() bool { return r.peek() == 'n' && r.literal("null") }

// literal reads true, false or null, of which the first byte is known.
func (r *Reader) literal(literal string) bool {
	if !strings.HasPrefix(r.data[r.pos:], literal) {
		r.noValue()
		return false
	}
	r.from, r.to = r.pos, r.pos+len(literal)
	r.pos = r.to
	return true
}
