package scan_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scantest"
	"github.com/aqltag/aqltag/runtime/gen"
)

// The tags of other libraries become constraints, defaults and descriptions (design §3.2).
func TestExistingTags(t *testing.T) {
	tests := []struct {
		name, field string
		want        gen.Param // without name, Go path and type
	}{
		{
			"validate: length, presence", "F string `validate:\"required,max=10\"`",
			gen.Param{Required: true, MinLength: 1, MaxLength: 10},
		},
		{"binding: the same grammar", "F int `binding:\"gt=17,lte=99\"`", gen.Param{Minimum: "18", Maximum: "99"}},
		{"required of a pointer allows the empty text", "F *string `validate:\"required\"`", gen.Param{Required: true}},
		{
			"required of a list allows an empty one", "F []string `validate:\"required\"`",
			gen.Param{Required: true, Items: &gen.Param{Type: "string"}},
		},
		{"rules of elements", "F map[string][]int `validate:\"max=3,dive,min=1,dive,oneof=1 2\"`", gen.Param{
			MaxItems: 3,
			Items:    &gen.Param{Type: "array", MinItems: 1, Items: &gen.Param{Type: "integer", Minimum: "1", Maximum: "2"}},
		}},
		{"the tighter bound of one tag", "F string `validate:\"min=1,len=3,gte=2\"`", gen.Param{MinLength: 3, MaxLength: 3}},
		{
			"an exclusive bound of a length", "F []int `validate:\"gt=0,lt=4\"`",
			gen.Param{MinItems: 1, MaxItems: 3, Items: &gen.Param{Type: "integer"}},
		},
		{"an enum of words", "F string `validate:\"oneof='dark red' blue\"`", gen.Param{Enum: []string{"dark red", "blue"}}},
		{"a format is a hint", "F string `validate:\"omitempty,uuid4\"`", gen.Param{Format: "uuid"}},
		{"a pattern", "F string `validate:\"startswith=a.b\"`", gen.Param{Pattern: `^a\.b`}},
		{"validate:\"-\" says nothing", "F string `validate:\"-\"`", gen.Param{}},
		{"an aql key that says the same", "F int `aql:\"min=1\" validate:\"gt=0\"`", gen.Param{Minimum: "1"}},
		{
			"an aql bound is tighter than presence", "F string `aql:\"minlen=3\" validate:\"required\"`",
			gen.Param{Required: true, MinLength: 3},
		},

		{"jsonschema items", "F string `jsonschema:\"required,minLength=1,maxLength=5,pattern=^a,format=word\"`", gen.Param{
			Required: true, MinLength: 1, MaxLength: 5, Pattern: "^a", Format: "word",
		}},
		{
			"jsonschema bounds and default", "F int `jsonschema:\"minimum=1,exclusiveMaximum=10,default=5\"`",
			gen.Param{Minimum: "1", Maximum: "9", Default: "5"},
		},
		{"jsonschema enum", "F string `jsonschema:\"enum=a,enum=b\\\\,c\"`", gen.Param{Enum: []string{"a", "b,c"}}},
		{"jsonschema of a list is about its elements",
			"F []string `jsonschema:\"minItems=1,enum=a,enum=b,minLength=1,default=a,default=b\"`", gen.Param{
				MinItems: 1, Default: `["a","b"]`, Items: &gen.Param{Type: "string", Enum: []string{"a", "b"}, MinLength: 1},
			}},
		{"jsonschema readOnly", "F string `jsonschema:\"readOnly=true\"`", gen.Param{ReadOnly: true}},
		{"jsonschema nullable is what all parameters are", "F *int `jsonschema:\"nullable\"`", gen.Param{}},

		{
			"jsonschema, the whole a description", "F string `jsonschema:\"the city, such as Rome\"`",
			gen.Param{Description: "the city, such as Rome"},
		},
		{
			"desc= before all", "F string `aql:\"desc=a\" jsonschema:\"description=b\" doc:\"c\"` // D",
			gen.Param{Description: "a"},
		},
		{"jsonschema before doc", "F string `doc:\"c\" jsonschema:\"description=b\"` // D", gen.Param{Description: "b"}},
		{"jsonschema_description", "F string `jsonschema_description:\"b, too\"` // D", gen.Param{Description: "b, too"}},
		{"doc before the comment", "F string `doc:\"c\"` // D", gen.Param{Description: "c"}},
		{"description before the comment", "F string `description:\"c\"` // D", gen.Param{Description: "c"}},
		{"the comment before a title", "F string `jsonschema:\"title=T\"` // D", gen.Param{Description: "D"}},
		{"a title if there is nothing else", "F string `jsonschema:\"title=T\"`", gen.Param{Description: "T"}},
	}
	source := "-- app.go --\npackage app\n"
	for i, tt := range tests {
		source += fmt.Sprintf("\ntype R%d struct {\n\t_ struct{} `aql:\"category=READ\"`\n\t%s\n}\n\n// H%d reads.\n"+
			"func H%[1]d(R%[1]d) error { return nil }\n",
			i, tt.field, i)
	}
	dir := scantest.Write(t, source)
	result := scantest.Load(t, dir)
	clean(t, dir, result)
	handlers := result.Packages[0].Handlers
	for i, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got gen.Param
			for _, h := range handlers {
				if h.Func == fmt.Sprintf("H%d", i) {
					got = h.Operation.Params[0]
				}
			}
			got.Name, got.Go, got.Type = "", "", ""
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Nobody can edit the tags of other modules: their rules count, what they have no meaning for is a note, once for each
// rule of a type, and a directive says what is different here.
func TestExistingTagsOfOtherModules(t *testing.T) {
	dir, env := foreign(t, `
-- ext/ext.go --
package ext

type Level string

const Low Level = "low"

type Options struct {
	Name  string  `+"`json:\"name\" validate:\"required,max=10,eqfield=Other\"`"+`
	Other string  `+"`json:\"other\" validate:\"required,eqfield=Name,lowercase\"`"+`
	Level Level   `+"`json:\"level\" validate:\"oneof=low high\"`"+`
	Word  string  `+"`json:\"word\" jsonschema:\"pattern=^(?!a)\" validate:\" max=5\"`"+`
	Limit int     `+"`json:\"limit\" validate:\"required,max=100\"`"+`
}

type More struct {
	Name string `+"`json:\"name\" validate:\"eqfield=Other\"`"+`
}
-- app/app.go --
package app

import "example.com/ext"

// List lists.
//
//aql:op category=READ
//aql:param limit default=10,max=50
func List(req ext.Options) (*ext.More, error) { return nil, nil }
`)
	result := both(t, dir, env)
	var got []string
	for _, d := range result.Diagnostics {
		if d.Severity == diag.Error {
			t.Errorf("error: %s", d.Message)
		}
		got = append(got, fmt.Sprintf("%s:%d %s: %s", filepath.Base(d.Position.File), d.Position.Line, d.Severity, d.Message))
	}
	want := []string{
		"app.go:8 note: aql default contradicts validate rule required: a required parameter is never absent",
		"app.go:8 note: max=50 contradicts validate rule max=100",
		`ext.go:8 note: validate rule "eqfield" has no meaning in MCP-AQL`,
		`ext.go:9 note: validate rule "lowercase" has no meaning in MCP-AQL`,
		`ext.go:10 note: validate rule oneof=low high lists "high", which is no constant of type Level`,
		"ext.go:11 note: jsonschema rule pattern=^(?!a) is left out: pattern uses look-ahead or look-behind, which RE2, " +
			"Go's regular expressions, does not have",
		`ext.go:16 note: validate rule "eqfield" has no meaning in MCP-AQL`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s", diff)
	}
	var params []gen.Param
	for _, p := range result.Packages[0].Handlers[0].Operation.Params {
		p.Go, p.Type = "", ""
		params = append(params, p)
	}
	if diff := cmp.Diff([]gen.Param{
		{Name: "name", Required: true, MinLength: 1, MaxLength: 10}, {Name: "other", Required: true, MinLength: 1},
		{Name: "level", Enum: []string{"low"}},
		{Name: "word", MaxLength: 5}, {Name: "limit", Default: "10", Maximum: "50"},
	}, params); diff != "" {
		t.Errorf("parameters (-want +got):\n%s", diff)
	}
}
