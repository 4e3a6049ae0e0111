package golden_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"testing"

	validator "github.com/santhosh-tekuri/jsonschema/v6"

	files "github.com/aqltag/aqltag/internal/export/jsonschema"
	"github.com/aqltag/aqltag/internal/scan"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/jsonschema"
)

// The exported JSON Schemas say what adapters accept. Random requests that a schema accepts are accepted; the same
// requests broken at a random place get the same verdict from the adapter and from a validator of JSON Schema; and what
// operations answer is accepted by the schema of their result.
func holdAgainstExports(t *testing.T, driver, dir string, scenarios []*scenario, result scan.Result) {
	p := startAdapters(t, driver)
	for i := range result.Packages {
		pkg := &result.Packages[i]
		name := nameOf(t, dir, pkg.Dir)
		at := slices.IndexFunc(scenarios, func(s *scenario) bool { return s.name == name })
		if at < 0 {
			continue
		}
		if _, callable := scenarios[at].file("calls.txt"); !callable {
			continue
		}
		adapter := &gen.Definitions{Name: name, Types: pkg.Types, Relations: pkg.RelationDefinitions()}
		for _, h := range pkg.Handlers {
			adapter.Operations = append(adapter.Operations, h.Operation)
		}
		adapter.RelateTypes()
		t.Run(name, func(t *testing.T) {
			p.t = t
			for i := range adapter.Operations {
				e := newExported(t, adapter, &adapter.Operations[i])
				e.hold(t, func(params string) []byte {
					category := strings.ToLower(string(e.operation.Category))
					return p.call(name, "mcp_aql_"+category, fmt.Sprintf(`{"operation":%q,"params":%s}`, e.operation.Name, params))
				})
			}
		})
	}
}

// exported is an operation with its JSON Schemas, and makes requests from them.
type exported struct {
	operation *gen.Operation
	params    *validator.Schema
	tool      *validator.Schema // of the operation as a tool of its own
	result    *validator.Schema
	document  map[string]any
	random    *rand.Rand
	obscure   string // what a schema alone does not tell a value of
}

func newExported(t *testing.T, a *gen.Definitions, o *gen.Operation) *exported {
	t.Helper()
	e := &exported{operation: o, random: rand.New(rand.NewPCG(*fidelitySeed, uint64(len(o.Name))))}
	var document any
	e.params, document = compiled(t, jsonschema.Params(a, o))
	e.document = document.(map[string]any)
	e.tool, _ = compiled(t, jsonschema.NewTools(a).Arguments(o, true))
	e.result, _ = compiled(t, jsonschema.Result(a, o.Returns.Name))
	return e
}

// compiled compiles an exported schema, which the metaschema must accept.
func compiled(t *testing.T, schema *jsonschema.Schema) (*validator.Schema, any) {
	t.Helper()
	text, err := files.Render(schema)
	if err != nil {
		t.Fatal(err)
	}
	document, err := validator.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	compiler := validator.NewCompiler()
	compiler.AssertFormat()
	for _, hint := range []string{"uuid", "email", "uri"} { // which adapters do not check
		compiler.RegisterFormat(&validator.Format{Name: hint, Validate: func(any) error { return nil }})
	}
	if err := compiler.AddResource("export.json", document); err != nil {
		t.Fatal(err)
	}
	compiledSchema, err := compiler.Compile("export.json")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return compiledSchema, document
}

// inputType is the type of what an update changes, empty if the operation is none.
func (e *exported) inputType() string {
	if input, ok := e.operation.Param("input"); ok {
		return input.Type
	}
	return ""
}

