package manifest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/project/manifest"
	"github.com/google/go-cmp/cmp"
)

// notes are definitions that need everything a manifest can say.
func notes() *model.Adapter {
	return &model.Adapter{
		Name: "notes", Version: "9.9.9",
		Operations: []model.Operation{
			{
				Name: "create_note", Category: model.Create, Description: "Create a note", Danger: model.Reversible, Family: "manage",
				Params: []model.Param{
					{Name: "title", Type: "string", Required: true, Sensitive: true, Description: "Heading"},
					{Name: "tags", Type: "array", Default: "[ ]", Items: &model.Param{Type: "string"}},
					{Name: "pinned", Type: "boolean", Default: "false"},
				},
				Examples: []model.Example{{Params: `{"title":"x"}`}},
			},
			{Name: "wipe", Category: model.Delete, Description: "Wipes \"all\" & <everything>", Danger: model.Forbidden, Timeout: 5, Deprecated: "no"},
		},
		Types: []model.Type{
			{Name: "Color", Kind: model.KindEnum, Values: []model.EnumValue{{Value: "red"}}},
			{Name: "Node", Kind: model.KindObject, Fields: []model.Param{{Name: "next", Type: "Node"}}},
			{Name: "Opaque", Kind: model.KindScalar},
		},
	}
}

