package policy

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"time"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// kind is how the values of a parameter are compared.
type kind uint8

const (
	textKind kind = iota
	integerKind
	numberKind
	booleanKind
	momentKind
	anyKind
	opaqueKind // has no comparison; a condition can only test whether it is given
)

// String returns what mistakes call a value of the kind.
func (k kind) String() string {
	return [...]string{"a text", "a whole number", "a number", "a boolean", "a moment (RFC 3339)", "a value of any type",
		"no single value"}[k]
}

// literal is a value that can be compared: one of a condition, or one of a parameter.
type literal struct {
	kind   kind   // textKind, numberKind or booleanKind
	text   string // the text; numbers and booleans as JSON writes them
	number wire.Decimal
	float  float64
	moment time.Time // of a text that is compared as a moment
}

// newLiteral reads a value of a condition; false: it is of a type that conditions cannot have.
func newLiteral(value any) (literal, bool) {
	var text string
	switch v := value.(type) {
	case string:
		return literal{kind: textKind, text: v}, true
	case bool:
		return literal{kind: booleanKind, text: strconv.FormatBool(v)}, true
	case json.Number:
		text = string(v)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return literal{}, false
		}
		text = strconv.FormatFloat(v, 'g', -1, 64)
	default:
		switch r := reflect.ValueOf(value); r.Kind() {
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
			text = strconv.FormatInt(r.Int(), 10)
		case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
			text = strconv.FormatUint(r.Uint(), 10)
		case reflect.String: // such as the constants of an enum
			return literal{kind: textKind, text: r.String()}, true
		default:
			return literal{}, false
		}
	}
	number, ok := wire.ParseDecimal(text)
	float, err := strconv.ParseFloat(text, 64)
	return literal{kind: numberKind, text: text, number: number, float: float}, ok && err == nil
}

// read reads the JSON text of a parameter's value; false: the value is not of kind k.
func (k kind) read(text string) (literal, bool) {
	if text == "" {
		return literal{}, false
	}
	switch c := text[0]; {
	case c == '"' && (k == textKind || k == momentKind || k == anyKind):
		l := literal{kind: textKind}
		var ok bool
		if l.text, ok = wire.NewReader(text, wire.Limits{}).String(); ok && k == momentKind {
			l.moment, ok = parseMoment(l.text)
		}
		return l, ok
	case (c == '-' || '0' <= c && c <= '9') && (k == integerKind || k == numberKind || k == anyKind):
		number, ok := wire.ParseDecimal(text)
		float, err := strconv.ParseFloat(text, 64)
		// Integers are compared exactly, so they may be out of the range of a float64.
		return literal{kind: numberKind, text: text, number: number, float: float}, ok && (err == nil || k == integerKind)
	case (text == "true" || text == "false") && (k == booleanKind || k == anyKind):
		return literal{kind: booleanKind, text: text}, true
	}
	return literal{}, false
}

// zero returns the value that a handler may see in place of an absent one; false: there is none.
func (k kind) zero() (literal, bool) {
	switch k {
	case textKind:
		return literal{kind: textKind}, true
	case integerKind, numberKind:
		number, _ := wire.ParseDecimal("0")
		return literal{kind: numberKind, number: number}, true
	case booleanKind:
		return literal{kind: booleanKind, text: "false"}, true
	case momentKind:
		return literal{kind: textKind}, true // whose moment is the zero time
	}
	return literal{}, false
}

// order compares two numbers or moments as handlers see them: integers exactly, other numbers as floating-point
// numbers, among which different texts may be equal.
func (k kind) order(a, b *literal) int {
	switch {
	case k == momentKind:
		return a.moment.Compare(b.moment)
	case k == integerKind, k == anyKind && a.number.Integral() && b.number.Integral():
		return a.number.Compare(b.number)
	case a.float < b.float:
		return -1
	case a.float > b.float:
		return 1
	}
	return 0
}

// String returns the value as JSON writes it, clipped.
func (l literal) String() string {
	if l.kind == textKind {
		return strconv.Quote(clip(l.text))
	}
	return l.text
}

// parseMoment reads an RFC 3339 time.
func parseMoment(text string) (time.Time, bool) {
	t, err := time.Parse(time.RFC3339Nano, text)
	return t, err == nil
}
