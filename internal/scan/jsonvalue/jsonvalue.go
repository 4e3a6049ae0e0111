// Package jsonvalue checks the JSON values in source, which are defaults and examples, as the runtime checks those in a
// request.
package jsonvalue

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/runtime/gen"
)

// Fault is a reason to refuse a value.
type Fault struct {
	Path    string // wire path inside the value, "" for the value itself
	Code    string
	Message string
	Allowed []string // names or values that would be right
}

// Parse reads exactly one JSON value, with numbers as json.Number.
func Parse(text string) (any, error) {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, errors.New("unexpected end of JSON")
		}
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("more than one JSON value")
	}
	return value, nil
}

// Check returns why a request with value for param would be refused.
func Check(shape *shapes.Shape, param gen.Param, value any) []Fault {
	c := checker{}
	c.check(shapes.Indirect(shape), param, value, "", false)
	return c.faults
}

// CheckObject returns why a request with these params would be refused.
func CheckObject(request *shapes.Shape, params map[string]any) []Fault {
	c := checker{}
	c.object(request, params, "", false)
	return c.faults
}

type checker struct{ faults []Fault }

func (c *checker) add(path, code, message string, allowed ...string) {
	c.faults = append(c.faults, Fault{path, code, message, allowed})
}

// check checks one value. In a patch nothing is required, and null removes.
func (c *checker) check(shape *shapes.Shape, param gen.Param, value any, path string, inPatch bool) {
	mismatch := func(expected string) {
		c.add(path, diag.CodeType, fmt.Sprintf("expected %s, not %s", expected, KindOf(value)))
	}
	if value == nil && (inPatch || shape.Kind == shapes.Any) {
		return
	}
	param = withOwn(param, shape.Own)
	if param.Quoted {
		c.quoted(shape, param, value, path)
		return
	}
	switch shape.Kind {
	case shapes.Any:
	case shapes.JSON:
		c.ownJSON(shape, param, value, path)
	case shapes.Bool:
		if _, ok := value.(bool); !ok {
			mismatch("boolean")
		}
	case shapes.Int, shapes.Uint, shapes.Float, shapes.Number:
		number, ok := value.(json.Number)
		if !ok {
			mismatch(shapes.JSONKind(shape))
			return
		}
		c.number(shape, param, number, path)
	case shapes.String, shapes.Time, shapes.Bytes, shapes.Text:
		text, ok := value.(string)
		if !ok {
			mismatch("string")
			return
		}
		c.text(shape, param, text, path)
	case shapes.Slice, shapes.Array:
		list, ok := value.([]any)
		if !ok {
			mismatch("array")
			return
		}
		if len(list) < param.MinItems {
			c.add(path, diag.CodeType, fmt.Sprintf("%d items, fewer than %d", len(list), param.MinItems))
		}
		if param.MaxItems > 0 && len(list) > param.MaxItems {
			c.add(path, diag.CodeType, fmt.Sprintf("%d items, more than %d", len(list), param.MaxItems))
		}
		for i, element := range list {
			c.element(shape, param, element, fmt.Sprintf("%s[%d]", path, i), false)
		}
	case shapes.Filter:
		c.filter(shape, value, path)
	case shapes.Map, shapes.Struct, shapes.Patch:
		members, ok := value.(map[string]any)
		if !ok {
			mismatch("object")
			return
		}
		switch shape.Kind {
		case shapes.Struct:
			c.object(shape, members, path, inPatch)
		case shapes.Patch:
			c.object(shape.Elem, members, path, true)
		default:
			for _, name := range slices.Sorted(maps.Keys(members)) {
				c.key(shape.Key, name, naming.Join(path, name))
				c.element(shape, param, members[name], naming.Join(path, name), inPatch)
			}
		}
	}
}

// element checks an element of a list or map.
func (c *checker) element(of *shapes.Shape, param gen.Param, value any, path string, inPatch bool) {
	if value != nil || !shapes.IsNullable(of.Elem) {
		c.check(shapes.Indirect(of.Elem), itemsOf(param), value, path, inPatch)
	}
}

// itemsOf returns the constraints on the elements of a value.
func itemsOf(param gen.Param) gen.Param {
	if param.Items == nil {
		return gen.Param{}
	}
	return *param.Items
}

// object checks the members of an object against the fields of a struct.
func (c *checker) object(shape *shapes.Shape, members map[string]any, path string, inPatch bool) {
	known := make(map[string]bool)
	var names, absent []string
	for _, field := range shape.Fields {
		name := field.Param.Name
		value, present := members[name]
		for _, alias := range field.Param.Aliases {
			known[alias] = true
			if other, ok := members[alias]; ok && !present {
				value, present = other, true
			}
		}
		if inPatch && field.Param.ID {
			continue
		}
		known[name] = true
		names = append(names, name)
		switch {
		case inPatch && present && (field.Param.ReadOnly || field.Param.AppendOnly):
			c.add(naming.Join(path, name), diag.CodeType, "the field cannot be changed")
		case !inPatch && (!present || value == nil):
			if field.Param.Required {
				absent = append(absent, naming.Join(path, name))
			}
		case present:
			c.check(shapes.Indirect(field.Shape), field.Param, value, naming.Join(path, name), inPatch)
		}
	}
	misnamed := false
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !known[name] {
			misnamed = true
			c.add(naming.Join(path, name), diag.CodeUnresolved, fmt.Sprintf("there is no parameter %q", naming.Join(path, name)),
				names...)
		}
	}
	if misnamed { // which is probably why one is missing
		return
	}
	for _, name := range absent {
		c.add(name, diag.CodeMissing, fmt.Sprintf("required parameter %q is missing", name))
	}
}

