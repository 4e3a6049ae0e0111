package todo_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	reflector "github.com/invopop/jsonschema"

	"github.com/aqltag/aqltag/examples/todo/todo"
	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/jsonschema"
)

// A difference is a keyword at a place in a schema that the reflector of invopop/jsonschema and the export spell
// differently; "-" stands for a keyword that is not there.
type difference struct{ place, keyword, reflected, exported string }

// intended lists every way in which exported schemas are meant to differ from what reflection makes of the same Go
// types.
var intended = []struct {
	reason                              string
	place, keyword, reflected, exported string // expressions for the whole text; empty: anything
	used                                bool
}{
	{reason: "the export has no address of its own", place: "", keyword: `\$id`, exported: "-"},
	{reason: "schemas are called after their operation or type", keyword: "title", reflected: "-"},
	{reason: "comments are not there at run time", keyword: "description", reflected: "-"},
	{reason: "examples are directives in comments", keyword: "examples", reflected: "-"},
	{reason: "lengths are in aql tags", keyword: "(min|max)(Length|Items)", reflected: "-"},
	{reason: "defaults are in aql tags", keyword: "default", reflected: "-"},
	{reason: "bounds are in aql tags, and an int has 64 bits", keyword: "minimum|maximum", reflected: "-"},
	{reason: "constants of a type are its values, which reflection does not see", keyword: "enum", reflected: "-",
		exported: `\[.*\]`},
	{reason: "only the service sets what is read-only", keyword: "readOnly", reflected: "-", exported: "true"},
	{reason: "null counts as absent", place: "params .*", keyword: "type", reflected: `"(.*)"`,
		exported: `\["(.*)","null"\]`},
	{reason: "a handler that returns a pointer may return nil", place: "results [A-Za-z]+", keyword: "type",
		reflected: `"object"`, exported: `\["object","null"\]`},
	{reason: "names with an underscore are metadata", place: "params [a-z_]+", keyword: "patternProperties",
		reflected: "-", exported: `{"\^_":true}`},
	{reason: "fields of a Todo can be selected, so none is always there", place: "results .*", keyword: "required"},
	{reason: "what asks for confirmation takes a token", place: "params delete_todo /confirmation_token",
		reflected: "-"},
	{reason: "a selection is a preset or a list of paths, and reflection sees a struct without fields",
		place: "params .* /fields.*"},
	{reason: "the preset's values are those of the type that is selected from", place: "params .* /preset",
		keyword: "enum"},
	{reason: "a query has the parameters that the tags of its type allow, and reflection sees a struct without fields",
		place: "params (list|search)_todos " +
			"/(filter|query|sort|first|after|last|before|aggregate|include_items).*"},
	{reason: "a summary is any value", place: "results TodoPage /aggregations", keyword: "additionalProperties",
		reflected: "true", exported: "-"},
	{reason: "a page has the members of its style, and reflection sees those of all",
		place:    "results TodoPage /pagination.*",
		exported: "-"},
	{reason: "a patch has the fields of its type that can change, and reflection sees a struct without fields",
		place: "params update_todo /input.*"},
}

func matches(expression, text string) bool {
	return expression == "" || regexp.MustCompile("^(?:"+expression+")$").MatchString(text)
}

// The exports are held against another implementation: what reflection makes of the same types. Every difference has a
// reason, and every reason a difference.
func TestSchemasDifferFromReflectionOnlyWhereMeant(t *testing.T) {
	adapter, _ := definitions(t)
	params := map[string]any{
		"create_todo": todo.CreateTodoRequest{}, "get_todo": todo.GetTodoRequest{}, "list_todos": todo.ListTodosRequest{},
		"search_todos": todo.SearchTodosRequest{}, "update_todo": todo.UpdateTodoRequest{},
		"complete_todo": todo.CompleteTodoRequest{}, "import_todos": todo.ImportTodosRequest{},
		"delete_todo": todo.DeleteTodoRequest{}, "purge_completed": todo.PurgeCompletedRequest{},
	}
	results := map[string]any{"Todo": todo.Todo{}, "TodoPage": aql.Page[todo.Todo]{}, "PurgeResult": todo.PurgeResult{},
		"ImportResult": todo.ImportResult{}}
	if own := len(todo.NewRegistry(nil).Definitions().Operations); len(params) != own {
		t.Errorf("%d operations are compared; there are %d", len(params), own)
	}
	var all []difference
	for _, name := range slices.Sorted(maps.Keys(params)) {
		o, ok := adapter.Operation(name)
		if !ok {
			t.Fatalf("there is no operation %s", name)
		}
		all = append(all, compare(t, "params "+name, reflected(params[name]).MarshalJSON,
			jsonschema.Params(adapter, o).Text)...)
	}
	for _, name := range slices.Sorted(maps.Keys(results)) {
		all = append(all, compare(t, "results "+name, reflected(results[name]).MarshalJSON,
			jsonschema.Result(adapter, name).Text)...)
	}
	for _, d := range all {
		found := false
		for i := range intended {
			rule := &intended[i]
			if matches(rule.place, d.place) && matches(rule.keyword, d.keyword) && matches(rule.reflected, d.reflected) &&
				matches(rule.exported, d.exported) {
				rule.used, found = true, true
			}
		}
		if !found {
			t.Errorf("%s %s: reflection says %s, the export %s, and no reason is listed", d.place, d.keyword, d.reflected,
				d.exported)
		}
	}
	for _, rule := range intended {
		if !rule.used {
			t.Errorf("no difference has this reason any more: %s", rule.reason)
		}
	}
}

