package scan

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
func checkValue(shape *Shape, param gen.Param, value any) []valueFault {
	c := valueChecker{}
	c.check(pointed(shape), param, value, "", false)
	return c.faults
}

// checkObject is checkValue for the whole params object of an operation.
func checkObject(request *Shape, params map[string]any) []valueFault {
	c := valueChecker{}
	c.object(request, params, "", false)
	return c.faults
}

type valueChecker struct{ faults []valueFault }

func (c *valueChecker) add(path, code, message string, allowed ...string) {
	c.faults = append(c.faults, valueFault{path, code, message, allowed})
}

// check checks one value; inPatch: a part of an aql.Patch, where nothing is required and null removes.
func (c *valueChecker) check(shape *Shape, param gen.Param, value any, path string, inPatch bool) {
	mismatch := func(expected string) {
		c.add(path, codeType, fmt.Sprintf("expected %s, not %s", expected, jsonKind(value)))
	}
	if value == nil && (inPatch || shape.Kind == ShapeAny) {
		return
	}
	switch shape.Kind {
	case ShapeAny, ShapeJSON:
	case ShapeBool:
		if _, ok := value.(bool); !ok {
			mismatch("boolean")
		}
	case ShapeInt, ShapeUint, ShapeFloat, ShapeNumber:
		number, ok := value.(json.Number)
		if !ok {
			mismatch(wireKind(shape))
			return
		}
		c.number(shape, param, number, path)
	case ShapeString, ShapeTime, ShapeBytes, ShapeText:
		text, ok := value.(string)
		if !ok {
			mismatch("string")
			return
		}
		c.text(shape, param, text, path)
	case ShapeSlice, ShapeArray:
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
	case ShapeMap, ShapeStruct, ShapePatch:
		members, ok := value.(map[string]any)
		if !ok {
			mismatch("object")
			return
		}
		switch shape.Kind {
		case ShapeStruct:
			c.object(shape, members, path, inPatch)
		case ShapePatch:
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
func (c *valueChecker) object(shape *Shape, members map[string]any, path string, inPatch bool) {
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
		case present && field.Param.Quoted:
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
func (c *valueChecker) number(shape *Shape, param gen.Param, number json.Number, path string) {
	value, ok := parseNumber(number.String())
	if !ok {
		c.add(path, codeType, fmt.Sprintf("%s is not a number that can be carried", number))
		return
	}
	if shape.Kind == ShapeInt || shape.Kind == ShapeUint {
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
func (c *valueChecker) text(shape *Shape, param gen.Param, text, path string) {
	switch shape.Kind {
	case ShapeTime:
		if _, err := time.Parse(time.RFC3339Nano, text); err != nil {
			c.add(path, codeType, fmt.Sprintf("%q is not an RFC 3339 date-time with a zone, such as 2026-01-02T15:04:05Z", text))
		}
		return
	case ShapeBytes:
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

// parseNumber reads a JSON number exactly.
func parseNumber(text string) (*big.Rat, bool) {
	if text == "" || strings.TrimSpace(text) != text || !json.Valid([]byte(text)) || !strings.ContainsAny(text[:1], "-0123456789") {
		return nil, false
	}
	// An absurd exponent would make the exact value enormous.
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

// quoteJSON writes a JSON string without escaping what HTML would need escaped.
func quoteJSON(text string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		return strconv.Quote(text)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// compactJSON removes the white space of a valid JSON text.
func compactJSON(text string) string {
	var b bytes.Buffer
	if err := json.Compact(&b, []byte(text)); err != nil {
		return text
	}
	return b.String()
}

// outOfType returns why a shape cannot hold a number, empty if it can. text is the number and goType the type as they are written.
func outOfType(shape *Shape, goType, text string, value *big.Rat) string {
	if shape.Kind != ShapeInt && shape.Kind != ShapeUint {
		return ""
	}
	if !value.IsInt() {
		return fmt.Sprintf("%s is not an integer, but the field is one", text)
	}
	low, high := integerRange(shape)
	if value.Num().Cmp(low) < 0 || value.Num().Cmp(high) > 0 {
		return fmt.Sprintf("%s is outside the range of %s, %s to %s", text, goType, low, high)
	}
	return ""
}

// count reads a number of characters or elements.
func (c constrainer) count(item placedItem) int {
	n, err := strconv.Atoi(item.Value)
	if err != nil || n < 0 {
		c.fail(item, codeType, fmt.Sprintf("%s needs a whole number from 0, not %q", item.Key, item.Value), "")
		return 0
	}
	if n == 0 && strings.HasPrefix(item.Key, "max") {
		c.fail(item, codeType, fmt.Sprintf("%s=0 would leave only the empty value", item.Key), "remove it, or name a larger number")
	}
	return n
}

// applyPattern takes a regular expression if Go can run it.
func (c constrainer) applyPattern(item placedItem) {
	if _, err := regexp.Compile(item.Value); err != nil {
		message, suggestion := fmt.Sprintf("pattern is not a valid regular expression: %v", err), ""
		switch {
		case strings.Contains(item.Value, "(?=") || strings.Contains(item.Value, "(?!") ||
			strings.Contains(item.Value, "(?<=") || strings.Contains(item.Value, "(?<!"):
			message = "pattern uses look-ahead or look-behind, which RE2, Go's regular expressions, does not have"
			suggestion = "check this part in the handler, or split it into simpler constraints"
		case hasBackreference(item.Value):
			message = "pattern uses a backreference, which RE2, Go's regular expressions, does not have"
			suggestion = "check this part in the handler"
		}
		c.fail(item, codeType, message, suggestion)
		return
	}
	c.param.Pattern = item.Value
}

func hasBackreference(pattern string) bool {
	for i := 0; i+1 < len(pattern); i++ {
		if pattern[i] != '\\' {
			continue
		}
		if pattern[i+1] >= '1' && pattern[i+1] <= '9' || pattern[i+1] == 'k' {
			return true
		}
		i++
	}
	return false
}

// checkEnum reports allowed values that the field's other constraints refuse.
func (c constrainer) checkEnum() {
	item, ok := c.field.tag.item("enum")
	if !ok {
		return
	}
	for _, value := range c.param.Enum {
		if problems := c.scalarProblems(value); len(problems) > 0 {
			c.fail(item, codeType, fmt.Sprintf("enum value %q can never be given: %s", value, problems[0]), "")
		}
	}
}

// scalarProblems checks a string against the length and pattern of the field.
func (c constrainer) scalarProblems(value string) []string {
	param := *c.param
	param.Enum = nil
	var problems []string
	checkString(param, value, func(message string) { problems = append(problems, message) })
	return problems
}

// applyDefault takes a default as a JSON literal if the field would accept it (REQ-VO-12).
func (c constrainer) applyDefault(item placedItem, quotedNumber bool) {
	if c.param.Required {
		c.report(item.whole, Diagnostic{
			Code: codeType, FieldPath: c.field.path,
			Message:    "required and default contradict each other: a required parameter is never absent",
			Suggestion: "remove one of them",
		})
		return
	}
	literal, message := c.literal(item.Value)
	if message != "" {
		c.fail(item, codeType, message, "")
		return
	}
	value, err := parseJSON(literal)
	if err != nil {
		c.fail(item, codeType, fmt.Sprintf("default is not valid JSON: %v", err), "")
		return
	}
	faults := checkValue(c.shape, *c.param, value)
	for _, fault := range faults {
		suggestion := ""
		if fault.allowed != nil {
			suggestion = suggestWord(item.Value, fault.allowed)
		}
		c.fail(item, codeType, "default "+item.Value+": "+fault.message, suggestion)
	}
	if len(faults) > 0 {
		return
	}
	if quotedNumber {
		literal = quoteJSON(literal)
	}
	c.param.Default = literal
}

// literal is the text of a default as a JSON literal of the field's type, or a message.
func (c constrainer) literal(text string) (literal, message string) {
	switch c.shape.Kind {
	case ShapeString, ShapeTime, ShapeBytes, ShapeText:
		return quoteJSON(text), ""
	case ShapeBool:
		if text != "true" && text != "false" {
			return "", fmt.Sprintf("default of a boolean is true or false, not %q", text)
		}
	case ShapeInt, ShapeUint, ShapeFloat, ShapeNumber:
		if _, ok := parseNumber(text); !ok {
			return "", fmt.Sprintf("default of %s is a JSON number, not %q", c.text(c.field.v.Type()), text)
		}
	case ShapeStruct, ShapePatch:
		return "", "an object takes its defaults from its own fields"
	default:
		if !json.Valid([]byte(text)) {
			return "", fmt.Sprintf("default of %s is a JSON value such as [] or {}, not %q", c.text(c.field.v.Type()), text)
		}
	}
	return text, ""
}

// checkRanges reports bounds of which one comes from another library's tag and that no value can satisfy.
func (c constrainer) checkRanges() {
	for _, suffix := range []string{"", "len", "items"} {
		low, ok := c.field.tag.item("min" + suffix)
		high, both := c.field.tag.item("max" + suffix)
		if !ok || !both || low.origin == "" && high.origin == "" {
			continue
		}
		a, lowOK := parseNumber(low.Value)
		b, highOK := parseNumber(high.Value)
		if !lowOK || !highOK || a.Cmp(b) <= 0 {
			continue
		}
		at, other, severity := low, high, SeverityError
		switch {
		case low.origin != "" && high.origin != "":
			severity = SeverityWarning // as the service has it
		case low.origin != "":
			at, other = high, low
		}
		if !c.editable(c.field.v.Pkg()) {
			severity = SeverityNote
		}
		c.report(at.whole, Diagnostic{
			Severity: severity, Code: codeType, FieldPath: c.field.path, Actual: at.Value, Suggestion: "make the two agree, or remove one of them",
			Message: fmt.Sprintf("%s and %s contradict each other: no value can satisfy both", at.spelled(), other.spelled()),
			Related: []Related{c.related(other.whole.start, other.spelled()+" is here")},
		})
	}
}

// applyElements takes the constraints on the elements of a field, on those of its elements, and so on.
func (s *paramMaker) applyElements(f Declaration, shape *Shape, param *gen.Param, elements map[int][]placedItem) {
	shape = pointed(shape)
	for depth := 1; len(elements) > 0 && shape != nil && shape.Elem != nil; depth++ {
		shape = pointed(shape.Elem)
		param.Items = &gen.Param{}
		param = param.Items
		f.tag.items = elements[depth]
		c := constrainer{s, f, shape, param}
		for _, item := range elements[depth] {
			c.apply(item)
		}
		c.checkEnum()
		c.checkRanges()
		delete(elements, depth)
	}
}