// number checks a number against type and bounds.
func (c *checker) number(shape *shapes.Shape, param gen.Param, number json.Number, path string) {
	value, ok := ParseNumber(number.String())
	if !ok {
		c.add(path, diag.CodeType, fmt.Sprintf("%s is not a number that can be carried", number))
		return
	}
	if shape.Kind == shapes.Int || shape.Kind == shapes.Uint {
		if !value.IsInt() {
			c.add(path, diag.CodeType, "expected integer, not "+number.String())
			return
		}
		if low, high := shapes.IntegerRange(shape); value.Num().Cmp(low) < 0 || value.Num().Cmp(high) > 0 {
			c.add(path, diag.CodeType, fmt.Sprintf("%s is outside the range %s to %s", number, low, high))
			return
		}
	} else if f, _ := value.Float64(); shape.Bits == 32 && math.Abs(f) > math.MaxFloat32 {
		c.add(path, diag.CodeType, fmt.Sprintf("%s is too large for float32", number))
	}
	if low, ok := ParseNumber(param.Minimum); ok && value.Cmp(low) < 0 {
		c.add(path, diag.CodeType, fmt.Sprintf("%s is less than min=%s", number, param.Minimum))
	}
	if high, ok := ParseNumber(param.Maximum); ok && value.Cmp(high) > 0 {
		c.add(path, diag.CodeType, fmt.Sprintf("%s is more than max=%s", number, param.Maximum))
	}
}

// text checks a string against type and constraints.
func (c *checker) text(shape *shapes.Shape, param gen.Param, text, path string) {
	switch shape.Kind {
	case shapes.Time:
		if !isDateTime(text) {
			c.add(path, diag.CodeType,
				fmt.Sprintf("%q is not an RFC 3339 date-time with a zone, such as 2026-01-02T15:04:05Z", text))
		}
		return
	case shapes.Bytes:
		if _, err := base64.StdEncoding.Strict().DecodeString(text); err != nil {
			c.add(path, diag.CodeType, "not standard base64 with padding")
		}
		return
	}
	if len(param.Enum) == 0 {
		for _, constant := range shape.Enum {
			param.Enum = append(param.Enum, constant.Value)
		}
	}
	if len(param.Enum) > 0 && !slices.Contains(param.Enum, text) {
		c.add(path, diag.CodeType, fmt.Sprintf("%q is not an allowed value", text), param.Enum...)
		return
	}
	CheckString(param, text, func(message string) { c.add(path, diag.CodeType, message) })
}

// CheckString checks a string against format, lengths and pattern. The formats date-time and date are checked, others
// are hints.
func CheckString(param gen.Param, text string, add func(string)) {
	switch {
	case param.Format == "date-time" && !isDateTime(text):
		add(fmt.Sprintf("%q is not an RFC 3339 date-time with a zone, such as 2026-01-02T15:04:05Z", text))
	case param.Format == "date" && !isDate(text):
		add(fmt.Sprintf("%q is not a date such as 2026-01-02", text))
	}
	length := utf8.RuneCountInString(text)
	if length < param.MinLength {
		add(fmt.Sprintf("%q is shorter than minlen=%d", text, param.MinLength))
	}
	if param.MaxLength > 0 && length > param.MaxLength {
		add(fmt.Sprintf("%q is longer than maxlen=%d", text, param.MaxLength))
	}
	if param.Pattern != "" {
		if re, err := regexp.Compile(param.Pattern); err == nil && !re.MatchString(text) {
			add(fmt.Sprintf("%q does not match pattern %s", text, param.Pattern))
		}
	}
}

// dateTimes is the grammar of RFC 3339, which time.Parse knows less strictly.
var dateTimes = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$`)

func isDateTime(text string) bool {
	at, err := time.Parse(time.RFC3339Nano, text)
	return err == nil && dateTimes.MatchString(text) && at.UTC().Year() >= 0 && at.UTC().Year() <= 9999
}

func isDate(text string) bool {
	_, err := time.Parse(time.DateOnly, text)
	return err == nil
}

// KindOf names the kind of a JSON value.
func KindOf(value any) string {
	switch value.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	return "number"
}

// ParseNumber reads a JSON number exactly.
func ParseNumber(text string) (*big.Rat, bool) {
	if text == "" || strings.TrimSpace(text) != text || !json.Valid([]byte(text)) ||
		!strings.ContainsAny(text[:1], "-0123456789") {
		return nil, false
	}
	// A huge exponent would make the exact value enormous.
	if f, err := strconv.ParseFloat(text, 64); err != nil || math.IsInf(f, 0) {
		return nil, false
	}
	if _, exponent, ok := strings.Cut(strings.ToLower(text), "e"); ok {
		if n, err := strconv.Atoi(exponent); err != nil || n < -400 || n > 400 {
			return nil, false
		}
	}
	return new(big.Rat).SetString(text)
}

// Quote returns text as a JSON string, without the escapes for HTML.
func Quote(text string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		return strconv.Quote(text)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// Compact removes the white space of a valid JSON text.
func Compact(text string) string {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		return text
	}
	return b.String()
}

// OutOfRange returns why a shape cannot hold a number, empty if it can. text is the number as written, and goType the
// name of the type.
func OutOfRange(shape *shapes.Shape, goType, text string, value *big.Rat) string {
	if shape.Kind != shapes.Int && shape.Kind != shapes.Uint {
		return ""
	}
	if !value.IsInt() {
		return fmt.Sprintf("%s is not an integer, but the field is one", text)
	}
	low, high := shapes.IntegerRange(shape)
	if value.Num().Cmp(low) < 0 || value.Num().Cmp(high) > 0 {
		return fmt.Sprintf("%s is outside the range of %s, %s to %s", text, goType, low, high)
	}
	return ""
}