func (e *exported) hold(t *testing.T, call func(params string) []byte) {
	t.Helper()
	ask := func(params string) (judgement, []byte) {
		reply := call(params)
		var v judgement
		if err := json.Unmarshal(reply, &v); err != nil {
			t.Fatalf("%v: %s", err, reply)
		}
		return v, reply
	}
	for range *fidelityRounds {
		value, ok := e.value(e.document, 0)
		if !ok {
			t.Logf("%s: the schema alone does not tell a value of %s", e.operation.Name, e.obscure)
			return
		}
		if params, ok := value.(map[string]any); ok {
			pages := map[string]bool{}
			for i := range e.operation.Params {
				pages[e.operation.Params[i].Name] = true
			}
			maps.DeleteFunc(params, func(name string, _ any) bool { return contradicts(pages, name) })
		}
		text := written(t, value)
		if err := validate(e.params, text); err != nil {
			t.Fatalf("%s: the test makes %s, which the schema refuses: %v", e.operation.Name, text, err)
		}
		v, reply := ask(text)
		if v.refused() && !v.ofResource(e.inputType()) && !looser(reply) {
			t.Errorf("seed %d: %s %s is what the schema accepts, and refused: %s", *fidelitySeed, e.operation.Name, text, reply)
			return
		}
		if v.Success {
			if err := validate(e.result, string(v.Data)); err != nil {
				t.Errorf("seed %d: %s %s answers %s, which the schema of its result refuses: %v", *fidelitySeed, e.operation.Name,
					text, reply, err)
				return
			}
		}
		for range 6 {
			broken := e.mutated(parsed(t, text))
			changed := written(t, broken)
			refusal := validate(e.params, changed)
			v, reply := ask(changed)
			if refusal == nil && v.refused() && !v.ofResource(e.inputType()) && !looser(reply) {
				t.Errorf("seed %d: %s %s is what the schema accepts, and refused: %s", *fidelitySeed, e.operation.Name, changed,
					reply)
				return
			}
			if refusal != nil && !beyondTools(refusal) && validate(e.tool, changed) == nil {
				t.Errorf("seed %d: %s %s is accepted by the schema of the tool alone: %v", *fidelitySeed, e.operation.Name, changed,
					refusal)
				return
			}
			if refusal != nil && !v.refused() && !stricter(refusal) {
				t.Errorf("seed %d: %s %s is accepted, but not by the schema: %v", *fidelitySeed, e.operation.Name, changed, refusal)
				return
			}
		}
	}
}

// unknowable are refusals, among them those of what types read by methods of their own, that definitions know nothing
// of.
var unknowable = []string{
	"well-formed", "in quotes", "expected 'uuid', got 'string'", "expected 'ip', got 'string'",
	"expected 'cidr', got 'string'",
	"'tree[", "'dict.", "'mixed[", // what contains itself without end
}

// looser reports whether a refusal is of these kinds.
func looser(reply []byte) bool {
	return slices.ContainsFunc(unknowable, func(text string) bool { return strings.Contains(string(reply), text) })
}

// stricter reports whether a request is of the kinds that schemas refuse although some adapters accept them, which
// definitions do not tell: numbers for integers that travel as strings, of which only descriptions say that they are
// accepted.
func stricter(refusal error) bool {
	text := refusal.Error()
	return strings.Contains(text, "got number, want string") || strings.Contains(text, "got number, want null or string")
}

// beyondTools reports whether a request is of the kinds that the schemas of tools do not refuse although the adapter
// does: integers beyond 64 bits, selections of fields that do not exist, summaries of nothing, and tokens where nothing
// is to be confirmed.
func beyondTools(refusal error) bool {
	text := refusal.Error()
	return strings.Contains(text, "9.223372036854776×10¹⁸") || strings.Contains(text, "/fields") ||
		strings.Contains(text, "'/aggregate/") && strings.Contains(text, "'anyOf' failed") ||
		strings.Contains(text, "'confirmation_token'")
}