// REQ-GM-01, REQ-GM-02, REQ-GM-03, REQ-GM-04, REQ-GM-09, T-78: the sample of the requirements, byte for byte. Categories,
// danger levels, families, examples, time limits and what is sensitive are not told.
func TestSample(t *testing.T) {
	got, err := manifest.Render(notes())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"service":{"name":"notes"},"operations":[{"name":"create_note","description":"Create a note","parameters":[` +
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
	list := func(items model.Param) model.Param { return model.Param{Type: "array", Items: &items} }
	for _, tt := range []struct {
		name     string
		param    model.Param
		datatype string
		multiple bool
	}{
		{"string", model.Param{Type: "string"}, "string", false},
		{"uri", model.Param{Type: "string", Format: "uri"}, "string", false},
		{"bool", model.Param{Type: "boolean"}, "boolean", false},
		{"int", model.Param{Type: "integer"}, "integer", false},
		{"int8", model.Param{Type: "integer", Minimum: "-128", Maximum: "127"}, "integer", false},
		{"uint", model.Param{Type: "integer", Minimum: "0"}, "nonNegativeInteger", false},
		{"above -1", model.Param{Type: "integer", Minimum: "-0.5"}, "nonNegativeInteger", false},
		{"from 1", model.Param{Type: "integer", Minimum: "1"}, "positiveInteger", false},
		{"from 1.0", model.Param{Type: "integer", Minimum: "1.0"}, "positiveInteger", false},
		{"from 0.5", model.Param{Type: "integer", Minimum: "0.5"}, "positiveInteger", false},
		{"from 18", model.Param{Type: "integer", Minimum: "18"}, "positiveInteger", false},
		{"from far", model.Param{Type: "integer", Minimum: "1e999"}, "integer", false},
		{"float64", model.Param{Type: "number", Minimum: "0"}, "double", false},
		{"float32", model.Param{Type: "number", Format: "float"}, "float", false},
		{"time.Time", model.Param{Type: "string", Format: "date-time"}, "dateTime", false},
		{"date", model.Param{Type: "string", Format: "date"}, "date", false},
		{"[]byte", model.Param{Type: "string", Format: "byte"}, "base64Binary", false},
		{"enum", model.Param{Type: "Color", Enum: []string{"red"}}, "string", false},
		{"struct", model.Param{Type: "Node"}, "anyType", false},
		{"map", model.Param{Type: "object", Items: &model.Param{Type: "string"}}, "anyType", false},
		{"any", model.Param{Type: "any"}, "anyType", false},
		{"own JSON", model.Param{Type: "Opaque"}, "anyType", false},
		{"unknown", model.Param{Type: "Nowhere"}, "anyType", false},
		{"[]string", list(model.Param{Type: "string"}), "string", true},
		{"[]time.Time", list(model.Param{Type: "string", Format: "date-time"}), "dateTime", true},
		{"[]uint8 as numbers", list(model.Param{Type: "integer", Minimum: "0", Maximum: "255"}), "nonNegativeInteger", true},
		{"[]enum", list(model.Param{Type: "Color"}), "string", true},
		{"[]struct", list(model.Param{Type: "Node"}), "anyType", true},
		{"[]map", list(model.Param{Type: "object"}), "anyType", true},
		{"[][]string", list(list(model.Param{Type: "string"})), "anyType", true},
		{"elements of any kind", model.Param{Type: "array"}, "anyType", true},
		{"fields", model.Param{Type: model.TypeSelection, Presets: []string{"full"}}, "string", true},
		{"alternatives", model.Param{Type: "string | integer"}, "anyType", false},
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
		param model.Param
		want  string
	}{
		{"required", model.Param{Type: "string", Required: true}, "argument"},
		{"optional", model.Param{Type: "string"}, "property"},
		{"boolean", model.Param{Type: "boolean"}, "switch"},
		{"required boolean", model.Param{Type: "boolean", Required: true}, "switch"},
		{"several booleans", model.Param{Type: "array", Items: &model.Param{Type: "boolean"}}, "property"},
		{"several booleans, required", model.Param{Type: "array", Items: &model.Param{Type: "boolean"}, Required: true}, "argument"},
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
		if got := one(t, model.Param{Type: "any", Default: literal}); string(got.Default) != want {
			t.Errorf("default %s: %s, want %s", literal, got.Default, want)
		}
	}
}

// REQ-GM-05: that there are constraints is told, and nothing of them; bounds that the datatype tells are none.
func TestConstraints(t *testing.T) {
	none, some := "", `{"opaque":true}`
	for _, tt := range []struct {
		name  string
		param model.Param
		want  string
	}{
		{"none", model.Param{Type: "string", Description: "x", Format: "uuid", Aliases: []string{"y"}}, none},
		{"unsigned", model.Param{Type: "integer", Minimum: "0"}, none},
		{"positive", model.Param{Type: "integer", Minimum: "1"}, none},
		{"from 18", model.Param{Type: "integer", Minimum: "18"}, some},
		{"minimum of a number", model.Param{Type: "number", Minimum: "0"}, some},
		{"maximum", model.Param{Type: "integer", Minimum: "0", Maximum: "255"}, some},
		{"length", model.Param{Type: "string", MaxLength: 3}, some},
		{"least length", model.Param{Type: "string", MinLength: 3}, some},
		{"pattern", model.Param{Type: "string", Pattern: "^a"}, some},
		{"enum", model.Param{Type: "Color", Enum: []string{"red"}}, some},
		{"items", model.Param{Type: "array", MaxItems: 3, Items: &model.Param{Type: "string"}}, some},
		{"elements", model.Param{Type: "array", Items: &model.Param{Type: "string", MinLength: 1}}, some},
		{"unsigned elements", model.Param{Type: "array", Items: &model.Param{Type: "integer", Minimum: "0"}}, none},
		{"presets", model.Param{Type: model.TypeSelection, Presets: []string{"full"}}, some},
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
	_, err := manifest.Render(&model.Adapter{Operations: []model.Operation{{Name: "get", Params: []model.Param{
		{Name: "broken", Type: "any", Default: "{"}, {Name: "ambiguous", Type: "any", Default: `{ "kind":"empty" }`},
	}}}})
	for _, want := range []string{"has no name", `"get", parameter "broken": the default is not JSON`, `"ambiguous": the default { "kind":"empty" } means`} {
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
	o.Category, o.Danger, o.DangerSource, o.Family, o.Source = model.Execute, model.Forbidden, model.DangerFromTag, "operate", "x.go:1"
	o.Confirm, o.Reasons, o.Timeout, o.Returns = "Sure?", []string{"why"}, 7, model.Returns{Name: "Node", Kind: model.KindObject}
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
func one(t *testing.T, p model.Param) rendered {
	t.Helper()
	a := notes()
	p.Name = "p"
	a.Operations = []model.Operation{{Name: "get", Params: []model.Param{p}}}
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
