package wire

import (
	"encoding/json"
	"maps"
	"strconv"
)

// MaxSafeInteger is the largest integer up to which a float64 holds every integer exactly (MCP-AQL core §4.7.3).
const MaxSafeInteger = 1<<53 - 1

// Any reads a value of any kind: nil, bool, string, float64, []any or map[string]any. A number that a float64 would
// round is a json.Number: the shortest text of the float64 is another number. ok is false after a fault, and where a
// number is too large for a float64, which is a problem.
func (r *Reader) Any() (v any, ok bool) {
	switch c := r.peek(); c {
	case '{':
		return r.anyObject()
	case '[':
		return r.anyArray()
	case '"':
		return boxed(r.text(retains))
	case 't':
		return boxed(true, r.literal("true"))
	case 'f':
		return boxed(false, r.literal("false"))
	case 'n':
		return nil, r.literal("null")
	default:
		if isNumber(c) {
			return r.anyNumber()
		}
		r.noValue()
		return nil, false
	}
}

// boxed returns v, or nil if ok is false.
func boxed[T any](v T, ok bool) (any, bool) {
	if !ok {
		return nil, false
	}
	return v, true
}

func (r *Reader) anyObject() (any, bool) {
	members, sound := make(map[string]any), true
	if r.open(true) {
		for r.Next() {
			name := r.Name()
			v, ok := r.Any()
			members[r.Retain(name)], sound = v, sound && ok
		}
	}
	return boxed(members, sound && r.fault == nil)
}

func (r *Reader) anyArray() (any, bool) {
	elements, sound := []any{}, true
	if r.open(false) {
		for r.NextElement() {
			v, ok := r.Any()
			elements, sound = append(elements, v), sound && ok
		}
	}
	return boxed(elements, sound && r.fault == nil)
}

// anyNumber reads a number as a float64, or as a json.Number where the float64 is another number.
func (r *Reader) anyNumber() (any, bool) {
	if v, ok := r.shortDecimal(); ok {
		return v, true
	}
	text, ok := r.number()
	if !ok {
		return nil, false
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, r.beyond(v < 0, 64)
	}
	const longest = 24 // bytes that FormatFloat needs
	var spelled [longest]byte
	if parseDecimal(text).Compare(parseDecimal(string(strconv.AppendFloat(spelled[:0], v, 'g', -1, 64)))) != 0 {
		return json.Number(r.Retain(text)), true
	}
	return v, true
}

// MergeAny applies the next value as a JSON Merge Patch (RFC 7396) to dst and returns the result. It does not change
// dst. The result shares with dst what the patch does not change.
func (r *Reader) MergeAny(dst any) any {
	if r.peek() != '{' {
		v, _ := r.Any()
		return v
	}
	object, _ := dst.(map[string]any)
	merged := maps.Clone(object)
	if merged == nil {
		merged = make(map[string]any)
	}
	if r.open(true) {
		for r.Next() {
			name := r.Name()
			if r.Null() {
				delete(merged, name)
			} else {
				merged[r.Retain(name)] = r.MergeAny(merged[name])
			}
		}
	}
	return merged
}
