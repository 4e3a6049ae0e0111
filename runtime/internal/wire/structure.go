package wire

import (
	"slices"
	"strings"
)

// Object begins an object. Where the next value is something else, it reports a problem, skips the value and returns
// false.
func (r *Reader) Object() bool {
	if r.peek() != '{' {
		r.mismatch("object")
		return false
	}
	return r.open(true)
}

// Array begins an array. Where the next value is something else, it reports a problem, skips the value and returns
// false.
func (r *Reader) Array() bool {
	if r.peek() != '[' {
		r.mismatch("array")
		return false
	}
	return r.open(false)
}

// open begins the object or array at pos.
func (r *Reader) open(object bool) bool {
	depth := len(r.frames) + 1
	if r.limits.MaxDepth > 0 && depth > r.limits.MaxDepth || depth > absoluteDepth {
		r.tooDeep(depth)
		return false
	}
	r.pos++
	if depth > cap(r.frames) {
		r.frames = slices.Grow(r.frames, depth)
	}
	r.frames = r.frames[:depth]
	r.frames[depth-1] = frame{object: object, first: len(r.names)}
	return true
}

// close ends the object or array whose closing bracket is at pos.
func (r *Reader) close() {
	top := len(r.frames) - 1
	f := &r.frames[top]
	if f.first < len(r.names) {
		clear(r.names[f.first:])
		r.names = r.names[:f.first]
	}
	if f.set > 0 {
		r.releaseSet()
	}
	r.frames = r.frames[:top]
	r.pos++
}

// Next moves to the next member of the object and reads its name. After the last member it ends the object and
// returns false. A duplicate name is a fault.
func (r *Reader) Next() bool { return r.NextUnchecked() && r.CheckDuplicate() }

// NextUnchecked is Next without the check for duplicate names. The caller must find duplicates of the names that it
// knows, and report them with Duplicate. For every other name it must call CheckDuplicate.
func (r *Reader) NextUnchecked() bool {
	_, more := r.NextExpected("")
	return more
}

// NextExpected is NextUnchecked for a caller that expects a certain name. expected is that name with a comma, quotes
// and a colon, or empty. found reports whether the member has that name, which is then read faster.
func (r *Reader) NextExpected(expected string) (found, more bool) {
	if r.fault != nil || len(r.frames) == 0 {
		return false, false
	}
	f := &r.frames[len(r.frames)-1]
	if expected != "" {
		comma := 1
		if f.count == 0 {
			expected, comma = expected[1:], 0
		}
		if strings.HasPrefix(r.data[r.pos:], expected) {
			r.readExpected(f, r.pos+comma, len(expected)-comma)
			r.peek()
			return true, true
		}
		expected = expected[comma:]
	}
	c := r.peek()
	if c == '}' {
		r.close()
		return false, false
	}
	if f.count > 0 {
		if c != ',' {
			r.malformed("expected ',' or '}' after a member of an object")
			return false, false
		}
		r.pos++
		c = r.peek()
	}
	if c != '"' {
		r.malformed("expected a name in double quotes")
		r.locateObject()
		return false, false
	}
	start := r.pos
	if expected != "" && strings.HasPrefix(r.data[start:], expected) {
		r.readExpected(f, start, len(expected))
		r.peek()
		return true, true
	}
	name, ok := r.text(borrows)
	if !ok {
		r.locateObject()
		return false, false
	}
	r.name, f.nameAt = name, start
	f.count++
	if r.peek() != ':' {
		r.malformed("expected ':' after a name")
		return false, false
	}
	r.pos++
	r.peek()
	return false, true
}

// readExpected reads the name of a member of f, which with quotes and colon has a known length.
func (r *Reader) readExpected(f *frame, start, length int) {
	r.pos = start + length
	r.name, f.nameAt = r.retained[start+1:r.pos-2], start
	f.count++
}

// CheckDuplicate checks that the object has not had the current name before. A duplicate is a fault, and the result
// is false.
func (r *Reader) CheckDuplicate() bool {
	if r.duplicate(&r.frames[len(r.frames)-1], r.name) {
		r.Duplicate(r.name)
		return false
	}
	return true
}

