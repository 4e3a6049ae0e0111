package scan

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

// valueFault is one thing that is wrong with a default or an example.
type valueFault struct {
	path    string // wire path inside the value, "" for the value itself
	code    string
	message string
	allowed []string // names or values that would be right
}

// parseJSON reads exactly one JSON value, numbers as written.
func parseJSON(text string) (any, error) {
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

// checkValue tells what a request that has value as param would be refused for.
func checkValue(shape *model.Shape, param gen.Param, value any) []valueFault {
	c := valueChecker{}
	c.check(pointed(shape), param, value, "", false)
	return c.faults
}

// checkObject is checkValue for the whole params object of an operation.
func checkObject(request *model.Shape, params map[string]any) []valueFault {
	c := valueChecker{}
	c.object(request, params, "", false)
	return c.faults
}

type valueChecker struct{ faults []valueFault }

func (c *valueChecker) add(path, code, message string, allowed ...string) {
	c.faults = append(c.faults, valueFault{path, code, message, allowed})
}

// check checks one value; inPatch: a part of an aql.Patch, where nothing is required and null removes.
func (c *valueChecker) check(shape *model.Shape, param gen.Param, value any, path string, inPatch bool) {
	mismatch := func(expected string) {
		c.add(path, codeType, fmt.Sprintf("expected %s, not %s", expected, jsonKind(value)))
	}
	if value == nil && (inPatch || shape.Kind == model.ShapeAny) {
		return
	}
	switch shape.Kind {
	case model.ShapeAny, model.ShapeJSON:
	case model.ShapeBool:
		if _, ok := value.(bool); !ok {
			mismatch("boolean")
		}
	case model.ShapeInt, model.ShapeUint, model.ShapeFloat, model.ShapeNumber:
		number, ok := value.(json.Number)
		if !ok {
			mismatch(wireKind(shape))
			return
		}
		c.number(shape, param, number, path)
	case model.ShapeString, model.ShapeTime, model.ShapeBytes, model.ShapeText:
		text, ok := value.(string)
		if !ok {
			mismatch("string")
			return
		}
		c.text(shape, param, text, path)
	case model.ShapeSlice, model.ShapeArray:
		list, ok := value.([]any)
		if !ok {
			mismatch("array")
			return
		}
		if len(list) < param.MinItems {
			c.add(path, codeType, fmt.Sprintf("%d items, fewer than %d", len(list), param.MinItems))
		}
		if param.MaxItems > 0 && len(list) > param.MaxItems {
			c.add(path, codeType, fmt.Sprintf("%d items, more than %d", len(list), param.MaxItems))
		}
		for i, element := range list {
			c.check(pointed(shape.Elem), itemsOf(param), element, fmt.Sprintf("%s[%d]", path, i), false)
		}
	case model.ShapeMap, model.ShapeStruct, model.ShapePatch:
		members, ok := value.(map[string]any)
		if !ok {
			mismatch("object")
			return
		}
		switch shape.Kind {
		case model.ShapeStruct:
			c.object(shape, members, path, inPatch)
		case model.ShapePatch:
			c.object(shape.Elem, members, path, true)
		default:
			for _, name := range slices.Sorted(maps.Keys(members)) {
				c.check(pointed(shape.Elem), itemsOf(param), members[name], join(path, name), inPatch)
			}
		}
	}
}

// itemsOf is what is demanded of the elements of a value.
func itemsOf(param gen.Param) gen.Param {
	if param.Items == nil {
		return gen.Param{}
	}
	return *param.Items
}

// object checks the members of an object against the fields of a struct.
func (c *valueChecker) object(shape *model.Shape, members map[string]any, path string, inPatch bool) {
	known := make(map[string]bool)
	var names []string
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
			c.add(join(path, name), codeType, "the field cannot be changed")
		case !inPatch && (!present || value == nil):
			if field.Param.Required {
				c.add(join(path, name), codeMissing, fmt.Sprintf("required parameter %q is missing", join(path, name)))
			}
		case present && field.Quoted:
			if _, ok := value.(string); !ok {
				c.add(join(path, name), codeType, "expected string, not "+jsonKind(value))
			}
		case present:
			c.check(pointed(field.Shape), field.Param, value, join(path, name), inPatch)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if !known[name] {
			c.add(join(path, name), codeUnresolved, fmt.Sprintf("there is no parameter %q", join(path, name)), names...)
		}
	}
}

// number checks a number against type and bounds.
func (c *valueChecker) number(shape *model.Shape, param gen.Param, number json.Number, path string) {
	value, ok := parseNumber(number.String())
	if !ok {
		c.add(path, codeType, fmt.Sprintf("%s is not a number that can be carried", number))
		return
	}
	if shape.Kind == model.ShapeInt || shape.Kind == model.ShapeUint {
		if !value.IsInt() {
			c.add(path, codeType, "expected integer, not "+number.String())
			return
		}
		if low, high := integerRange(shape); value.Num().Cmp(low) < 0 || value.Num().Cmp(high) > 0 {
			c.add(path, codeType, fmt.Sprintf("%s is outside the range %s to %s", number, low, high))
			return
		}
	} else if f, _ := value.Float64(); shape.Bits == 32 && math.Abs(f) > math.MaxFloat32 {
		c.add(path, codeType, fmt.Sprintf("%s is too large for float32", number))
	}
	if low, ok := parseNumber(param.Minimum); ok && value.Cmp(low) < 0 {
		c.add(path, codeType, fmt.Sprintf("%s is less than min=%s", number, param.Minimum))
	}
	if high, ok := parseNumber(param.Maximum); ok && value.Cmp(high) > 0 {
		c.add(path, codeType, fmt.Sprintf("%s is more than max=%s", number, param.Maximum))
	}
}

// text checks a string against type and constraints.
func (c *valueChecker) text(shape *model.Shape, param gen.Param, text, path string) {
	switch shape.Kind {
	case model.ShapeTime:
		if _, err := time.Parse(time.RFC3339Nano, text); err != nil {
			c.add(path, codeType, fmt.Sprintf("%q is not an RFC 3339 date-time with a zone, such as 2026-01-02T15:04:05Z", text))
		}
		return
	case model.ShapeBytes:
		if _, err := base64.StdEncoding.Strict().DecodeString(text); err != nil {
			c.add(path, codeType, "not standard base64 with padding")
		}
		return
	}
	if len(param.Enum) == 0 {
		for _, constant := range shape.Enum {
			param.Enum = append(param.Enum, constant.Value)
		}
	}
	if len(param.Enum) > 0 && !slices.Contains(param.Enum, text) {
		c.add(path, codeType, fmt.Sprintf("%q is not an allowed value", text), param.Enum...)
		return
	}
	checkString(param, text, func(message string) { c.add(path, codeType, message) })
}

// checkString checks a string against lengths and pattern.
func checkString(param gen.Param, text string, add func(string)) {
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

// jsonKind names the kind of a JSON value.
func jsonKind(value any) string {
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

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
