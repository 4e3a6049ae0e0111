package manifest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/runtime/describe/manifest"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/google/go-cmp/cmp"
)

// notes are definitions that need everything a manifest can say.
func notes() *gen.Definitions {
	return &gen.Definitions{
		Name: "notes", Version: "9.9.9",
		Operations: []gen.Operation{
			{
				Name: "create_note", Category: gen.Create, Description: "Create a note", Danger: gen.Reversible, Family: "manage",
				Params: []gen.Param{
					{Name: "title", Type: "string", Required: true, Sensitive: true, Description: "Heading"},
					{Name: "tags", Type: "array", Default: "[ ]", Items: &gen.Param{Type: "string"}},
					{Name: "pinned", Type: "boolean", Default: "false"},
				},
				Examples: []gen.Example{{Params: `{"title":"x"}`}},
			},
			{Name: "wipe", Category: gen.Delete, Description: "Wipes \"all\" & <everything>", Danger: gen.Forbidden, Timeout: 5,
				Deprecated: "no"},
		},
		Types: []gen.Type{
			{Name: "Color", Kind: gen.KindEnum, Values: []gen.EnumValue{{Value: "red"}}},
			{Name: "Node", Kind: gen.KindObject, Fields: []gen.Param{{Name: "next", Type: "Node"}}},
			{Name: "Opaque", Kind: gen.KindScalar},
		},
	}
}

// REQ-GM-01, REQ-GM-02, REQ-GM-03, REQ-GM-04, REQ-GM-09, T-78: the sample of the requirements, byte for byte.
// Categories, danger levels, families, examples, time limits and what is sensitive are not told.
func TestSample(t *testing.T) {
	got, err := manifest.Render(notes())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"service":{"name":"notes"},"operations":[` +
		`{"name":"create_note","description":"Create a note","parameters":[` +
		`{"name":"title","kind":"argument","datatype":"string","required":true,"multiple":false},` +
		`{"name":"tags","kind":"property","datatype":"string","required":false,"multiple":true,"default":{"kind":"empty"}},` +
		`{"name":"pinned","kind":"switch","datatype":"boolean","required":false,"multiple":false,"default":false}]},` +
		`{"name":"wipe","description":"Wipes \"all\" & <everything>","parameters":[]}]}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// T-78: what a parameter's type becomes.
