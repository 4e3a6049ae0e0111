package scan

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/tagparse"
)

// constrainer checks the constraints of one field against its type and against each other, and notes them in param.
type constrainer struct {
	*shaper
	field fieldSource
	shape *model.Shape // behind pointers
	param *gen.Param
}

// fail reports what is wrong with the value of an item.
func (c constrainer) fail(item placedItem, code, message, suggestion string) {
	d := Diagnostic{Code: code, Message: message, Actual: item.Value, Suggestion: suggestion, FieldPath: c.field.path}
	if item.origin != "" { // which is sound for its own library
		d.Severity, d.Message = c.severity(SeverityWarning), item.origin+" is left out: "+message
	}
	c.report(item.value, d)
}

// severity is how serious it is what another library's tag says: in other modules nobody here can change it.
func (c constrainer) severity(here Severity) Severity {
	if c.editable(c.field.v.Pkg()) {
		return here
	}
	return SeverityNote
}

// applicable reports a key that the field's type has no use for.
func (c constrainer) applicable(item placedItem) bool {
	kind := wireKind(c.shape)
	keys := tagparse.Keys(tagparse.Parameter)
	for i := range keys {
		key := &keys[i]
		counted := c.shape.Kind != model.ShapeStruct && c.shape.Kind != model.ShapePatch || !strings.HasSuffix(key.Name, "items")
		if key.Name != item.Key || len(key.AppliesTo) == 0 || slices.Contains(key.AppliesTo, kind) && counted {
			continue
		}
		c.report(item.whole, Diagnostic{
			Code: codeType, FieldPath: c.field.path, Expected: strings.Join(key.AppliesTo, " or "), Actual: kind,
			Message:    fmt.Sprintf("%s does not apply to type %s; it is for %s", item.Key, c.text(c.field.v.Type()), strings.Join(key.AppliesTo, " and ")),
			Suggestion: c.otherKey(item.Key, kind),
		})
		return false
	}
	return true
}

// otherKey proposes the key that means the same for another kind of value.
func (c constrainer) otherKey(key, kind string) string {
	lower := strings.HasPrefix(key, "min")
	bound := func(suffix string) string {
		if lower {
			return "use min" + suffix
		}
		return "use max" + suffix
	}
	switch key {
	case "min", "max", "minlen", "maxlen", "minitems", "maxitems":
		switch kind {
		case "string":
			return bound("len")
		case "array":
			return bound("items")
		case "integer", "number":
			return bound("")
		}
	case "enum", "pattern":
		if kind == "array" && c.shape.Elem.Kind == model.ShapeString {
			return "give the elements a string type with typed constants"
		}
	}
	return "remove it"
}

// number checks a bound and returns it as written, or "" if it is none.
func (c constrainer) number(item placedItem) string {
	value, ok := parseNumber(item.Value)
	if !ok {
		c.fail(item, codeType, fmt.Sprintf("%s needs a JSON number, not %q", item.Key, item.Value), "write it like 10 or 0.5")
		return ""
	}
	if message := c.outOfType(item.Value, value); message != "" {
		c.fail(item, codeType, item.Key+": "+message, "")
		return ""
	}
	return item.Value
}

// outOfType tells why the field's Go type cannot hold a number, empty if it can.
func (c constrainer) outOfType(text string, value *big.Rat) string {
	if c.shape.Kind != model.ShapeInt && c.shape.Kind != model.ShapeUint {
		return ""
	}
	if !value.IsInt() {
		return fmt.Sprintf("%s is not an integer, but the field is one", text)
	}
	low, high := integerRange(c.shape)
	if value.Num().Cmp(low) < 0 || value.Num().Cmp(high) > 0 {
		return fmt.Sprintf("%s is outside the range of %s, %s to %s", text, c.text(c.field.v.Type()), low, high)
	}
	return ""
}

// integerRange is what an integer shape can hold.
func integerRange(shape *model.Shape) (low, high *big.Int) {
	bits := uint(shape.Bits)
	if bits == 0 {
		bits = 64
	}
	one := big.NewInt(1)
	if shape.Kind == model.ShapeUint {
		return big.NewInt(0), new(big.Int).Sub(new(big.Int).Lsh(one, bits), one)
	}
	limit := new(big.Int).Lsh(one, bits-1)
	return new(big.Int).Neg(limit), new(big.Int).Sub(limit, one)
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
	case model.ShapeString, model.ShapeTime, model.ShapeBytes, model.ShapeText:
		return quoteJSON(text), ""
	case model.ShapeBool:
		if text != "true" && text != "false" {
			return "", fmt.Sprintf("default of a boolean is true or false, not %q", text)
		}
	case model.ShapeInt, model.ShapeUint, model.ShapeFloat, model.ShapeNumber:
		if _, ok := parseNumber(text); !ok {
			return "", fmt.Sprintf("default of %s is a JSON number, not %q", c.text(c.field.v.Type()), text)
		}
	case model.ShapeStruct, model.ShapePatch:
		return "", "an object takes its defaults from its own fields"
	default:
		if !json.Valid([]byte(text)) {
			return "", fmt.Sprintf("default of %s is a JSON value such as [] or {}, not %q", c.text(c.field.v.Type()), text)
		}
	}
	return text, ""
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

// suggestWord is a did-you-mean for word, or a list of what there is.
func suggestWord(word string, candidates []string) string {
	if best, ok := tagparse.Suggest(word, candidates); ok {
		return fmt.Sprintf("did you mean %q?", best)
	}
	if len(candidates) == 0 || len(candidates) > 12 {
		return ""
	}
	return "one of: " + strings.Join(candidates, ", ")
}
