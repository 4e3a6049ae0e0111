package compat

import (
	"encoding/json"
	"math/big"
	"slices"
	"strings"
)

// relation compares the values that a new definition allows with those that the old one allowed.
type relation int

const (
	same relation = iota
	wider
	narrower
	other
)

// class returns the class of a change of the values that are allowed. An adapter may accept more and answer less. To
// accept less breaks agents, and so does to answer more, unless wide is a milder class for that.
func (p place) class(r relation, wide Class) Class {
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

// normalize turns the type "T[]" into an array of T, so that the two spellings are equal.
func (v *value) normalize() {
	element, list := strings.CutSuffix(v.Type, "[]")
	if list && !strings.Contains(v.Type, "|") && v.Items == nil && len(v.Type) < 2*maxDepth {
		v.Type, v.Items = "array", &value{Type: element}
	}
}

// alternatives returns the types in a type expression, with "a | b" and union types resolved. Enum types count as
// strings, because their values are compared apart.
func (s *Snapshot) alternatives(expression string) []alternative {
	var out []alternative
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
				out = append(out, alternative{part, s})
			}
		}
	}
	add(expression)
	return out
}

// alternative is a type expression without alternatives, as a snapshot understands it.
type alternative struct {
	name string
	of   *Snapshot
}

func (n alternative) kind() string {
	if t := n.of.types[n.name]; t != nil {
		return t.Kind
	}
	return ""
}

// includes reports whether every value of the inner type is one of this type.
func (n alternative) includes(inner alternative) bool {
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

// relation compares a new type expression with an old one.
func (c *comparison) relation(before, after string) relation {
	inner, outer := c.before.alternatives(before), c.after.alternatives(after)
	grows, shrinks := within(inner, outer), within(outer, inner)
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

// within reports whether every inner type is included in an outer one.
func within(inner, outer []alternative) bool {
	for _, i := range inner {
		if !slices.ContainsFunc(outer, func(o alternative) bool { return o.includes(i) }) {
			return false
		}
	}
	return true
}

// containsAll reports whether a list contains all of another one, which must not be empty.
func containsAll(outer, inner []string) bool {
	for _, i := range inner {
		if !slices.Contains(outer, i) {
			return false
		}
	}
	return len(inner) > 0
}

// compareNumbers compares two JSON numbers of any size. What is not a number is less than every number.
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

// exact reads a number with 512 bits of precision; nil: it is not a number. The time that it takes does not depend on
// the exponent, unlike that of big.Rat.
func exact(text json.RawMessage) *big.Float {
	f, _, err := big.ParseFloat(string(text), 10, 512, big.ToNearestEven)
	if err != nil {
		return nil
	}
	return f
}
