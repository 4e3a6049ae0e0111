package adapterschema_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/internal/export/adapterschema"
	"github.com/aqltag/aqltag/internal/export/exporttest"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// officialSchema is the protocol's own schema, which lies beside the repository and is no part of it.
const officialSchema = "../../../../shared/schemas/adapter-schema.schema.json"

// notes are definitions with everything that the format has a place for, and everything that it has none for.
func notes() *gen.Definitions {
	return &gen.Definitions{
		Name: "notes", Version: "1.2.3", Description: "Keeps notes",
		Operations: []gen.Operation{
			{
				Name: "list_notes", Category: gen.Read, Danger: gen.Safe, Description: "Lists <notes> & more.",
				Family: "query", Timeout: 3 * time.Second,
				Params: []gen.Param{
					{Name: "first", Type: "integer", Default: "25", Minimum: "1", Maximum: "100"}, {Name: "after", Type: "string"},
					{Name: "fields", Type: gen.TypeSelection, Presets: []string{"full"}},
					{Name: "color", Type: "Color", Enum: []string{"red"}, Default: `"red"`},
				},
				Returns:  gen.Returns{Name: "NoteList", Kind: gen.KindObject, Description: "Notes."},
				Examples: []gen.Example{{Params: "{}"}},
			},
			{
				Name: "update_note", Category: gen.Update, Danger: gen.Reversible, Deprecated: "soon",
				Params: []gen.Param{
					{Name: "note_id", Type: "string", Required: true, Description: "Which", Pattern: "^n", Format: "uuid", ID: true,
						Sensitive: true, Aliases: []string{"id"}},
					{Name: "input", Type: "NotePatch", Required: true},
					{Name: "tags", Type: "array", MinItems: 1, MaxItems: 3, Items: &gen.Param{Type: "string"}, Deprecated: "no"},
					{Name: "title", Type: "string", MinLength: 1, MaxLength: 9, ReadOnly: true, AppendOnly: true},
				},
				Returns: gen.Returns{Name: "Text", Kind: gen.KindScalar},
			},
			{Name: "wipe", Category: gen.Delete, Danger: gen.Dangerous, Reasons: []string{"all"}, Confirm: "Sure?"},
			{Name: "create_note", Category: gen.Create, Danger: gen.Reversible,
				Returns: gen.Returns{Name: "Color", Kind: gen.KindEnum}},
			{Name: "run", Category: gen.Execute, Danger: gen.Forbidden,
				Returns: gen.Returns{Name: "Either", Kind: gen.KindUnion}},
		},
		Types: []gen.Type{
			{Name: "Color", Kind: gen.KindEnum, Values: []gen.EnumValue{{Value: "red"}}},
			{Name: "NoteList", Kind: gen.KindObject},
			{Name: "NotePatch", Kind: gen.KindObject}, {Name: "Text", Kind: gen.KindScalar},
			{Name: "Either", Kind: gen.KindUnion},
		},
	}
}

// The document and its warnings are fixed, and valid against the official schema.
func TestDefinitionOfNotes(t *testing.T) {
	text, warnings, err := adapterschema.Render(notes())
	if err != nil {
		t.Fatal(err)
	}
	exporttest.Golden(t, "notes.json", text)
	var lines bytes.Buffer
	for _, w := range warnings {
		lines.WriteString(w.String() + "\n")
	}
	exporttest.Golden(t, "notes.warnings.txt", lines.Bytes())
	validate(t, text)
	again, _, err := adapterschema.Render(notes())
	if err != nil || !bytes.Equal(text, again) {
		t.Error("rendered again, the definitions give another document")
	}
}

