package collections_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/jsonschema"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/test/collections/library"
)

// The schemas of parameters and results agree with the adapter about relations: which paths requests may name, and what
// stands at them. The official schema of field selection accepts all that the adapter does.
func TestSchemasOfSelectedRelations(t *testing.T) {
	definitions := library.NewRegistry(shelf()).Definitions()
	definitions.RelateTypes()
	o, _ := definitions.Operation("get_author")
	params := compiledSchema(t, jsonschema.Params(&definitions, o))
	result := compiledSchema(t, jsonschema.Result(&definitions, o.Returns.Name))
	fields := official(t, "field-selection.schema.json#/$defs/FieldSelectionInput")
	s := libraryAdapter(t, shelf(), aql.Options{}).NewSession()
	paths := map[string]bool{
		"mentor": true, "mentor.name": true, "books": true, "books.sequel.author.name": true,
		"mentor.mentor.mentor.home.city": true, "mentor.mentor.mentor.mentor": false, "books.sequel.author.mentor": false,
		"mentor.nme": false, "books._computed.shouted": false, "publisher": false, "books.title.x": false,
	}
	r := rand.New(rand.NewPCG(17, 5))
	for range 50 {
		paths[randomPath(r, "Author", 3)] = true
	}
	for path, accepted := range paths {
		selection, err := json.Marshal(map[string]any{"fields": []string{path}})
		if err != nil {
			t.Fatal(err)
		}
		request := `{"author_id":"ann",` + string(selection[1:])
		err = valid(t, params, []byte(request))
		var answer map[string]any
		decoded(t, []byte(read(t, s, `{"operation":"get_author","params":`+request+`}`)), &answer)
		if (err == nil) != accepted || (answer["success"] == true) != accepted {
			t.Errorf("%s: the schema says %v, and the adapter %v", path, err, answer)
		}
		if !accepted {
			continue
		}
		if err := valid(t, fields, selection); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		data := encoded(t, at(answer, "data"))
		if err := valid(t, result, data); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		wrong := strings.Replace(string(data), `"name":"`, `"nme":"`, 1)
		if err := valid(t, result, []byte(wrong)); err == nil && wrong != string(data) {
			t.Errorf("the schema of results accepts %s", wrong)
		}
	}
}

// Introspection tells of relations as fields of the types that have them, and in the description of fields, as far as
// the caller may select them.
func TestIntrospectionTellsOfSelectedRelations(t *testing.T) {
	schema := official(t, "introspection-response.schema.json")
	ask := func(options aql.Options, query string) string {
		t.Helper()
		answer := read(t, libraryAdapter(t, shelf(), options).NewSession(), `{"operation":"introspect","params":`+query+`}`)
		if err := valid(t, schema, []byte(answer)); err != nil {
			t.Errorf("%v\n%s", err, answer)
		}
		return answer
	}
	hide := aql.Options{Policy: &policy.Policy{Rules: []policy.Rule{{Name: "r", Hide: []string{"Book.editor"}}}}}
	hideMentor := aql.Options{Policy: &policy.Policy{Rules: []policy.Rule{{Name: "r", Hide: []string{"Author.mentor"}}}}}
	hideName := aql.Options{Policy: &policy.Policy{Rules: []policy.Rule{{Name: "r", Hide: []string{"Author.name"}}}}}
	deny := aql.Options{HideDenied: true, Policy: &policy.Policy{Rules: []policy.Rule{{
		Name: "r", Effect: policy.Deny, Operations: []string{"get_author"},
	}}}}
	off := aql.Options{Available: aql.Available{Operations: []string{"!get_author"}}}
	const operation, typ = `{"query":"operations","name":"list_books"}`, `{"query":"types","name":"Book"}`
	for _, tt := range []struct {
		options         aql.Options
		query, says, no string
	}{
		{aql.Options{}, operation, "Relations, which only these name: author, sequel, publisher. " +
			"Relations of presets: editor (credits, full)", "mentor,"},
		{aql.Options{}, typ, `Preset credits, full. A relation"`, "mentor,"},
		{aql.Options{}, typ, `Who wrote it. May be null. A relation: only where fields names it"`, "mentor,"},
		{aql.Options{}, operation, `"params":{"fields":["title","author.mentor.name"]}`, "mentor,"},
		{hideMentor, operation, `"params":{"first":2}`, "mentor"},
		{hideName, operation, `"params":{"first":2}`, "name\"]"},
		{deny, operation, `"params":{"first":2}`, "author."},
		{off, operation, `"params":{"first":2}`, "author."},
		{aql.Options{}, typ, `{"name":"author","type":"Author","required":false,"description":"Who wrote it.`, "mentor"},
		{hide, operation, "Relations, which only these name: author, sequel, publisher", "editor,"},
		{hide, typ, `"name":"author"`, `"editor"`},
		{deny, operation, "Relations, which only these name: sequel, publisher", "editor,"},
		{deny, typ, `"name":"sequel"`, `"Author"`},
		{off, operation, "Relations, which only these name: sequel, publisher", "editor,"},
		{off, typ, `"name":"sequel"`, `"Author"`},
	} {
		if told := ask(tt.options, tt.query); !strings.Contains(told, tt.says) || strings.Contains(told, tt.no) {
			t.Errorf("%s: %s", tt.query, told)
		}
	}
	for name, options := range map[string]aql.Options{"hidden": hide, "denied": deny, "switched off": off} {
		s := libraryAdapter(t, shelf(), options).NewSession()
		for _, fields := range []string{`["editor.name"]`, `["sequel.editor"]`} {
			answer := read(t, s, fmt.Sprintf(`{"operation":"list_books","params":{"fields":%s}}`, fields))
			if got := failure(t, answer); !strings.HasPrefix(got, "VALIDATION_UNKNOWN_FIELD") ||
				strings.Contains(answer, `,"editor"`) || strings.Contains(answer, `,"sequel.editor"`) {
				t.Errorf("%s: %s", name, answer)
			}
		}
	}
}
