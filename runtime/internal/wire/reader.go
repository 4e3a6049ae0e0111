// Package wire reads and writes JSON at the level of bytes: strictly, in one pass, and without reflection. Generated
// decoders and encoders are made of it.
//
// A Reader refuses what most JSON decoders let through: duplicate names, invalid UTF-8, lone surrogates, NUL, bytes after
// the value, and anything beyond its limits (MCP-AQL core §4.7). Such faults end the reading. What is well-formed but not
// what the program asked for, such as a number where a string was expected, is collected as a Problem, and reading goes on.
package wire

import (
	"strings"
	"unicode/utf8"
	"unsafe"
)

// Limits bounds what a Reader accepts (MCP-AQL core §4.7.5). A zero field means no bound.
type Limits struct {
	MaxStringLength  int // bytes of a string or name, after unescaping
	MaxArrayElements int
	MaxDepth         int // levels of objects and arrays; one that is the root is level 1
}

// absoluteDepth bounds the nesting of text that has no limit of its own, so that recursion stays bounded.
const absoluteDepth = 10_000

// Reader reads one JSON value. Its methods must be called as the value's structure demands: Object, then Next until it
// returns false, reading one value after each. The zero Reader reads nothing; call Reset.
//
// Strings that a Reader returns share the memory of its input, or, where they had escapes or the input is long, that of each
// other, a few KiB at a time. A Reader that was Reset keeps nothing of an earlier input alive.
type Reader struct {
	data       string // what is read
	retained   string // the same text in memory that may be kept
	ownBytes   []byte // the memory of kept, where strings are unescaped in place; nil: the arena is for that
	preserving bool   // kept must stay as it is
	pos        int
	from, to   int // the last scalar or name read, for problems
	fault      *Fault
	frames     []frame
	name       string   // of the member that was begun last
	names      []string // names read so far in each open object, so that one that repeats is found
	limits     Limits
	prefix     string
	origin     int // frames that the paths of problems leave out
	problems   []Problem
	reported   [stages]int           // problems of each stage
	arena      []byte                // strings that had escapes
	sets       []map[string]struct{} // of open objects with many names
	spare      map[string]struct{}   // an empty set for the next object with many names
	strings    []string              // of the array that Strings is reading
}

// frame is an object or array that is open. It holds no pointers, so that opening and closing one costs little.
type frame struct {
	count  int    // members or elements begun
	nameAt int    // offset of the current member's name
	first  int    // index in Reader.names of the object's first name
	seen   uint64 // fingerprints of the names so far
	set    int32  // number of its set in Reader.sets, from 1 on
	object bool
}

// NewReader returns a Reader of data.
func NewReader(data string, limits Limits) *Reader {
	r := new(Reader)
	r.Reset(data, limits)
	return r
}

// Reset makes r read data from its beginning, forgetting everything but its memory. A Problem or Fault that was returned
// earlier must not be used any more.
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
	r.retained, r.ownBytes, r.preserving, r.arena = data, nil, false, nil // what was read may still be in use
	if !utf8.ValidString(data) {
		r.invalidUTF8()
	}
}

// ResetBytes is Reset for an input that belongs to somebody else. It must not change while it is read; what is read from it
// has memory of its own: one copy for all strings, or, where the input is long, a few KiB at a time. What Text, Raw and
// Member return does not.
func (r *Reader) ResetBytes(input []byte, limits Limits) {
	r.Reset(unsafe.String(unsafe.SliceData(input), len(input)), limits)
	if len(input) <= longInput {
		r.ownBytes = append([]byte(nil), input...)
		r.retained = unsafe.String(unsafe.SliceData(r.ownBytes), len(r.ownBytes))
	}
}

// Preserve makes the text that is read from here on stay as it is, until it is called with false: strings with escapes get
// memory of their own.
func (r *Reader) Preserve(on bool) { r.preserving = on }

// RetainText returns the input between two offsets, which was read under Preserve, in memory that may be kept.
func (r *Reader) RetainText(from, to int) string {
	if len(r.data) > longInput {
		return strings.Clone(r.data[from:to])
	}
	return r.retained[from:to]
}

// SetPath says where the value stands, for the paths of problems: "input". The empty path is the root.
func (r *Reader) SetPath(prefix string) { r.prefix = prefix }

// SetOrigin makes the objects and arrays that are open now no part of the paths of problems, which then begin at the value
// ahead. Faults name the whole way.
func (r *Reader) SetOrigin() { r.origin = len(r.frames) }

// TakeProblems appends the problems so far to out and forgets them.
func (r *Reader) TakeProblems(out []Problem) []Problem {
	if len(r.problems) > 0 {
		out = append(out, r.problems...)
		clear(r.problems)
		r.problems, r.reported = r.problems[:0], [stages]int{}
	}
	return out
}

// Offset is the byte offset at which reading continues.
func (r *Reader) Offset() int { return r.pos }

// Remaining is the number of bytes that were not read yet.
func (r *Reader) Remaining() int { return len(r.data) - r.pos }

// Text returns the input between two offsets.
func (r *Reader) Text(from, to int) string { return r.data[from:to] }

// valuePath names the value that was read last, or is about to be read: "input.metadata.labels.x", "tags[2]". When the loop
// over an object or array has ended, that is the object or array itself. Member names longer than 128 bytes are cut.
func (r *Reader) valuePath() string { return r.path(r.origin, len(r.frames)) }

// End reports a fault if anything but white space follows the value.
func (r *Reader) End() {
	r.peek()
	if r.pos < len(r.data) {
		r.malformed("something follows the JSON value")
	}
}

// ahead skips white space and returns the byte that follows, or 0 at the end. It stays small enough to be inlined.
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

// Kind returns the JSON name of the kind of the value ahead: string, number, boolean, object, array or null; the empty
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

// Null reads the value ahead if it is null.
func (r *Reader) Null() bool { return r.peek() == 'n' && r.literal("null") }

// word reads a literal whose first byte has been seen.
func (r *Reader) literal(literal string) bool {
	if !strings.HasPrefix(r.data[r.pos:], literal) {
		r.noValue()
		return false
	}
	r.from, r.to = r.pos, r.pos+len(literal)
	r.pos = r.to
	return true
}
