package compat

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
)

// relation is how the values that a new definition allows lie to those of the old one.
type relation int

const (
	same relation = iota
	wider
	narrower
	other
)

// grade is the class of a change of what is allowed. What an adapter accepts may grow and what it answers may shrink; the
// other way round breaks agents, except that answers which merely hold more are notable where wide says so.
func (p place) grade(r relation, wide Class) Class {
	switch {
	case r == other:
		return Breaking
	case p.result == (r == narrower):
		return Compatible
	case p.result:
		return wide
	default:
		return Breaking
	}
}

// normalize writes "T[]" as an array of T, so that both spellings compare alike.
func (v *value) normalize() {
	if element, list := strings.CutSuffix(v.Type, "[]"); list && !strings.Contains(v.Type, "|") && v.Items == nil && len(v.Type) < 2*deepest {
		v.Type, v.Items = "array", &value{Type: element}
	}
}

// alternatives are the types that a type expression stands for, without unions: "a | b" and the members of union types. Enum
// types count as strings; their values are compared as values.
func (s *Snapshot) alternatives(expression string) []named {
	var out []named
	seen := make(map[string]bool)
	var add func(name string)
	add = func(name string) {
		for part := range strings.SplitSeq(name, "|") {
			part = strings.TrimSpace(part)
			if seen[part] {
				continue
			}
			seen[part] = true
			switch t := s.types[part]; {
			case t != nil && t.Kind == "union":
				for _, member := range t.Members {
					add(member)
				}
			case t != nil && t.Kind == "enum":
				add("string")
			default:
				out = append(out, named{part, s})
			}
		}
	}
	add(expression)
	return out
}

// named is a type expression without alternatives, as a snapshot understands it.
type named struct {
	name string
	of   *Snapshot
}

func (n named) kind() string {
	if t := n.of.types[n.name]; t != nil {
		return t.Kind
	}
	return ""
}

// includes reports whether every value of the inner type is one of the outer.
func (n named) includes(inner named) bool {
	switch {
	case n.name == inner.name:
		return n.kind() == inner.kind() || n.kind() == "" || inner.kind() == ""
	case n.name == "any", n.name == "number" && inner.name == "integer":
		return true
	case n.name == "object":
		return inner.kind() == "object"
	case n.name == "array":
		return strings.HasSuffix(inner.name, "[]")
	}
	return false
}

// related tells how a new type expression lies to an old one.
func (c *comparison) related(old, new string) relation {
	before, after := c.old.alternatives(old), c.new.alternatives(new)
	grows, shrinks := within(before, after), within(after, before)
	switch {
	case grows && shrinks:
		return same
	case grows:
		return wider
	case shrinks:
		return narrower
	default:
		return other
	}
}

// within reports whether every inner type is part of an outer one.
func within(inner, outer []named) bool {
	for _, i := range inner {
		if !slices.ContainsFunc(outer, func(o named) bool { return o.includes(i) }) {
			return false
		}
	}
	return true
}

// covers reports whether a list holds all of another, which must hold something.
func covers(outer, inner []string) bool {
	for _, i := range inner {
		if !slices.Contains(outer, i) {
			return false
		}
	}
	return len(inner) > 0
}

// compareNumbers compares two JSON numbers of any size. What is no number is less than every number.
func compareNumbers(a, b json.RawMessage) int {
	x, y := exact(a), exact(b)
	switch {
	case x == nil && y == nil:
		return strings.Compare(string(a), string(b))
	case x == nil:
		return -1
	case y == nil:
		return 1
	}
	return x.Cmp(y)
}

// exact reads a number with far more digits than a float64 has, and in bounded time, whatever its exponent.
func exact(text json.RawMessage) *big.Float {
	f, _, err := big.ParseFloat(string(text), 10, 512, big.ToNearestEven)
	if err != nil {
		return nil
	}
	return f
}