// Duplicate reports a fault: the object has had the current member before, under this name or another one for it.
//
//go:noinline
func (r *Reader) Duplicate(name string) {
	r.pos = r.frames[len(r.frames)-1].nameAt
	r.fail(Fault{Kind: DuplicateName, Name: name, Detail: "a name stands twice in one object"})
}

// Name returns the name of the current member. It must be called before the member's value is read.
func (r *Reader) Name() string { return r.name }

// LastMember returns the name of the member whose value was just read, and the text of that value.
func (r *Reader) LastMember() (name, text string) {
	if r.fault != nil || len(r.frames) == 0 {
		return "", ""
	}
	pos, from, to := r.pos, r.from, r.to
	r.pos = r.frames[len(r.frames)-1].nameAt
	name, _ = r.text(borrows)
	r.peek()
	r.pos++
	r.peek()
	text = r.data[r.pos:pos]
	r.pos, r.from, r.to = pos, from, to
	return name, text
}

// NextElement moves to the next element of the array. After the last one it ends the array and returns false.
func (r *Reader) NextElement() bool {
	if r.fault != nil || len(r.frames) == 0 {
		return false
	}
	f := &r.frames[len(r.frames)-1]
	c := r.peek()
	if c == ']' {
		r.close()
		return false
	}
	if f.count > 0 {
		if c != ',' {
			r.malformed("expected ',' or ']' after an element of an array")
			return false
		}
		r.pos++
		r.peek()
	}
	f.count++
	if r.limits.MaxArrayElements > 0 && f.count > r.limits.MaxArrayElements {
		limit := r.limits.MaxArrayElements
		r.fail(Fault{Kind: TooManyElements, Limit: limit, Actual: f.count, Detail: "an array has too many elements"})
		return false
	}
	return true
}

// manyNames is the number of names above which an object gets a set of its names. Up to it, names are compared one by
// one.
const manyNames = 32

// duplicate adds a name to those of the object and reports whether the object had it before.
func (r *Reader) duplicate(f *frame, name string) bool {
	if f.set > 0 {
		set := r.sets[f.set-1]
		before := len(set)
		set[name] = struct{}{}
		return len(set) == before
	}
	mark := fingerprint(name)
	if f.seen&mark != 0 {
		for _, earlier := range r.names[f.first:] {
			if earlier == name {
				return true
			}
		}
	}
	f.seen |= mark
	r.names = append(r.names, name)
	if len(r.names)-f.first > manyNames {
		r.moveToSet(f)
	}
	return false
}

// fingerprint returns one bit of 64. Names with different fingerprints are different.
func fingerprint(name string) uint64 {
	n := uint32(len(name))
	if n == 0 {
		return 1
	}
	h := n ^ uint32(name[0])<<8 ^ uint32(name[n-1])<<16 ^ uint32(name[n/2])<<24
	return 1 << (h * 0x9e3779b1 >> 26)
}

// moveToSet moves the names of an object into a set.
//
//go:noinline
func (r *Reader) moveToSet(f *frame) {
	set := r.spare
	r.spare = nil
	if set == nil {
		set = make(map[string]struct{}, 4*manyNames)
	}
	names := r.names[f.first:]
	for _, name := range names {
		set[name] = struct{}{}
	}
	clear(names)
	r.names = r.names[:f.first]
	r.sets = append(r.sets, set)
	f.set = int32(len(r.sets))
}

// maxReusedSet is the size up to which a set is reused. Clearing a larger one would take longer than making a new one.
const maxReusedSet = 1024

// releaseSet removes the set of the object that ends, and empties it for reuse.
//
//go:noinline
func (r *Reader) releaseSet() {
	top := len(r.sets) - 1
	set := r.sets[top]
	r.sets[top], r.sets = nil, r.sets[:top]
	if len(set) <= maxReusedSet {
		clear(set)
		r.spare = set
	}
}
