package wire

import (
	"slices"
	"strconv"
	"unicode/utf8"
)

// MinLength checks that s, the string just read, has n code points or more.
func (r *Reader) MinLength(s string, n int) bool {
	return len(s) >= n && (len(s) >= n*utf8.UTFMax || utf8.RuneCountInString(s) >= n) ||
		r.broken("min_length", strconv.Itoa(n))
}

// MaxLength checks that s, the string just read, has n code points or fewer.
func (r *Reader) MaxLength(s string, n int) bool {
	return len(s) <= n || utf8.RuneCountInString(s) <= n || r.broken("max_length", strconv.Itoa(n))
}

// MinItems checks that the array just read, which has n elements, has min elements or more.
func (r *Reader) MinItems(n, min int) bool { return n >= min || r.brokenItems("min_items", min) }

// MaxItems checks that the array just read, which has n elements, has max elements or fewer.
func (r *Reader) MaxItems(n, max int) bool { return n <= max || r.brokenItems("max_items", max) }

// brokenItems is broken for an array. The last scalar is one of its elements, and not the value of the problem.
//
//go:noinline
func (r *Reader) brokenItems(rule string, limit int) bool {
	r.addProblem(Problem{Stage: StageConstraint, Rule: rule, Limit: strconv.Itoa(limit), Offset: r.pos})
	return false
}

// Pattern checks that an expression matched the string just read.
func (r *Reader) Pattern(matched bool, expression string) bool {
	return matched || r.broken("pattern", expression)
}

// Format checks that the string just read has a format: date-time or date. Another string is a problem of type.
func (r *Reader) Format(valid bool, format string) bool {
	if !valid {
		r.wrongType(format, "string")
	}
	return valid
}

// Enum checks that s, the string just read, is one of allowed.
func (r *Reader) Enum(s string, allowed []string) bool {
	return slices.Contains(allowed, s) || r.notAllowed(allowed)
}

// notAllowed reports that the string just read is not one of allowed. It returns false.
//
//go:noinline
func (r *Reader) notAllowed(allowed []string) bool {
	r.addProblem(Problem{Stage: StageConstraint, Rule: "enum", Allowed: allowed, Value: r.scalar(), Offset: r.from})
	return false
}

// Min checks that v, the number just read, is min or more.
func Min[T int64 | uint64 | float64](r *Reader, v, min T) bool {
	return v >= min || r.broken("minimum", spell(min))
}

// Max checks that v, the number just read, is max or less.
func Max[T int64 | uint64 | float64](r *Reader, v, max T) bool {
	return v <= max || r.broken("maximum", spell(max))
}

// spell returns v as JSON spells it.
func spell[T int64 | uint64 | float64](v T) string {
	switch v := any(v).(type) {
	case int64:
		return strconv.FormatInt(v, 10)
	case uint64:
		return strconv.FormatUint(v, 10)
	case float64:
		return string(appendFloat(nil, v, 64))
	default:
		return ""
	}
}
