package codec

import (
	"fmt"
	"math/big"
	"reflect"
	"strconv"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// constraints are what a definition demands of a value beside its type. Zero and nil stand for no constraint.
type constraints struct {
	minLength, maxLength int
	minItems, maxItems   int
	pattern              *pattern
	enum                 []string
	low, high            *bound
	format               string              // the name of a format that is checked
	hasFormat            func(s string) bool // nil: none
}

// formatCheck returns the function that checks a format, and nil for the formats that are hints (MCP-AQL introspection
// §3.4.1). Dates are more than that (MCP-AQL core §4.7.2).
func formatCheck(format string) func(s string) bool {
	switch format {
	case "date-time":
		return wire.IsDateTime
	case "date":
		return wire.IsDate
	default:
		return nil
	}
}

// bound is a minimum or a maximum of a number, in each form in which values are compared with it.
type bound struct {
	sign  int // of the exact bound
	int   int64
	uint  uint64
	float float64
}

// constraints compiles the constraints of p on values of n. It returns nil if there are none.
func (s *Set) constraints(n *decoder, p *gen.Param) (*constraints, error) {
	c := constraints{}
	some := false
	switch n.kind {
	case kindString, kindText, kindJSON:
		if n.kind == kindJSON && (n.expected == "integer" || n.expected == "number") {
			return s.ownNumberConstraints(n, p)
		}
		c.minLength, c.maxLength, c.enum = p.MinLength, p.MaxLength, p.Enum
		some = c.minLength > 0 || c.maxLength > 0 || len(c.enum) > 0
		if p.Pattern != "" {
			compiled, err := s.pattern(p.Pattern)
			if err != nil {
				return nil, err
			}
			c.pattern, some = compiled, true
		}
		if c.hasFormat = formatCheck(p.Format); c.hasFormat != nil {
			c.format, some = p.Format, true
		}
	case kindInt, kindUint, kindFloat, kindNumber:
		var err error
		if c.low, err = s.bound(n, p.Minimum, true); err != nil {
			return nil, fmt.Errorf("minimum: %w", err)
		}
		if c.high, err = s.bound(n, p.Maximum, false); err != nil {
			return nil, fmt.Errorf("maximum: %w", err)
		}
		some = c.low != nil || c.high != nil
	case kindSlice, kindStrings, kindMap, kindStringMap:
		c.minItems, c.maxItems = p.MinItems, p.MaxItems
		some = c.minItems > 0 || c.maxItems > 0
	}
	if !some {
		return nil, nil
	}
	return &c, nil
}

// ownNumberConstraints compiles the bounds on numbers that their type reads itself.
func (s *Set) ownNumberConstraints(n *decoder, p *gen.Param) (*constraints, error) {
	number := &decoder{kind: kindNumber, goType: n.goType}
	low, err := s.bound(number, p.Minimum, true)
	if err != nil {
		return nil, fmt.Errorf("minimum: %w", err)
	}
	high, err := s.bound(number, p.Maximum, false)
	if err != nil {
		return nil, fmt.Errorf("maximum: %w", err)
	}
	if low == nil && high == nil {
		return nil, nil
	}
	return &constraints{low: low, high: high}, nil
}

// pattern returns the pattern of an expression, which all parameters share that have it.
func (s *Set) pattern(expression string) (*pattern, error) {
	if known := s.patterns[expression]; known != nil {
		return known, nil
	}
	compiled, err := newPattern(expression)
	s.patterns[expression] = compiled
	return compiled, err
}

// boundKey identifies a bound of values of one type.
type boundKey struct {
	goType reflect.Type
	text   string
	low    bool
}

// bound is boundOf, but parses every text once.
func (s *Set) bound(n *decoder, text string, low bool) (*bound, error) {
	if text == "" {
		return nil, nil
	}
	key := boundKey{n.goType, text, low}
	if known, ok := s.bounds[key]; ok {
		return known, nil
	}
	parsed, err := boundOf(n, text, low)
	if err == nil {
		s.bounds[key] = parsed
	}
	return parsed, err
}

// boundOf parses a bound of values of n, a minimum if low is set. Bounds of integers are rounded inwards. It returns
// nil where the type has no values beyond the bound.
func boundOf(n *decoder, text string, low bool) (*bound, error) {
	exact, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, fmt.Errorf("%q is not a number", text)
	}
	b := &bound{sign: exact.Sign()}
	if n.kind == kindFloat || n.kind == kindNumber {
		b.float, _ = exact.Float64()
		if n.bits == 32 { // 0.1 as a float32 is more than 0.1
			b.float = float64(float32(b.float))
		}
		return b, nil
	}
	whole := new(big.Int).Div(exact.Num(), exact.Denom()) // rounds down
	if low && !exact.IsInt() {
		whole.Add(whole, big.NewInt(1))
	}
	smallest, largest := integerRange(n)
	switch {
	case low && whole.Cmp(smallest) <= 0, !low && whole.Cmp(largest) >= 0:
		return nil, nil
	case low && whole.Cmp(largest) > 0, !low && whole.Cmp(smallest) < 0:
		return nil, fmt.Errorf("no value of type %s is within %s", n.goType, text)
	}
	b.int, b.uint = whole.Int64(), whole.Uint64()
	return b, nil
}

// integerRange returns the least and the largest integer that n can hold.
func integerRange(n *decoder) (low, high *big.Int) {
	one, bits := big.NewInt(1), uint(n.bits)
	if n.kind == kindUint {
		return new(big.Int), new(big.Int).Sub(new(big.Int).Lsh(one, bits), one)
	}
	half := new(big.Int).Lsh(one, bits-1)
	return new(big.Int).Neg(half), new(big.Int).Sub(half, one)
}

// checkText reports to r that s, the string just read, breaks a constraint, and returns false then.
func (c *constraints) checkText(r *wire.Reader, s string) bool {
	return (c.hasFormat == nil || r.Format(c.hasFormat(s), c.format)) &&
		(c.minLength == 0 || r.MinLength(s, c.minLength)) &&
		(c.maxLength == 0 || r.MaxLength(s, c.maxLength)) &&
		(c.pattern == nil || r.Pattern(c.pattern.match(s), c.pattern.expression)) &&
		(len(c.enum) == 0 || r.Enum(s, c.enum))
}

func (c *constraints) checkInt(r *wire.Reader, v int64) bool {
	return (c.low == nil || wire.Min(r, v, c.low.int)) && (c.high == nil || wire.Max(r, v, c.high.int))
}

func (c *constraints) checkUint(r *wire.Reader, v uint64) bool {
	return (c.low == nil || wire.Min(r, v, c.low.uint)) && (c.high == nil || wire.Max(r, v, c.high.uint))
}

func (c *constraints) checkFloat(r *wire.Reader, v float64) bool {
	return (c.low == nil || wire.Min(r, v, c.low.float)) && (c.high == nil || wire.Max(r, v, c.high.float))
}

// checkNumber checks a number of any size by the float64 next to it.
func (c *constraints) checkNumber(r *wire.Reader, text string) bool {
	v, err := strconv.ParseFloat(text, 64)
	return err != nil || c.checkFloat(r, v)
}

func (c *constraints) checkItems(r *wire.Reader, n int) bool {
	return (c.minItems == 0 || r.MinItems(n, c.minItems)) && (c.maxItems == 0 || r.MaxItems(n, c.maxItems))
}