func written(t *testing.T, value any) string {
	t.Helper()
	text, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// value makes a value that a schema accepts. It returns false where it cannot.
func (e *exported) value(schema any, depth int) (any, bool) {
	s, _ := schema.(map[string]any) // or true, for anything
	if ref, ok := s["$ref"].(string); ok {
		of := e.document["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
		if _, narrowed := s["enum"]; !narrowed {
			s = of
		}
	}
	if values, ok := s["enum"].([]any); ok {
		return values[e.random.IntN(len(values))], true
	}
	if alternatives, ok := s["anyOf"].([]any); ok {
		at := e.random.IntN(len(alternatives))
		if depth > 5 {
			at = len(alternatives) - 1
		}
		return e.value(alternatives[at], depth)
	}
	kind, ok := s["type"].(string)
	if list, several := s["type"].([]any); several {
		kind, ok = list[min(e.random.IntN(4), 1)^1].(string), true
		if kind != "null" || e.random.IntN(4) > 0 && depth < 5 {
			kind = list[0].(string)
		}
	}
	if !ok {
		return []any{"x", json.Number("1"), true, map[string]any{"a": "b"}, []any{}}[e.random.IntN(5)], true
	}
	switch kind {
	case "null":
		return nil, true
	case "boolean":
		return e.random.IntN(2) == 0, true
	case "integer", "number":
		low, high := numberOf(s["minimum"]), numberOf(s["maximum"])
		d := described{Minimum: low, Maximum: high}
		from, to := bounds(d)
		return json.Number(strconv.FormatInt(from+e.random.Int64N(to-from+1), 10)), true
	case "string":
		return e.string(s)
	case "array":
		return e.array(s, depth)
	default:
		return e.object(s, depth)
	}
}

func numberOf(value any) *json.Number {
	if n, ok := value.(json.Number); ok {
		return &n
	}
	return nil
}

func intOf(value any) int {
	if n, ok := value.(json.Number); ok {
		i, _ := n.Int64()
		return int(i)
	}
	return 0
}

func (e *exported) string(s map[string]any) (any, bool) {
	description, _ := s["description"].(string)
	format, _ := s["format"].(string)
	switch {
	case s["contentEncoding"] != nil:
		return "aGk=", true
	case format == "date-time":
		return fmt.Sprintf("20%02d-03-01T09:00:00Z", 10+e.random.IntN(80)), true
	case format == "date":
		return fmt.Sprintf("20%02d-03-01", 10+e.random.IntN(80)), true
	case format != "", strings.Contains(description, "service checks"), strings.Contains(description, "as a string"):
		e.obscure = "text " + format + " (" + description + ")"
		return nil, false
	}
	g := &valueMaker{random: e.random}
	pattern, _ := s["pattern"].(string)
	if pattern != "" {
		if _, err := syntax.Parse(pattern, syntax.Perl); err != nil {
			panic(err)
		}
	}
	return g.string(described{Pattern: pattern, MinLength: intOf(s["minLength"]), MaxLength: intOf(s["maxLength"])}), true
}

func (e *exported) count(low, high, depth int) int {
	if high == 0 {
		high = low + 3
	}
	if depth > 3 {
		return low
	}
	return low + e.random.IntN(min(high-low, 3)+1)
}

func (e *exported) array(s map[string]any, depth int) (any, bool) {
	list := []any{}
	for range e.count(intOf(s["minItems"]), intOf(s["maxItems"]), depth) {
		value, ok := e.value(s["items"], depth+1)
		if !ok {
			if intOf(s["minItems"]) == 0 {
				return list, true
			}
			return nil, false
		}
		list = append(list, value)
	}
	return list, true
}

func (e *exported) object(s map[string]any, depth int) (any, bool) {
	object := map[string]any{}
	required := map[string]bool{}
	for _, name := range listOf(s["required"]) {
		required[name.(string)] = true
	}
	left := map[string]bool{} // names of a value that goes by another one
	for _, rule := range listOf(s["allOf"]) {
		names := listOf(rule.(map[string]any)["oneOf"])
		if len(names) == 0 {
			continue // addNeeded knows the others
		}
		at := e.random.IntN(len(names))
		for i, name := range names {
			one := listOf(name.(map[string]any)["required"])
			if one == nil {
				continue
			}
			required[one[0].(string)], left[one[0].(string)] = i == at, i != at
		}
	}
	properties, _ := s["properties"].(map[string]any)
	for _, name := range sorted(properties) {
		if left[name] || !required[name] && (depth > 3 || e.random.IntN(2) == 0) {
			continue
		}
		value, ok := e.value(properties[name], depth+1)
		if !ok && required[name] {
			if value, ok = e.shown(name, depth); !ok {
				return nil, false
			}
		}
		if ok {
			object[name] = value
		}
	}
	e.addNeeded(object, s, properties, depth)
	if least := intOf(s["minProperties"]); least > 0 && len(object) == 0 && len(properties) > 0 {
		names := sorted(properties)
		name := names[e.random.IntN(len(names))]
		value, ok := e.value(properties[name], depth+1)
		if !ok {
			return nil, false
		}
		object[name] = value
	}
	if values, ok := s["additionalProperties"]; ok && values != false {
		names, _ := s["propertyNames"].(map[string]any)
		pattern, _ := names["pattern"].(string)
		description, _ := s["description"].(string)
		if names != nil && pattern == "" || strings.Contains(description, "service checks") {
			return object, true
		}
		g := &valueMaker{random: e.random}
		for i := range e.count(intOf(s["minProperties"]), intOf(s["maxProperties"]), depth) {
			name := strconv.Itoa(i + 1)
			if pattern != "" {
				name = g.string(described{Pattern: pattern})
			}
			if value, ok := e.value(values, depth+1); ok {
				object[name] = value
			}
		}
	}
	return object, true
}

// addNeeded adds to an object one of the members of which its schema demands some.
func (e *exported) addNeeded(object, s, properties map[string]any, depth int) {
	for _, rule := range listOf(s["allOf"]) {
		choices := listOf(rule.(map[string]any)["anyOf"])
		if len(choices) == 0 {
			continue
		}
		choice := choices[e.random.IntN(len(choices))].(map[string]any)
		name := listOf(choice["required"])[0].(string)
		of := choice["properties"].(map[string]any)[name].(map[string]any)
		if of["enum"] == nil {
			of = properties[name].(map[string]any)
		}
		for object[name] = nil; object[name] == nil; {
			object[name], _ = e.value(of, depth+1)
		}
	}
}

// shown is the value that an example has for a parameter.
func (e *exported) shown(name string, depth int) (any, bool) {
	for _, example := range listOf(e.document["examples"]) {
		if value, ok := example.(map[string]any)[name]; ok && depth == 0 {
			return value, true
		}
	}
	return nil, false
}

func listOf(value any) []any {
	list, _ := value.([]any)
	return list
}

func sorted(object map[string]any) []string {
	var names []string
	for name := range object {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// mutated is a value that is changed at one place.
func (e *exported) mutated(value any) any {
	wrong := []any{
		nil, "", "x", "no such value", json.Number("1"), json.Number("-1"), json.Number("1.5"), json.Number("1.0"),
		json.Number("300"), json.Number("70000"),
		json.Number("9223372036854775808"), true, map[string]any{}, map[string]any{"no_such_field": "1"}, []any{}, []any{"x"},
		[]any{json.Number("1")},
	}
	pick := func() any { return wrong[e.random.IntN(len(wrong))] }
	switch value := value.(type) {
	case map[string]any:
		names := sorted(value)
		switch n := e.random.IntN(8); {
		case n == 0:
			value["no_such_name"] = pick()
		case n == 1:
			value["_metadata"] = pick()
		case n == 2 && len(names) > 0:
			delete(value, names[e.random.IntN(len(names))])
		case len(names) > 0:
			name := names[e.random.IntN(len(names))]
			if n == 3 {
				value[name] = pick()
			} else {
				value[name] = e.deeper(value[name], pick)
			}
		}
		return value
	default:
		return value
	}
}

func (e *exported) deeper(value any, pick func() any) any {
	switch inner := value.(type) {
	case map[string]any:
		if len(inner) > 0 && e.random.IntN(3) > 0 {
			return e.mutated(value)
		}
	case []any:
		if len(inner) > 0 && e.random.IntN(3) > 0 {
			i := e.random.IntN(len(inner))
			inner[i] = e.deeper(inner[i], pick)
			return inner
		}
	}
	return pick()
}
