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
)

// Limits bounds what a Reader accepts (MCP-AQL core §4.7.5). A zero field means no bound.
type Limits struct {
	MaxStringLength  int // bytes of a string or name, after unescaping
	MaxArrayElements int
	MaxDepth         int // levels; a value that is the root is level 1
}

// absoluteDepth bounds the nesting of text that has no limit of its own, so that recursion stays bounded.
const absoluteDepth = 10_000

// Reader reads one JSON value. Its methods must be called as the value's structure demands: Object, then Next until it
// returns false, reading one value after each. The zero Reader reads nothing; call Reset.
//
// Strings without escapes that a Reader returns share the memory of its input.
type Reader struct {
	data     string
	pos      int
	limits   Limits
	base     int // levels above the value
	prefix   string
	frames   []frame
	names    []string // names read so far in each open object, for finding duplicates
	problems []Problem
	fault    *Fault
	from, to int // the last scalar read, for problems
}

// frame is an object or array that is open.
type frame struct {
	object bool
	count  int    // members or elements begun
	name   string // of the current member
	first  int    // index in names of the object's first name
	set    map[string]struct{}
}

// manyNames is where a set takes over from comparing names one by one.
const manyNames = 32

// NewReader returns a Reader of data.
func NewReader(data string, limits Limits) *Reader {
	r := new(Reader)
	r.Reset(data, limits)
	return r
}

// Reset makes r read data from its beginning, forgetting everything but its memory.
func (r *Reader) Reset(data string, limits Limits) {
	for i := range r.frames {
		r.frames[i] = frame{}
	}
	clear(r.names)
	clear(r.problems)
	*r = Reader{data: data, limits: limits, frames: r.frames[:0], names: r.names[:0], problems: r.problems[:0]}
	if !utf8.ValidString(data) {
		r.invalidUTF8()
	}
}

// SetPath says where the value stands, for the paths of problems: "input". The empty path is the root.
func (r *Reader) SetPath(prefix string) { r.prefix = prefix }

// SetDepth says how many levels are above the value.
func (r *Reader) SetDepth(levels int) { r.base = levels }

// Offset is the byte offset at which reading continues.
func (r *Reader) Offset() int { return r.pos }

// Text returns the input between two offsets.
func (r *Reader) Text(from, to int) string { return r.data[from:to] }

// Path names the value that was read last, or is about to be read: "input.metadata.labels.x", "tags[2]".
func (r *Reader) Path() string { return r.pathTo(len(r.frames)) }

// End reports a fault if anything but white space follows the value.
func (r *Reader) End() {
	r.space()
	if r.pos < len(r.data) {
		r.malformed("something follows the JSON value")
	}
}

// space skips white space.
func (r *Reader) space() {
	for r.pos < len(r.data) {
		switch r.data[r.pos] {
		case ' ', '\n', '\r', '\t':
			r.pos++
		default:
			return
		}
	}
}

// Kind returns the JSON name of the kind of the value ahead: string, number, boolean, object, array or null; the empty
// string where no value begins.
func (r *Reader) Kind() string {
	r.space()
	if r.pos >= len(r.data) {
		return ""
	}
	switch c := r.data[r.pos]; c {
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
	default:
		if c == '-' || '0' <= c && c <= '9' {
			return "number"
		}
		return ""
	}
}

// Object begins an object. When the value ahead is something else, that is a problem; the value is skipped.
func (r *Reader) Object() bool {
	r.space()
	if r.pos >= len(r.data) || r.data[r.pos] != '{' {
		r.mismatch("object")
		return false
	}
	return r.open(true)
}

// Array begins an array. When the value ahead is something else, that is a problem; the value is skipped.
func (r *Reader) Array() bool {
	r.space()
	if r.pos >= len(r.data) || r.data[r.pos] != '[' {
		r.mismatch("array")
		return false
	}
	return r.open(false)
}

func (r *Reader) open(object bool) bool {
	depth := r.base + len(r.frames) + 1
	if r.limits.MaxDepth > 0 && depth > r.limits.MaxDepth || depth > absoluteDepth {
		r.fail(Fault{Kind: TooDeep, Limit: r.limits.MaxDepth, Actual: depth, Detail: "the value is nested too deeply"})
		return false
	}
	r.pos++
	r.frames = append(r.frames, frame{object: object, first: len(r.names)})
	return true
}