func reflected(v any) *reflector.Schema {
	r := reflector.Reflector{ExpandedStruct: true}
	return r.ReflectFromType(reflect.TypeOf(v))
}

func compare(t *testing.T, name string, theirs, ours func() ([]byte, error)) []difference {
	t.Helper()
	a, b := keywords(t, theirs), keywords(t, ours)
	places := slices.Sorted(maps.Keys(a))
	for place := range b {
		if a[place] == nil {
			places = append(places, place)
		}
	}
	slices.Sort(places)
	var list []difference
	for _, place := range places {
		names := make(map[string]bool)
		for keyword := range a[place] {
			names[keyword] = true
		}
		for keyword := range b[place] {
			names[keyword] = true
		}
		for _, keyword := range slices.Sorted(maps.Keys(names)) {
			x, y := "-", "-"
			if text, ok := a[place][keyword]; ok {
				x = text
			}
			if text, ok := b[place][keyword]; ok {
				y = text
			}
			if x != y {
				list = append(list, difference{strings.TrimSpace(name + " " + place), keyword, x, y})
			}
		}
	}
	return list
}

// keywords lists the keywords of a schema and of all that is in it, by their places. References are followed, but for
// those from a definition to itself.
func keywords(t *testing.T, write func() ([]byte, error)) map[string]map[string]string {
	t.Helper()
	text, err := write()
	if err != nil {
		t.Fatal(err)
	}
	var root map[string]any
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&root); err != nil {
		t.Fatal(err)
	}
	found := make(map[string]map[string]string)
	following := make(map[string]bool)
	var visit func(place string, s map[string]any)
	visit = func(place string, s map[string]any) {
		if found[place] == nil {
			found[place] = make(map[string]string)
		}
		if ref, ok := s["$ref"].(string); ok && !following[ref] {
			following[ref] = true
			defs := root["$defs"].(map[string]any)
			visit(place, defs[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any))
			following[ref] = false
		}
		for _, keyword := range slices.Sorted(maps.Keys(s)) { // anyOf before what stands beside it
			value := s[keyword]
			switch inner := value.(type) {
			case map[string]any:
				switch keyword {
				case "properties":
					for name, property := range inner {
						visit(place+"/"+name, object(property))
					}
					continue
				case "items", "additionalProperties":
					visit(place+"/"+keyword, inner)
					continue
				case "$defs":
					continue
				}
			case []any:
				if keyword == "anyOf" && len(inner) == 2 && fmt.Sprint(inner[1]) == "map[type:null]" {
					// A reference or null: as its own keywords, with a type that may be null.
					visit(place, object(inner[0]))
					kind := found[place]["type"]
					found[place]["type"] = "[" + kind + `,"null"]`
					continue
				}
				if keyword == "required" {
					slices.SortFunc(inner, func(a, b any) int { return strings.Compare(fmt.Sprint(a), fmt.Sprint(b)) })
				}
			case string:
				if keyword == "$ref" {
					continue
				}
			}
			var b bytes.Buffer
			encoder := json.NewEncoder(&b)
			encoder.SetEscapeHTML(false)
			if err := encoder.Encode(value); err != nil {
				t.Fatal(err)
			}
			found[place][keyword] = strings.TrimSpace(b.String())
		}
	}
	visit("", root)
	return found
}

// object is a schema that is an object; true, for anything, is an empty one.
func object(schema any) map[string]any {
	s, _ := schema.(map[string]any)
	return s
}
