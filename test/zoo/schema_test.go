package zoo_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"testing"

	validator "github.com/santhosh-tekuri/jsonschema/v6"

	files "github.com/aqltag/aqltag/internal/export/jsonschema"
	"github.com/aqltag/aqltag/runtime/jsonschema"
)

// schema is a JSON Schema that validates values, and values are made from.
type schema struct {
	document map[string]any
	compiler *validator.Compiler
	whole    *validator.Schema
}

// newSchema compiles an exported schema.
func newSchema(t *testing.T, exported *jsonschema.Schema) *schema {
	t.Helper()
	text, err := files.Render(exported)
	if err != nil {
		t.Fatal(err)
	}
	return parseSchema(t, text)
}

func parseSchema(t *testing.T, text []byte) *schema {
	t.Helper()
	document, err := validator.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	s := &schema{document: document.(map[string]any), compiler: validator.NewCompiler()}
	s.compiler.AssertFormat()
	for _, hint := range []string{"uuid", "email", "uri"} { // which adapters do not check
		s.compiler.RegisterFormat(&validator.Format{Name: hint, Validate: func(any) error { return nil }})
	}
	if err := s.compiler.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	s.whole = s.at(t, "")
	return s
}

// at compiles the part of a schema at a JSON pointer.
func (s *schema) at(t *testing.T, pointer string) *validator.Schema {
	t.Helper()
	compiled, err := s.compiler.Compile("schema.json#" + pointer)
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// check returns why a schema does not accept a JSON text, and whether it accepts it.
func check(s *validator.Schema, text []byte) error {
	value, err := validator.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return err
	}
	return s.Validate(value)
}

// maker makes values that a schema accepts, mostly.
type maker struct {
	*rand.Rand
	document map[string]any
}

// names are the names of members where a schema has none: some that are keys of every kind of map.
var names = []string{
	"a", "1", "-7", "red", "0", "ff", "300", "10.0.0.1", "00112233-4455-6677-8899-aabbccddeeff", "", "é", "A b",
	"9223372036854775808",
}

func (m maker) value(of any, deep int) any {
	s, ok := of.(map[string]any) // or true, for anything
	if !ok || len(s) == 0 {
		return m.any()
	}
	if ref, ok := s["$ref"].(string); ok && s["enum"] == nil {
		return m.value(m.document["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")], deep)
	}
	if constant, ok := s["const"]; ok {
		return constant
	}
	for _, key := range []string{"enum", "anyOf", "oneOf"} {
		list := listOf(s[key])
		switch {
		case len(list) == 0 || key != "enum" && s["properties"] != nil:
		case key == "enum":
			return list[m.IntN(len(list))]
		case deep <= 0:
			return m.value(list[len(list)-1], deep)
		default:
			return m.value(list[m.IntN(len(list))], deep)
		}
	}
	kind, _ := s["type"].(string)
	if kinds := listOf(s["type"]); len(kinds) > 0 {
		at := 0
		if m.IntN(4) == 0 || deep <= 0 {
			at = m.IntN(len(kinds))
		}
		kind = kinds[at].(string)
	}
	switch kind {
	case "null":
		return nil
	case "boolean":
		return m.IntN(2) == 0
	case "integer", "number":
		return m.number(s, kind)
	case "string":
		return m.text(s)
	case "array":
		list := []any{}
		for range m.count(s["minItems"], s["maxItems"], deep) {
			list = append(list, m.value(s["items"], deep-1))
		}
		return list
	case "object":
		return m.object(s, deep)
	}
	return m.any()
}

func (m maker) any() any {
	return []any{"x", json.Number("1"), json.Number("-0.5"), true, nil, []any{}, map[string]any{"a": nil}}[m.IntN(7)]
}

func (m maker) count(low, high any, deep int) int {
	from := intOf(low, 0)
	if deep <= 0 {
		return from
	}
	return from + m.IntN(min(intOf(high, from+2)-from, 2)+1)
}

// number is within the bounds, and often at one of them.
func (m maker) number(s map[string]any, kind string) any {
	low, high := numberOf(s["minimum"], s["exclusiveMinimum"]), numberOf(s["maximum"], s["exclusiveMaximum"])
	small := json.Number(strconv.Itoa(m.IntN(5)))
	picks := []json.Number{low, high, small, small, "100"}
	if kind == "number" {
		picks = append(picks, "0.75", "-1e3", "1.5")
	}
	return picks[m.IntN(len(picks))]
}

func numberOf(bounds ...any) json.Number {
	for _, bound := range bounds {
		if n, ok := bound.(json.Number); ok {
			return n
		}
	}
	return "3"
}