// Whatever a definition says is in the document or in the warnings. The definitions are those of package model: whoever
// adds a field there has to decide.
func TestNothingIsLostInSilence(t *testing.T) {
	exempt := map[string]string{
		"Filter":       "of fields of elements; the fields of a filter are not told either",
		"Search":       "of fields of elements",
		"DangerSource": "says why, not what", "Source": "a place in Go source", "Go": "a name in Go",
		"Relationships": "the parameters say it",
		"ID":            "not on the wire", "OmitEmpty": "about results", "FormatRule": "about results",
		"OmitZero": "about results", "Quoted": "the type says it", "Constant": "enum says it",
	}
	plain := func() (*gen.Definitions, *gen.Operation, *gen.Param) {
		a := &gen.Definitions{Name: "n", Version: "1.0.0", Operations: []gen.Operation{
			{Name: "get", Category: gen.Read, Params: []gen.Param{{Name: "p", Type: "string"}}},
		}}
		return a, &a.Operations[0], &a.Operations[0].Params[0]
	}
	said := func(a *gen.Definitions) string {
		text, warnings, err := adapterschema.Render(a)
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%s%v", text, warnings)
	}
	a, _, _ := plain()
	before := said(a)
	for _, typ := range []reflect.Type{reflect.TypeFor[gen.Operation](), reflect.TypeFor[gen.Param]()} {
		for i := range typ.NumField() {
			a, o, p := plain()
			v := reflect.ValueOf(o)
			if typ == reflect.TypeFor[gen.Param]() {
				v = reflect.ValueOf(p)
			}
			switch field := v.Elem().Field(i).Addr().Interface().(type) {
			case *string:
				*field = "1"
				if typ.Field(i).Name == "Name" {
					*field = "other"
				}
			case *bool:
				*field = true
			case *int:
				*field = 1
			case *time.Duration:
				*field = 1
			case *[]string:
				*field = []string{"x"}
			case *gen.Category:
				*field = gen.Create
			case *gen.Danger:
				*field = gen.Safe
			case *gen.DangerSource:
				*field = gen.DangerFromPattern
			case *gen.Returns:
				field.Name = "x"
			case *[]gen.Example:
				*field = []gen.Example{{Params: "{}"}}
			case *[]gen.Param:
				*field = nil
			case **gen.Relationships:
				*field = &gen.Relationships{Types: []string{"uses"}}
			case **gen.Lifecycle:
				*field = &gen.Lifecycle{Durable: true}
			case **gen.Param:
				*field = &gen.Param{Type: "string"}
			default:
				t.Fatalf("%T is not tried", field)
			}
			name := typ.Field(i).Name
			if _, silent := exempt[name]; silent != (said(a) == before) {
				t.Errorf("%s.%s: exempt %v, but it is said otherwise", typ.Name(), name, silent)
			}
		}
	}
}

// Names and versions are spelt as the format has them.
func TestNamesAndVersions(t *testing.T) {
	for _, tt := range []struct{ name, version, wantName, wantVersion, warned string }{
		{"todo", "1.0.0", "todo", "1.0.0", ""},
		{"todo-2", "1.0.0-rc.1", "todo-2", "1.0.0-rc.1", ""},
		{"My Todo_Service!", "1.0.0", "my-todo-service", "1.0.0", "name"},
		{"2 Dös", "1.0.0", "d-s", "1.0.0", "name"},
		{"todo", "", "todo", "0.0.0", "version"},
		{"todo", "v1.2.3", "todo", "1.2.3", "version"},
		{"todo", "1.2.3-RC1+build", "todo", "1.2.3-rc1", "version"},
		{"todo", "(devel)", "todo", "0.0.0", "version"},
		{"Todo", "1.2", "todo", "0.0.0", "name version"},
	} {
		t.Run(tt.name+" "+tt.version, func(t *testing.T) {
			text, warnings,
				err := adapterschema.Render(&gen.Definitions{Name: tt.name, Version: tt.version})
			if err != nil {
				t.Fatal(err)
			}
			validate(t, text)
			var got struct{ Name, Version, Description string }
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			if got.Name != tt.wantName || got.Version != tt.wantVersion || got.Description != "MCP-AQL adapter of "+tt.wantName {
				t.Errorf("%+v", got)
			}
			var warned []string
			for _, w := range warnings {
				if w.Path != "target" {
					warned = append(warned, w.Path)
				}
			}
			if got := strings.Join(warned, " "); got != tt.warned {
				t.Errorf("warnings about %q, want %q", got, tt.warned)
			}
		})
	}
}