func TestDatatypes(t *testing.T) {
	list := func(items gen.Param) gen.Param { return gen.Param{Type: "array", Items: &items} }
	for _, tt := range []struct {
		name     string
		param    gen.Param
		datatype string
		multiple bool
	}{
		{"string", gen.Param{Type: "string"}, "string", false},
		{"uri", gen.Param{Type: "string", Format: "uri"}, "string", false},
		{"bool", gen.Param{Type: "boolean"}, "boolean", false},
		{"int", gen.Param{Type: "integer"}, "integer", false},
		{"int8", gen.Param{Type: "integer", Minimum: "-128", Maximum: "127"}, "integer", false},
		{"uint", gen.Param{Type: "integer", Minimum: "0"}, "nonNegativeInteger", false},
		{"above -1", gen.Param{Type: "integer", Minimum: "-0.5"}, "nonNegativeInteger", false},
		{"from 1", gen.Param{Type: "integer", Minimum: "1"}, "positiveInteger", false},
		{"from 1.0", gen.Param{Type: "integer", Minimum: "1.0"}, "positiveInteger", false},
		{"from 0.5", gen.Param{Type: "integer", Minimum: "0.5"}, "positiveInteger", false},
		{"from 18", gen.Param{Type: "integer", Minimum: "18"}, "positiveInteger", false},
		{"from far", gen.Param{Type: "integer", Minimum: "1e999"}, "integer", false},
		{"float64", gen.Param{Type: "number", Minimum: "0"}, "double", false},
		{"float32", gen.Param{Type: "number", Format: "float"}, "float", false},
		{"time.Time", gen.Param{Type: "string", Format: "date-time"}, "dateTime", false},
		{"date", gen.Param{Type: "string", Format: "date"}, "date", false},
		{"[]byte", gen.Param{Type: "string", Format: "byte"}, "base64Binary", false},
		{"enum", gen.Param{Type: "Color", Enum: []string{"red"}}, "string", false},
		{"struct", gen.Param{Type: "Node"}, "anyType", false},
		{"map", gen.Param{Type: "object", Items: &gen.Param{Type: "string"}}, "anyType", false},
		{"any", gen.Param{Type: "any"}, "anyType", false},
		{"own JSON", gen.Param{Type: "Opaque"}, "anyType", false},
		{"unknown", gen.Param{Type: "Nowhere"}, "anyType", false},
		{"[]string", list(gen.Param{Type: "string"}), "string", true},
		{"[]time.Time", list(gen.Param{Type: "string", Format: "date-time"}), "dateTime", true},
		{"[]uint8 as numbers", list(gen.Param{Type: "integer", Minimum: "0", Maximum: "255"}), "nonNegativeInteger", true},
		{"[]enum", list(gen.Param{Type: "Color"}), "string", true},
		{"[]struct", list(gen.Param{Type: "Node"}), "anyType", true},
		{"[]map", list(gen.Param{Type: "object"}), "anyType", true},
		{"[][]string", list(list(gen.Param{Type: "string"})), "anyType", true},
		{"elements of any kind", gen.Param{Type: "array"}, "anyType", true},
		{"fields", gen.Param{Type: gen.TypeSelection, Presets: []string{"full"}}, "string", true},
		{"alternatives", gen.Param{Type: "string | integer"}, "anyType", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := one(t, tt.param)
			if got.Datatype != tt.datatype || got.Multiple != tt.multiple {
				t.Errorf("%s, multiple %v; want %s, %v", got.Datatype, got.Multiple, tt.datatype, tt.multiple)
			}
		})
	}
}

// T-78: required makes an argument, optional a property, a boolean a switch.
func TestKinds(t *testing.T) {
	for _, tt := range []struct {
		name  string
		param gen.Param
		want  string
	}{
		{"required", gen.Param{Type: "string", Required: true}, "argument"},
		{"optional", gen.Param{Type: "string"}, "property"},
		{"boolean", gen.Param{Type: "boolean"}, "switch"},
		{"required boolean", gen.Param{Type: "boolean", Required: true}, "switch"},
		{"several booleans", gen.Param{Type: "array", Items: &gen.Param{Type: "boolean"}}, "property"},
		{"several booleans, required", gen.Param{Type: "array", Items: &gen.Param{Type: "boolean"}, Required: true},
			"argument"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := one(t, tt.param)
			if got.Kind != tt.want || got.Required != tt.param.Required {
				t.Errorf("%s, required %v", got.Kind, got.Required)
			}
		})
	}
}

// REQ-GM-04: a value, empty, or nothing; an empty text is a value and nothing is made up.
func TestDefaults(t *testing.T) {
	for literal, want := range map[string]string{
		"":                         "",
		`"medium"`:                 `"medium"`,
		`""`:                       `""`,
		"0":                        "0",
		"1.50":                     "1.50",
		"12345678901234567890":     "12345678901234567890",
		"false":                    "false",
		`[ "a" , 1 ]`:              `["a",1]`,
		`{"kind": "full"}`:         `{"kind":"full"}`,
		"[]":                       `{"kind":"empty"}`,
		"{ }":                      `{"kind":"empty"}`,
		"null":                     `{"kind":"empty"}`,
		`"<&>"`:                    `"<&>"`,
		`["{\"kind\":\"empty\"}"]`: `["{\"kind\":\"empty\"}"]`,
	} {
		if got := one(t, gen.Param{Type: "any", Default: literal}); string(got.Default) != want {
			t.Errorf("default %s: %s, want %s", literal, got.Default, want)
		}
	}
}