func (m maker) text(s map[string]any) any {
	format, _ := s["format"].(string)
	pick := func(list ...string) any { return list[m.IntN(len(list))] }
	if pattern, ok := s["pattern"].(string); ok {
		if parsed, err := syntax.Parse(pattern, syntax.Perl); err == nil {
			return m.matching(parsed.Simplify())
		}
	}
	switch format {
	case "date-time":
		return pick("2026-03-01T09:00:00Z", "1999-12-31T23:59:59.123456789+05:30", "0001-01-01T00:00:00Z")
	case "date":
		return pick("2026-03-01", "2024-02-29")
	case "uuid":
		return "00112233-4455-6677-8899-aabbccddeeff"
	case "ip":
		return pick("10.0.0.1", "2001:db8::1")
	case "cidr":
		return "10.0.0.0/8"
	}
	text, low, high := []rune(texts[m.IntN(len(texts))]), intOf(s["minLength"], 0), intOf(s["maxLength"], 100)
	for len(text) < low {
		text = append(text, 'é')
	}
	return string(text[:min(len(text), high)])
}

// matching makes a text that an expression matches.
func (m maker) matching(re *syntax.Regexp) string {
	repeat := func(low, high int) string {
		var s strings.Builder
		for range low + m.IntN(high-low+1) {
			s.WriteString(m.matching(re.Sub[0]))
		}
		return s.String()
	}
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		pair := 2 * m.IntN(len(re.Rune)/2)
		return string(re.Rune[pair] + rune(m.IntN(int(min(re.Rune[pair+1]-re.Rune[pair], 20))+1)))
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "x"
	case syntax.OpConcat:
		var s strings.Builder
		for _, sub := range re.Sub {
			s.WriteString(m.matching(sub))
		}
		return s.String()
	case syntax.OpCapture:
		return m.matching(re.Sub[0])
	case syntax.OpAlternate:
		return m.matching(re.Sub[m.IntN(len(re.Sub))])
	case syntax.OpStar:
		return repeat(0, 3)
	case syntax.OpPlus:
		return repeat(1, 3)
	case syntax.OpQuest:
		return repeat(0, 1)
	case syntax.OpRepeat:
		return repeat(re.Min, max(re.Max, re.Min))
	}
	return ""
}

func (m maker) object(s map[string]any, deep int) any {
	object := map[string]any{}
	properties, _ := s["properties"].(map[string]any)
	required := listOf(s["required"])
	for _, name := range sorted(properties) {
		if slices.Contains(required, any(name)) || deep > 0 && m.IntN(3) == 0 {
			object[name] = m.value(properties[name], deep-1)
		}
	}
	if values, ok := s["additionalProperties"]; ok && values != false {
		for range m.count(s["minProperties"], s["maxProperties"], deep) {
			name := names[m.IntN(len(names))]
			if rule, ok := s["propertyNames"].(map[string]any); ok && m.IntN(8) > 0 {
				rule["type"] = "string"
				name, _ = m.value(rule, deep).(string)
				delete(rule, "type")
			}
			object[name] = m.value(values, deep-1)
		}
	}
	return object
}

// mutated changes a value at one place.
func (m maker) mutated(value any) any {
	wrong := []any{
		nil, nil, "", "x", json.Number("1"), json.Number("-1"), json.Number("1.5"), json.Number("1.0"), json.Number("1e2"),
		json.Number("300"), json.Number("70000"), json.Number("5000000000"), json.Number("9223372036854775807"),
		json.Number("9223372036854775808"), json.Number("18446744073709551616"), json.Number("1e400"), json.Number("1e39"),
		true, map[string]any{},
		map[string]any{"no_such_field": "1"}, []any{}, []any{"x"}, []any{nil}, []any{json.Number("1")}, "2026-03-01",
		"2026-03-01T09:00:00Z", "aGk=", "aGk", "12", " 7", "red", "\x00", "2026-02-30",
		"9223372036854775808", "2016-12-31T23:59:60Z",
	}
	switch inner := value.(type) {
	case map[string]any:
		if keys := sorted(inner); len(keys) > 0 && m.IntN(4) > 0 {
			key := keys[m.IntN(len(keys))]
			switch changed := maps.Clone(inner); m.IntN(8) {
			case 0:
				delete(changed, key)
				return changed
			case 1:
				changed["no_such_name"] = inner[key]
				return changed
			default:
				changed[key] = m.mutated(inner[key])
				return changed
			}
		}
	case []any:
		if len(inner) > 0 && m.IntN(4) > 0 {
			changed := slices.Clone(inner)
			switch at := m.IntN(len(inner)); m.IntN(6) {
			case 0:
				return append(changed, inner[at])
			case 1:
				return slices.Delete(changed, at, at+1)
			default:
				changed[at] = m.mutated(inner[at])
				return changed
			}
		}
	}
	return wrong[m.IntN(len(wrong))]
}

func listOf(value any) []any {
	list, _ := value.([]any)
	return list
}

func intOf(value any, otherwise int) int {
	if n, ok := value.(json.Number); ok {
		i, _ := n.Int64()
		return int(i)
	}
	return otherwise
}

func sorted(object map[string]any) []string { return slices.Sorted(maps.Keys(object)) }
