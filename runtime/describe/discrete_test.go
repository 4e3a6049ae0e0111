package describe

import (
	"bytes"
	"testing"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

func TestDiscreteToolsHaveFullSchemas(t *testing.T) {
	tools, err := DiscreteTools(todoAdapter())
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"create_todo": `{"type":"object","properties":{"title":{"type":"string","description":"The thing to do","minLength":1,"maxLength":200},` +
			`"priority":{"type":"string","description":"How urgent","enum":["low","high"],"default":"low"},` +
			`"tags":{"type":"array","items":{"type":"string","maxLength":30},"maxItems":20},` +
			`"labels":{"type":"object","description":"Free labels.","additionalProperties":{"type":"string"}},` +
			`"estimate":{"type":"integer","minimum":0,"maximum":10000}},"required":["title"],"additionalProperties":false}`,
		"list_todos": `{"type":"object","properties":{"fields":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string","pattern":"^([a-z][a-z0-9_]*(\\.[a-z][a-z0-9_]*)*|_computed\\.[a-z][a-z0-9_]*)$"},"minItems":1}]},` +
			`"where":{"$ref":"#/$defs/Node"}},"additionalProperties":false,"$defs":{"Node":{"type":"object",` +
			`"properties":{"left":{"$ref":"#/$defs/Node"},"value":{"type":"number","default":1.5}},"additionalProperties":false}}}`,
		"update_todo": `{"type":"object","properties":{"todo_id":{"type":"string","pattern":"^[a-z0-9]+$"},` +
			`"input":{"type":"object","properties":{"title":{"type":"string"}},"additionalProperties":false}},` +
			`"required":["todo_id","input"],"additionalProperties":false}`,
		"delete_todo": `{"type":"object","properties":{"todo_id":{"type":"string"}},"required":["todo_id"],"additionalProperties":false}`,
		"wipe": `{"type":"object","properties":{"password":{"type":"string"},"confirmation_token":{}},` +
			`"required":["password"],"additionalProperties":false}`,
	}
	got := make(map[string]string)
	for _, tool := range tools {
		got[tool.Name] = string(tool.InputSchema)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestDiscreteSchemaOfAUnion(t *testing.T) {
	a := &gen.Adapter{
		Operations: []gen.Operation{{Name: "put", Params: []gen.Param{{Name: "value", Type: "Value", Deprecated: "use x"}}}},
		Types: []gen.Type{
			{Name: "Value", Kind: gen.KindUnion, Description: "Either", Members: []string{"Id", "Day", "Unknown"}},
			{Name: "Id", Kind: gen.KindScalar, Description: "Any scalar"},
			{Name: "Day", Kind: gen.KindEnum, Values: []gen.EnumValue{{Value: "mon"}}},
		},
	}
	tools, err := DiscreteTools(a)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"type":"object","properties":{"value":{"description":"Either. Deprecated: use x",` +
		`"anyOf":[{"description":"Any scalar"},{"type":"string","enum":["mon"]},{}]}},"additionalProperties":false}`
	if diff := cmp.Diff(want, string(tools[0].InputSchema)); diff != "" {
		t.Error(diff)
	}
}

func TestDiscreteSchemasCompileAndDecide(t *testing.T) {
	for seed := range uint64(40) {
		tools, err := DiscreteTools(randomAdapter(seed))
		if err != nil {
			t.Fatal(err)
		}
		for _, tool := range tools {
			compile(t, tool.InputSchema)
		}
	}
	tools, err := DiscreteTools(todoAdapter())
	if err != nil {
		t.Fatal(err)
	}
	create := compile(t, tools[0].InputSchema)
	for text, valid := range map[string]bool{
		`{"title":"Buy milk","tags":["a"],"labels":{"a":"b"}}`: true,
		`{}`:                              false,
		`{"title":""}`:                    false,
		`{"title":"x","colour":"red"}`:    false,
		`{"title":"x","labels":{"a":1}}`:  false,
		`{"title":"x","priority":"none"}`: false,
	} {
		value, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(text)))
		if err != nil {
			t.Fatal(err)
		}
		if err := create.Validate(value); (err == nil) != valid {
			t.Errorf("%s: %v, want valid %t", text, err, valid)
		}
	}
}

func TestDiscreteToolsReportWhatIsNotJSON(t *testing.T) {
	a := &gen.Adapter{Operations: []gen.Operation{{Name: "a", Params: []gen.Param{{Name: "x", Type: "string", Default: "low"}}}}}
	if _, err := DiscreteTools(a); err == nil {
		t.Error("no error")
	}
}
