package wire

import (
	"encoding/json"
	"strconv"
)

// maxSafe is the largest integer that a float64 holds along with all smaller ones (MCP-AQL core §4.7.3).
const maxSafe = 1<<53 - 1

// Any reads a value of any kind: nil, bool, string, float64, []any or map[string]any. An integer that a float64 would
// round comes as a json.Number.
func (r *Reader) Any() (any, bool) {
	switch r.Kind() {
	case "object":
		if !r.open(true) {
			return nil, false
		}
		members := make(map[string]any)
		ok := true
		for r.Next() {
			name := r.Name()
			v, valid := r.Any()
			members[name], ok = v, ok && valid
		}
		return members, ok && r.fault == nil
	case "array":
		if !r.open(false) {
			return nil, false
		}
		elements := []any{}
		ok := true
		for r.NextElement() {
			v, valid := r.Any()
			elements, ok = append(elements, v), ok && valid
		}
		return elements, ok && r.fault == nil
	case "string":
		return r.text()
	case "boolean":
		return r.boolean()
	case "number":
		return r.anyNumber()
	default:
		return nil, r.Null() || r.noValue()
	}
}

func (r *Reader) noValue() bool {
	r.malformed("expected a JSON value")
	return false
}

func (r *Reader) anyNumber() (any, bool) {
	text, ok := r.number()
	if !ok {
		return nil, false
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return nil, r.broken("maximum", "1.7976931348623157e308")
	}
	if v > maxSafe || v < -maxSafe {
		unsigned := text
		if unsigned[0] == '-' {
			unsigned = unsigned[1:]
		}
		if digits(unsigned, 0) == len(unsigned) {
			return json.Number(text), true
		}
	}
	return v, true
}

// MergeAny merges the value ahead onto dst as a JSON Merge Patch (RFC 7396) and returns the result. dst is not changed.
func (r *Reader) MergeAny(dst any) any {
	if r.Kind() != "object" {
		v, _ := r.Any()
		return v
	}
	merged := make(map[string]any)
	if object, ok := dst.(map[string]any); ok {
		for name, value := range object {
			merged[name] = value
		}
	}
	if r.open(true) {
		for r.Next() {
			name := r.Name()
			if r.Null() {
				delete(merged, name)
			} else {
				merged[name] = r.MergeAny(merged[name])
			}
		}
	}
	return merged
}
