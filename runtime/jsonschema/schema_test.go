package jsonschema

import (
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

func TestTextRefusesWhatIsNotJSON(t *testing.T) {
	if text, err := (&Schema{Default: jsontext.Value("{")}).Text(); err == nil {
		t.Errorf("no error, but %s", text)
	}
}

// Members of schemas have their order, and what schemas hold has its own: names of properties, values.
func TestTextOrdersSchemasAlone(t *testing.T) {
	text, err := (&Schema{Type: Types{"object"}, Title: "<T>", Properties: Properties{
		{"type", &Schema{Default: jsontext.Value(`{"type":1,"$ref":2,"title":"<a>"}`), Type: Types{"string"}}},
		{"$ref", &Schema{Enum: []any{"b", "a"}}},
	}}).Text()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"title":"<T>","type":"object","properties":{` +
		`"type":{"type":"string","default":{"type":1,"$ref":2,"title":"<a>"}},"$ref":{"enum":["b","a"]}}}`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// A type that occurs once is written where it occurs, with what is said of it there, and one that contains itself is
// not. No type means anything.
func TestToolsHaveSmallSchemas(t *testing.T) {
	a := &gen.Definitions{
		Operations: []gen.Operation{{Name: "move", Category: gen.Execute, Danger: gen.Destructive, Params: []gen.Param{
			{Name: "to", Type: "Place", Required: true, Description: "Where to", Aliases: []string{"target"}},
			{Name: "how", Type: "Mode", Default: `"slow"`, Enum: []string{"slow", "fast"}},
			{Name: "load", Type: "Box"},
			{Name: "times", Type: "integer", Minimum: "1", Excludes: []string{"note"}},
			{Name: "note", Type: "any"},
		}}},
		Types: []gen.Type{
			{Name: "Place", Kind: gen.KindObject, Description: "A place", Fields: []gen.Param{
				{Name: "at", Type: "Point", Required: true}, {Name: "door", Type: "string"},
			}},
			{Name: "Point", Kind: gen.KindObject, Fields: []gen.Param{{Name: "x", Type: "number"}}},
			{Name: "Mode", Kind: gen.KindEnum, Values: []gen.EnumValue{{Value: "slow"}, {Value: "fast", Description: "Or so"}}},
			{Name: "Box", Kind: gen.KindObject, Fields: []gen.Param{
				{Name: "in", Type: "array", Items: &gen.Param{Type: "Box"}},
			}},
		},
	}
	text, err := NewTools(a).Arguments(&a.Operations[0], true).Text()
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"object","properties":{` +
		`"to":{"description":"Where to","type":"object","properties":{` +
		`"at":{"type":"object","properties":{"x":{"type":"number"}},"additionalProperties":false},` +
		`"door":{"type":"string"}},"additionalProperties":false,"required":["at"]},` +
		`"how":{"description":"fast: Or so","type":"string","enum":["slow","fast"],"default":"slow"},` +
		`"load":{"$ref":"#/$defs/Box"},"times":{"description":"Not together with note",` +
		`"type":"integer","minimum":1},"note":{},` +
		`"confirmation_token":{"description":"Token from a CONFIRMATION_REQUIRED failure; send the same request again with ` +
		`it to confirm","type":"string"}},"additionalProperties":false,"required":["to"],` +
		`"$defs":{"Box":{"type":"object","properties":{"in":{"type":"array","items":{"$ref":"#/$defs/Box"}}},` +
		`"additionalProperties":false}}}`
	if diff := cmp.Diff(want, string(text)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