func (r *Reader) close() {
	top := len(r.frames) - 1
	r.names = r.names[:r.frames[top].first]
	r.frames[top] = frame{}
	r.frames = r.frames[:top]
	r.pos++
}

// Next moves to the next member of the object and reads its name. It returns false after the last one, when the object
// is closed.
func (r *Reader) Next() bool {
	if r.fault != nil {
		return false
	}
	f := &r.frames[len(r.frames)-1]
	r.space()
	if r.pos < len(r.data) && r.data[r.pos] == '}' {
		r.close()
		return false
	}
	if f.count > 0 {
		if r.pos >= len(r.data) || r.data[r.pos] != ',' {
			r.malformed("expected ',' or '}' after a member of an object")
			return false
		}
		r.pos++
		r.space()
	}
	if r.pos >= len(r.data) || r.data[r.pos] != '"' {
		r.malformed("expected a name in double quotes")
		return false
	}
	start := r.pos
	name, ok := r.text()
	if !ok {
		return false
	}
	f.name = name
	f.count++
	if r.duplicate(f, name) {
		r.pos = start
		r.fail(Fault{Kind: DuplicateName, Name: name, Detail: "a name stands twice in one object"})
		return false
	}
	r.space()
	if r.pos >= len(r.data) || r.data[r.pos] != ':' {
		r.malformed("expected ':' after a name")
		return false
	}
	r.pos++
	r.space()
	return true
}

// duplicate takes note of a name and reports whether the object had it before.
func (r *Reader) duplicate(f *frame, name string) bool {
	if f.set != nil {
		_, found := f.set[name]
		f.set[name] = struct{}{}
		return found
	}
	for _, earlier := range r.names[f.first:] {
		if earlier == name {
			return true
		}
	}
	r.names = append(r.names, name)
	if len(r.names)-f.first > manyNames {
		f.set = make(map[string]struct{}, 2*manyNames)
		for _, earlier := range r.names[f.first:] {
			f.set[earlier] = struct{}{}
		}
		r.names = r.names[:f.first]
	}
	return false
}

// Name is the name of the current member.
func (r *Reader) Name() string {
	if len(r.frames) == 0 {
		return ""
	}
	return r.frames[len(r.frames)-1].name
}

// NextElement moves to the next element of the array. It returns false after the last one, when the array is closed.
func (r *Reader) NextElement() bool {
	if r.fault != nil {
		return false
	}
	f := &r.frames[len(r.frames)-1]
	r.space()
	if r.pos < len(r.data) && r.data[r.pos] == ']' {
		r.close()
		return false
	}
	if f.count > 0 {
		if r.pos >= len(r.data) || r.data[r.pos] != ',' {
			r.malformed("expected ',' or ']' after an element of an array")
			return false
		}
		r.pos++
		r.space()
	}
	f.count++
	if r.limits.MaxArrayElements > 0 && f.count > r.limits.MaxArrayElements {
		r.fail(Fault{Kind: TooManyElements, Limit: r.limits.MaxArrayElements, Actual: f.count, Detail: "an array has too many elements"})
		return false
	}
	return true
}

// Null reads the value ahead if it is null.
func (r *Reader) Null() bool {
	r.space()
	if r.pos >= len(r.data) || r.data[r.pos] != 'n' {
		return false
	}
	return r.word("null")
}

// word reads a literal.
func (r *Reader) word(literal string) bool {
	if !strings.HasPrefix(r.data[r.pos:], literal) {
		r.malformed("expected a JSON value")
		return false
	}
	r.from, r.to = r.pos, r.pos+len(literal)
	r.pos = r.to
	return true
}

// Skip reads the value ahead, checks it as strictly as any other, and forgets it.
func (r *Reader) Skip() {
	switch r.Kind() {
	case "object":
		if r.open(true) {
			for r.Next() {
				r.Skip()
			}
		}
	case "array":
		if r.open(false) {
			for r.NextElement() {
				r.Skip()
			}
		}
	case "string":
		r.text()
	case "number":
		r.number()
	case "boolean":
		r.boolean()
	case "null":
		r.word("null")
	default:
		r.malformed("expected a JSON value")
	}
}

// Raw reads the value ahead and returns its text.
func (r *Reader) Raw() string {
	r.space()
	start := r.pos
	r.Skip()
	if r.fault != nil {
		return ""
	}
	return r.data[start:r.pos]
}