// REQ-GM-05: that there are constraints is told, and nothing of them; bounds that the datatype tells are none.
func TestConstraints(t *testing.T) {
	none, some := "", `{"opaque":true}`
	for _, tt := range []struct {
		name  string
		param gen.Param
		want  string
	}{
		{"none", gen.Param{Type: "string", Description: "x", Format: "uuid", Aliases: []string{"y"}}, none},
		{"unsigned", gen.Param{Type: "integer", Minimum: "0"}, none},
		{"positive", gen.Param{Type: "integer", Minimum: "1"}, none},
		{"from 18", gen.Param{Type: "integer", Minimum: "18"}, some},
		{"minimum of a number", gen.Param{Type: "number", Minimum: "0"}, some},
		{"maximum", gen.Param{Type: "integer", Minimum: "0", Maximum: "255"}, some},
		{"length", gen.Param{Type: "string", MaxLength: 3}, some},
		{"least length", gen.Param{Type: "string", MinLength: 3}, some},
		{"pattern", gen.Param{Type: "string", Pattern: "^a"}, some},
		{"enum", gen.Param{Type: "Color", Enum: []string{"red"}}, some},
		{"items", gen.Param{Type: "array", MaxItems: 3, Items: &gen.Param{Type: "string"}}, some},
		{"elements", gen.Param{Type: "array", Items: &gen.Param{Type: "string", MinLength: 1}}, some},
		{"unsigned elements", gen.Param{Type: "array", Items: &gen.Param{Type: "integer", Minimum: "0"}}, none},
		{"presets", gen.Param{Type: gen.TypeSelection, Presets: []string{"full"}}, some},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := string(one(t, tt.param).Constraints); got != tt.want {
				t.Errorf("constraints %s, want %s", got, tt.want)
			}
		})
	}
}

// What cannot be told is refused, all of it at once.
func TestFaults(t *testing.T) {
	_, err := manifest.Render(&gen.Definitions{Operations: []gen.Operation{{Name: "get", Params: []gen.Param{
		{Name: "broken", Type: "any", Default: "{"}, {Name: "ambiguous", Type: "any", Default: `{ "kind":"empty" }`},
	}}}})
	for _, want := range []string{
		"has no name", `"get", parameter "broken": the default is not JSON`,
		`"ambiguous": the default { "kind":"empty" } means`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %s", err, want)
		}
	}
}

// REQ-GM-06: the same definitions give the same bytes, and what does not belong into a manifest changes none of them.
func TestNothingElseMatters(t *testing.T) {
	first, err := manifest.Render(notes())
	if err != nil {
		t.Fatal(err)
	}
	other := notes()
	other.Version = "0.0.1"
	o := &other.Operations[0]
	o.Category, o.Danger, o.DangerSource = gen.Execute, gen.Forbidden, gen.DangerFromTag
	o.Family, o.Source, o.Confirm, o.Reasons, o.Timeout = "operate", "x.go:1", "Sure?", []string{"why"}, 7
	o.Returns = gen.Returns{Name: "Node", Kind: gen.KindObject}
	o.Params[0].Sensitive, o.Params[0].Go, o.Params[0].Description = false, "Title", "Other"
	again, err := manifest.Render(other)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(first), string(again)); diff != "" {
		t.Errorf("-first +again:\n%s", diff)
	}
}

// rendered is a parameter as a manifest shows it.
type rendered struct {
	Kind, Datatype       string
	Required, Multiple   bool
	Default, Constraints json.RawMessage
}

// one renders one parameter.
func one(t *testing.T, p gen.Param) rendered {
	t.Helper()
	a := notes()
	p.Name = "p"
	a.Operations = []gen.Operation{{Name: "get", Params: []gen.Param{p}}}
	text, err := manifest.Render(a)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Operations []struct{ Parameters []rendered }
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return got.Operations[0].Parameters[0]
}