// Pages are recognised by the protocol's names of parameters (REQ-RF-13).
func TestPagination(t *testing.T) {
	count := func(name string) gen.Param {
		return gen.Param{Name: name, Type: "integer", Default: "20", Maximum: "50"}
	}
	for _, tt := range []struct {
		name   string
		params []gen.Param
		want   string
	}{
		{"none", nil, ""},
		{"a limit alone", []gen.Param{count("limit")}, ""},
		{"cursors", []gen.Param{count("first"), {Name: "after", Type: "string"}},
			`{"style":"cursor","default_limit":20,"max_limit":50}`},
		{"pages", []gen.Param{{Name: "page", Type: "integer"}, count("page_size")},
			`{"style":"page","default_limit":20,"max_limit":50}`},
		{"offsets", []gen.Param{{Name: "offset", Type: "integer"}, count("limit")},
			`{"style":"offset","default_limit":20,"max_limit":50}`},
		{"without bounds",
			[]gen.Param{{Name: "offset", Type: "integer"}, {Name: "limit", Type: "integer", Default: "0", Maximum: "1.5"}},
			`{"style":"offset"}`},
		{"cursors of a query", []gen.Param{
			{Name: "first", Go: "Query.body.First", Type: "integer", Minimum: "0"}, {Name: "after", Type: "string"},
		}, `{"style":"cursor","default_limit":25,"max_limit":100}`},
		{"pages of a query", []gen.Param{
			{Name: "page", Type: "integer"}, {Name: "page_size", Go: "Query.body.PageSize", Type: "integer", Minimum: "1"},
		}, `{"style":"page","default_limit":25,"max_limit":100}`},
		{"offsets of a query", []gen.Param{
			{Name: "limit", Go: "Query.body.Limit", Type: "integer", Minimum: "0"}, {Name: "offset", Type: "integer"},
		}, `{"style":"offset","default_limit":25,"max_limit":100}`},
		{"a limit that is a text", []gen.Param{{Name: "offset", Type: "integer"}, {Name: "limit", Type: "string"}}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, _, err := adapterschema.Render(&gen.Definitions{Name: "n", Version: "1.0.0", Operations: []gen.Operation{
				{Name: "list", Category: gen.Read, Params: tt.params},
			}})
			if err != nil {
				t.Fatal(err)
			}
			validate(t, text)
			var got struct {
				Operations struct {
					Read []struct{ Pagination json.RawMessage }
				}
			}
			var compact bytes.Buffer
			if err := json.Unmarshal(text, &got); err != nil {
				t.Fatal(err)
			}
			if raw := got.Operations.Read[0].Pagination; raw != nil {
				if err := json.Compact(&compact, raw); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tt.want, compact.String()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// What cannot be a document of the format is refused, all of it at once.
func TestFaults(t *testing.T) {
	_, _, err := adapterschema.Render(&gen.Definitions{Name: "123", Operations: []gen.Operation{
		{Name: "get", Category: "AUTHORIZE"}, {Name: "getIt", Category: gen.Read},
		{Name: "list", Category: gen.Read, Params: []gen.Param{{Name: "a", Default: "{"}, {Name: "b", Minimum: "x"}}},
	}})
	for _, want := range []string{
		`name "123" has no letter`, `"get": category "AUTHORIZE"`, `"getIt": the name is not of small letters`,
		"list.a: the default { is not JSON", "list.b: the minimum x is not JSON",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v does not say %s", err, want)
		}
	}
}

// validate holds a document against the official schema, where that is there.
func validate(t *testing.T, text []byte) {
	t.Helper()
	if _, err := os.Stat(officialSchema); err != nil {
		t.Logf("the document is not validated: the protocol's schemas are not there: %v", err)
		return
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	schema, err := compiler.Compile(officialSchema)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if err := schema.Validate(document); err != nil {
		t.Errorf("%s\nbreaks the official schema: %v", text, err)
	}
}
