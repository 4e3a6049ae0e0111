package codec

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"strconv"

	"github.com/aqltag/aqltag/runtime/gen"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// bound is a limit of a number, exactly and in the form in which values are compared.
type bound struct {
	exact *big.Rat
	int   int64
	uint  uint64
	float float64
	text  string
}

// checksOf compiles the constraints that p puts on values of n; nil if there are none.
func (s *Set) checksOf(n *reading, p *gen.Param) (*checks, error) {
	c := checks{}
	some := false
	switch n.kind {
	case kindString, kindText:
		c.minLength, c.maxLength, c.enum = p.MinLength, p.MaxLength, p.Enum
		some = c.minLength > 0 || c.maxLength > 0 || len(c.enum) > 0
		if p.Pattern != "" {
			compiled, err := s.pattern(p.Pattern)
			if err != nil {
				return nil, err
			}
			c.pattern, some = compiled, true
		}
	case kindInt, kindUint, kindFloat, kindNumber:
		var err error
		if c.low, err = boundOf(n, p.Minimum, true); err != nil {
			return nil, fmt.Errorf("minimum: %w", err)
		}
		if c.high, err = boundOf(n, p.Maximum, false); err != nil {
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

// pattern compiles an expression once for all that share it.
func (s *Set) pattern(expression string) (*pattern, error) {
	if known := s.patterns[expression]; known != nil {
		return known, nil
	}
	compiled, err := newPattern(expression)
	s.patterns[expression] = compiled
	return compiled, err
}

// boundOf reads a bound, rounded inwards for integers; nil where every value of the type is within it.
func boundOf(n *reading, text string, low bool) (*bound, error) {
	if text == "" {
		return nil, nil
	}
	exact, ok := new(big.Rat).SetString(text)
	if !ok {
		return nil, fmt.Errorf("%q is not a number", text)
	}
	b := &bound{exact: exact, text: text}
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

func integerRange(n *reading) (low, high *big.Int) {
	one, bits := big.NewInt(1), uint(n.bits)
	if n.kind == kindUint {
		return new(big.Int), new(big.Int).Sub(new(big.Int).Lsh(one, bits), one)
	}
	half := new(big.Int).Lsh(one, bits-1)
	return new(big.Int).Neg(half), new(big.Int).Sub(half, one)
}

func (c *checks) text(r *wire.Reader, s string) bool {
	return (c.minLength == 0 || r.MinLength(s, c.minLength)) && (c.maxLength == 0 || r.MaxLength(s, c.maxLength)) &&
		(c.pattern == nil || r.Pattern(c.pattern.match(s), c.pattern.expression)) && (len(c.enum) == 0 || r.Enum(s, c.enum))
}

func (c *checks) int(r *wire.Reader, v int64) bool {
	return (c.low == nil || wire.Min(r, v, c.low.int)) && (c.high == nil || wire.Max(r, v, c.high.int))
}

func (c *checks) uint(r *wire.Reader, v uint64) bool {
	return (c.low == nil || wire.Min(r, v, c.low.uint)) && (c.high == nil || wire.Max(r, v, c.high.uint))
}

func (c *checks) float(r *wire.Reader, v float64) bool {
	return (c.low == nil || wire.Min(r, v, c.low.float)) && (c.high == nil || wire.Max(r, v, c.high.float))
}

// number checks a number of any size by its value.
func (c *checks) number(r *wire.Reader, text string) bool {
	v, err := strconv.ParseFloat(text, 64)
	return err != nil || c.float(r, v)
}

func (c *checks) items(r *wire.Reader, n int) bool {
	return (c.minItems == 0 || r.MinItems(n, c.minItems)) && (c.maxItems == 0 || r.MaxItems(n, c.maxItems))
}

// admitsZero reports whether a type's zero value is one that the constraints allow: null in an update may then stand for
// it.
func (n *reading) admitsZero() bool {
	c := n.checks
	switch n.kind {
	case kindString, kindText:
		if c == nil {
			return true
		}
		allowed := len(c.enum) == 0
		for _, value := range c.enum {
			allowed = allowed || value == ""
		}
		return allowed && c.minLength == 0 && (c.pattern == nil || c.pattern.match(""))
	case kindInt, kindUint, kindFloat, kindNumber:
		return c == nil || (c.low == nil || c.low.exact.Sign() <= 0) && (c.high == nil || c.high.exact.Sign() >= 0)
	case kindStruct:
		for i := range n.object.fields {
			if n.object.fields[i].required {
				return false
			}
		}
	case kindQuoted:
		return n.elem.admitsZero()
	}
	return true
}

// fallback is the default of a field.
type fallback struct {
	value  *reading
	goType reflect.Type
	text   string
	fixed  reflect.Value // what to copy; invalid where values would share memory
}

// newFallback compiles a default, which is given as JSON. It must be a value that the field would accept.
func newFallback(value *reading, t reflect.Type, text string) (*fallback, error) {
	if !json.Valid([]byte(text)) {
		return nil, fmt.Errorf("default %s is not JSON", text)
	}
	f := &fallback{value: value, goType: t, text: text}
	fixed := reflect.New(t)
	r := wire.NewReader(text, wire.Limits{})
	value.read(r, fixed.UnsafePointer(), false)
	if !r.OK() {
		return nil, fmt.Errorf("default %s does not meet the definition", text)
	}
	switch t.Kind() {
	case reflect.Bool, reflect.String, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint,
		reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		f.fixed = fixed.Elem()
	}
	return f, nil
}
