package wire

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// FaultKind is a kind of fault.
type FaultKind int

// The kinds of faults.
const (
	Malformed       FaultKind = iota // not JSON
	InvalidUTF8                      // invalid UTF-8, or an escape that is half a surrogate pair
	NUL                              // U+0000 in a string
	DuplicateName                    // the same name twice in one object
	TooDeep                          // nested deeper than the limit
	StringTooLong                    // a string or name longer than the limit
	TooManyElements                  // an array longer than the limit
)

// Fault is what is wrong with the bytes of the input. It ends the reading.
type Fault struct {
	Kind     FaultKind
	Offset   int    // bytes from the beginning of the input
	Location string // path of the value, such as params.tags[2]; empty at the root, and for bytes that are not UTF-8
	Limit    int    // the limit that was exceeded, in bytes, elements or levels
	Actual   int    // the length of the string in bytes, or the first element or level beyond the limit
	Name     string // the name that is a duplicate
	Detail   string // a sentence for people, which contains nothing of the input
}

// Error describes the fault.
func (f *Fault) Error() string { return f.Detail + " (byte " + strconv.Itoa(f.Offset) + ")" }

// Fault returns the first fault, or nil. After a fault, methods that read return zero values, and Next and
// NextElement return false.
func (r *Reader) Fault() *Fault { return r.fault }

// OK reports whether there is neither a fault nor a problem so far.
func (r *Reader) OK() bool { return r.fault == nil && len(r.problems) == 0 }

// fail makes f the fault, unless there is one, and ends the reading.
//
//go:noinline
func (r *Reader) fail(f Fault) {
	if r.fault != nil {
		return
	}
	f.Offset, f.Location = r.pos, r.path(0, len(r.frames))
	f.Name = strings.Clone(f.Name)
	r.fault = &f
	r.pos = len(r.data)
}

// malformed is the fault of bytes that are not JSON, or of an input that is cut off.
//
//go:noinline
func (r *Reader) malformed(detail string) {
	if r.pos >= len(r.data) {
		detail = "the JSON value is cut off"
	}
	r.fail(Fault{Kind: Malformed, Detail: detail})
}

// noValue is the fault of a byte that begins no JSON value.
//
//go:noinline
func (r *Reader) noValue() { r.malformed("expected a JSON value") }

//go:noinline
func (r *Reader) tooDeep(depth int) {
	limit := r.limits.MaxDepth
	if limit == 0 {
		limit = absoluteDepth
	}
	r.fail(Fault{Kind: TooDeep, Limit: limit, Actual: depth, Detail: "the value is nested too deeply"})
}

//go:noinline
func (r *Reader) tooLong(length int) (string, bool) {
	r.fail(Fault{Kind: StringTooLong, Limit: r.limits.MaxStringLength, Actual: length, Detail: "a string is too long"})
	return "", false
}

// locateObject corrects the location of a fault in a name: it is the object, not the member before.
//
//go:noinline
func (r *Reader) locateObject() { r.fault.Location = r.path(0, len(r.frames)-1) }

//go:noinline
func (r *Reader) invalidUTF8() {
	for i := 0; i < len(r.data); {
		char, size := utf8.DecodeRuneInString(r.data[i:])
		if char == utf8.RuneError && size == 1 {
			r.pos = i
			break
		}
		i += size
	}
	r.fail(Fault{Kind: InvalidUTF8, Detail: "the bytes are not UTF-8"})
}

// maxPathSegment is the length up to which a path has member names in full, in bytes. There is a path for each
// problem, so that a long name would take its length for each problem below it.
const maxPathSegment = 128

// path returns the path through the frames with indexes from from to to-1.
//
//go:noinline
func (r *Reader) path(from, to int) string {
	var path strings.Builder
	path.WriteString(r.prefix)
	for _, f := range r.frames[min(from, to):to] {
		switch {
		case f.count == 0:
		case !f.object:
			path.WriteByte('[')
			path.WriteString(strconv.Itoa(f.count - 1))
			path.WriteByte(']')
		default:
			if path.Len() > 0 {
				path.WriteByte('.')
			}
			r.writeSegment(&path, f.nameAt)
		}
	}
	return path.String()
}

// writeSegment writes the name at an offset, which has been read before, and cuts a long one.
func (r *Reader) writeSegment(path *strings.Builder, at int) {
	end := path.Len() + maxPathSegment
	for i := at + 1; i < len(r.data) && r.data[i] != '"'; {
		char, size := utf8.DecodeRuneInString(r.data[i:])
		if char == '\\' {
			char, size = r.escape(i)
		}
		if path.Len()+utf8.RuneLen(char) > end {
			path.WriteString("…")
			return
		}
		path.WriteRune(char)
		i += size
	}
}

// join appends a member's name in full to the path of its object.
func join(path, name string) string {
	if path == "" {
		return strings.Clone(name)
	}
	return path + "." + name
}
