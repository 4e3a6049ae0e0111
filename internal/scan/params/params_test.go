package params_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/scan/params"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/sourcetest"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/runtime/gen"
)

// fill shapes a struct with one field and fills in its parameter.
func fill(t *testing.T, field string) (gen.Param, []string) {
	t.Helper()
	text := "package app\n\ntype T struct {\n\t" + field + "\n}\n\ntype Color string\n\nconst Red Color = \"red\"\n"
	program, own := sourcetest.Check(t, "example.com/app", map[string]string{"example.com/app": text})
	maker := shapes.NewMaker(program, tags.NewReader(program), own)
	shape, fault := maker.Of(own.Scope().Lookup("T").Type(), "")
	if fault != nil {
		t.Fatal(fault.Message)
	}
	params.NewMaker(program, own).Fill(maker.NewStructs())
	var messages []string
	for _, d := range program.Diagnostics {
		messages = append(messages, d.Message)
	}
	return shape.Fields[0].Param, messages
}

// Name, description and constraints come from the tags and comments of a field.
func TestFill(t *testing.T) {
	tests := map[string]struct {
		field string
		want  gen.Param
	}{
		"no tag": {"UserID int", gen.Param{Go: "UserID", Name: "user_id"}},
		"comment": {
			"// A is what counts.\n\tA string // not this",
			gen.Param{Go: "A", Name: "a", Description: "What counts."},
		},
		"json": {
			"A int64 `json:\"b,omitempty,string\"`",
			gen.Param{Go: "A", Name: "b", OmitEmpty: true, Quoted: true},
		},
		"aql": {
			"A string `json:\"a\" aql:\"required,minlen=1,maxlen=9,alias=b|c\"`",
			gen.Param{Go: "A", Name: "a", Required: true, MinLength: 1, MaxLength: 9, Aliases: []string{"b", "c"}},
		},
		"default":   {"A []string `aql:\"default='[]'\"`", gen.Param{Go: "A", Name: "a", Default: "[]"}},
		"enum":      {"A string `aql:\"enum=x|y\"`", gen.Param{Go: "A", Name: "a", Enum: []string{"x", "y"}}},
		"validator": {"A []int `validate:\"required,max=3\"`", gen.Param{Go: "A", Name: "a", Required: true, MaxItems: 3}},
		"elements": {
			"A []string `validate:\"dive,max=3\"`",
			gen.Param{Go: "A", Name: "a", Items: &gen.Param{MaxLength: 3}},
		},
		"reserved": {"Etag string `json:\"_etag\"`", gen.Param{Go: "Etag", Name: "_etag", ReadOnly: true}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, messages := fill(t, tt.field)
			if diff := cmp.Diff(tt.want, got); diff != "" || len(messages) > 0 {
				t.Errorf("diagnostics %q (-want +got):\n%s", messages, diff)
			}
		})
	}
}

// What a field's type cannot hold, and what contradicts itself, is reported and left out.
func TestMistakes(t *testing.T) {
	tests := map[string]struct{ field, want string }{
		"range": {"A int8 `aql:\"min=200\"`", "min: 200 is outside the range of int8, -128 to 127"},
		"kind":  {"A int `aql:\"maxlen=2\"`", "maxlen does not apply to type int; it is for string"},
		"pattern": {"A string `aql:\"pattern='('\"`", "pattern is not a valid regular expression: error parsing " +
			"regexp: missing closing ): `(`"},
		"default": {"A int `aql:\"max=3,default=4\"`", "default 4: 4 is more than max=3"},
		"presence": {"A int `aql:\"required,default=4\"`", "required and default contradict each other: a required " +
			"parameter is never absent"},
		"constant":     {"A Color `aql:\"enum=blue\"`", "enum value \"blue\" is no constant of type Color"},
		"name":         {"A int `aql:\"name=a-b\"`", "wire name \"a-b\" does not match ^[a-z][a-z0-9_]*$"},
		"other tag":    {"A int `validate:\"max=3\" aql:\"max=4\"`", "max=4 contradicts validate rule max=3"},
		"untranslated": {"A string `validate:\"lowercase\"`", "validate rule \"lowercase\" has no meaning in MCP-AQL"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, messages := fill(t, tt.field); len(messages) != 1 || messages[0] != tt.want {
				t.Errorf("got %q, want %q", messages, tt.want)
			}
		})
	}
}
