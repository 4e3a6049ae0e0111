package jsonschema_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"

	validator "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/aqltag/aqltag/internal/export/exporttest"
	files "github.com/aqltag/aqltag/internal/export/jsonschema"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/jsonschema"
)

// shop is an adapter in which everything that a definition can say occurs.
func shop() *gen.Definitions {
	todo := gen.Type{Name: "Item", Kind: gen.KindObject, Description: "A thing to sell", Fields: []gen.Param{
		{Name: "item_id", Go: "ItemID", Type: "string", ID: true},
		{Name: "name", Go: "Name", Type: "string", Required: true, MinLength: 1},
		{Name: "size", Go: "Size", Type: "Size", Enum: []string{"s", "l"}},
		{Name: "kind", Go: "Kind", Type: "string", Enum: []string{"a", "b"}, OmitEmpty: true},
		{Name: "stock", Go: "Stock", Type: "integer", Minimum: "1"},
		{Name: "price", Go: "Price", Type: "string", Quoted: true, Pattern: gen.PatternNumber, Minimum: "0"},
		{Name: "parts", Go: "Parts", Type: "array", Items: &gen.Param{Type: "Item"}, OmitEmpty: true},
		{Name: "labels", Go: "Labels", Type: "object", Items: &gen.Param{Type: "string"}},
		{Name: "seen", Go: "Base.Seen", Type: "string", Format: "date-time", ReadOnly: true},
		{Name: "log", Go: "Log", Type: "array", Items: &gen.Param{Type: "string"}, AppendOnly: true},
		{Name: "due", Go: "Due", Type: "string", Format: "date-time", Nullable: true},
		{Name: "rivals", Go: "Rivals", Type: "array", Items: &gen.Param{Type: "Item", Nullable: true}},
	}}
	patch := gen.Type{Name: "ItemPatch", Kind: gen.KindObject, Changes: "Item"}
	for _, f := range todo.Fields {
		if f.Updatable() {
			f.Nullable = f.Removable()
			f.Required, f.Default = false, ""
			if f.Name == "labels" {
				f.Items = &gen.Param{Type: "string", Nullable: true}
			}
			patch.Fields = append(patch.Fields, f)
		}
	}
	return &gen.Definitions{Name: "shop", Operations: []gen.Operation{
		{
			Name: "create_item", Category: gen.Create, Description: `Adds an item & <tells> of it.`,
			Returns: gen.Returns{Name: "Item", Kind: gen.KindObject},
			Params: []gen.Param{
				{Name: "name", Type: "string", Required: true, MinLength: 1, MaxLength: 20, Pattern: `(?i)^[a-z].*$`,
					Aliases: []string{"title"}},
				{Name: "size", Type: "Size", Enum: []string{"s", "l"}, Default: `"s"`},
				{Name: "some", Type: "Size", Enum: []string{"l"}, Aliases: []string{"few", "many"}},
				{Name: "stock", Type: "integer", Maximum: "255", Minimum: "0", Default: "1"},
				{Name: "weight", Type: "number", Minimum: "0.5", Deprecated: "say mass"},
				{Name: "mass", Type: "integer"},
				{Name: "photo", Type: "string", Format: "byte"},
				{Name: "code", Type: "string", Pattern: "(?m)^a$"},
				{Name: "pin", Type: "string", Sensitive: true, Format: "uuid"},
				{Name: "extra", Type: "any", Required: true},
				{Name: "parts", Type: "array", Items: &gen.Param{Type: "Item"}, MinItems: 1, MaxItems: 3},
				{Name: "labels", Type: "object", Items: &gen.Param{Type: "integer", Minimum: "0"}, MaxItems: 5},
			},
			Examples: []gen.Example{{Params: `{"name":"Tea","extra":1}`}},
		},
		{
			Name: "update_item", Category: gen.Update, Returns: gen.Returns{Name: "Item", Kind: gen.KindObject},
			Params: []gen.Param{
				{Name: "item_id", Type: "string", Required: true, ID: true}, {Name: "input", Type: "ItemPatch", Required: true},
				{Name: "like", Type: "Item"},
			},
		},
		{
			Name: "replace_item", Category: gen.Update, Returns: gen.Returns{Name: "Nothing", Kind: gen.KindScalar},
			Params: []gen.Param{{Name: "input", Type: "Item", Required: true}},
		},
		{
			Name: "list_items", Category: gen.Read, Returns: gen.Returns{Name: "ItemList", Kind: gen.KindObject},
			Params: []gen.Param{{Name: "fields", Type: gen.TypeSelection, Presets: []string{"minimal", "full"}}},
		},
		{Name: "count_items", Category: gen.Read, Returns: gen.Returns{Name: "Counts", Kind: gen.KindObject}},
		{Name: "drop_items", Category: gen.Delete, Danger: gen.Dangerous, Deprecated: "too easy",
			Returns: gen.Returns{Name: "Either", Kind: gen.KindUnion}},
	}, Types: []gen.Type{
		{Name: "Counts", Kind: gen.KindObject, Items: &gen.Param{Type: "integer", Minimum: "0"}},
		{Name: "Either", Kind: gen.KindUnion, Members: []string{"Item", "Nothing"}},
		todo,
		{Name: "ItemList", Kind: gen.KindObject,
			Fields: []gen.Param{{Name: "items", Go: ".", Type: "array", Required: true, Items: &gen.Param{Type: "Item"}}}},
		patch,
		{Name: "Nothing", Kind: gen.KindScalar, Description: "No data (null)."},
		{Name: "Size", Kind: gen.KindEnum, Description: "How large",
			Values: []gen.EnumValue{{Value: "s", Description: "Small"}, {Value: "l"}}},
	}}
}

// Every document is pinned, and one that the metaschema accepts. The tools are small.
func TestDocuments(t *testing.T) {
	a := shop()
	var all bytes.Buffer
	add := func(name string, schema *jsonschema.Schema) {
		text, err := files.Render(schema)
		if err != nil {
			t.Fatal(err)
		}
		compileText(t, text)
		all.WriteString("-- " + name + " --\n")
		all.Write(text)
	}
	tools := jsonschema.NewTools(a)
	for i := range a.Operations {
		o := &a.Operations[i]
		add("params/"+o.Name, jsonschema.Params(a, o))
		add("result/"+o.Name, jsonschema.Result(a, o.Returns.Name))
		add("tool/"+o.Name, tools.Arguments(o, o.Danger == gen.Dangerous))
	}
	exporttest.Golden(t, "shop.txt", all.Bytes())
}

func textOf(t *testing.T, schema *jsonschema.Schema) []byte {
	t.Helper()
	text, err := schema.Text()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func compileText(t *testing.T, text []byte) *validator.Schema {
	t.Helper()
	schema, err := validator.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	compiler := validator.NewCompiler()
	if err := compiler.AddResource("schema.json", schema); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("schema.json")
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return compiled
}

// What adapters accept and refuse, in the words of the requirements.
func TestParametersAreAcceptedAsAdaptersDo(t *testing.T) {
	a := shop()
	for _, test := range []struct {
		operation, params string
		want              bool
	}{
		{"create_item", `{"name":"Tea","extra":1}`, true},
		{"create_item", `{"title":"Tea","extra":1}`, true},
		{"create_item", `{"title":"Tea","name":"Tea","extra":1}`, false}, // REQ-VO-09: one value under two names
		{"create_item", `{"extra":1}`, false},
		{"create_item", `{"name":null,"extra":1}`, false}, // REQ-VO-13: null counts as absent
		{"create_item", `{"name":"Tea","extra":null}`, false},
		{"create_item", `{"name":"Tea","extra":1,"size":null,"stock":null,"parts":null}`, true},
		{"create_item", `{"name":"Tea","extra":1,"colour":"red"}`, false},
		{"create_item", `{"name":"Tea","extra":1,"_trace":{"id":1}}`, true}, // T-14: metadata
		{"create_item", `{"name":"Tea","extra":1,"some":"s"}`, false},
		{"create_item", `{"name":"Tea","extra":1,"few":"l"}`, true},
		{"create_item", `{"name":"Tea","extra":1,"few":"l","many":"l"}`, false},
		{"create_item", `{"name":"Tea","extra":1,"stock":256}`, false},
		{"create_item", `{"name":"Tea","extra":1,"mass":9223372036854775807}`, true},
		{"create_item", `{"name":"Tea","extra":1,"mass":9223372036854775808}`, false},
		{"create_item", `{"name":"Tea","extra":1,"photo":"aGk="}`, true},
		{"create_item", `{"name":"Tea","extra":1,"photo":"aGl="}`, false}, // bits behind the last byte
		{"create_item", `{"name":"Tea","extra":1,"labels":{"a":1}}`, true},
		{"create_item", `{"name":"Tea","extra":1,"labels":{"a":-1}}`, false},
		{"create_item", `{"name":"Tea","extra":1,"parts":[{"name":"Bag","seen":"2026-01-01T00:00:00Z"}]}`, true},
		{"create_item", `{"name":"Tea","extra":1,"parts":[{"item_id":"1"}]}`, false},
		{"update_item", `{"item_id":"1","input":{}}`, true},
		{"update_item", `{"item_id":"1","input":null}`, false},
		{"update_item", `{"item_id":"1","input":{"name":null}}`, false},                   // REQ-UP-09: it is required
		{"update_item", `{"item_id":"1","input":{"size":null}}`, false},                   // nor has it an empty value
		{"update_item", `{"item_id":"1","input":{"kind":null,"parts":null}}`, true},       // absent where empty
		{"update_item", `{"item_id":"1","input":{"stock":null}}`, false},                  // A3: it has no absent form
		{"update_item", `{"item_id":"1","input":{"due":null,"rivals":null}}`, true},       // A2: these have one
		{"update_item", `{"item_id":"1","input":{"labels":{"a":null,"b":"c"}}}`, true},    // null removes an entry
		{"update_item", `{"item_id":"1","input":{"item_id":"2"}}`, false},                 // REQ-UP-06
		{"update_item", `{"item_id":"1","input":{"seen":"2026-01-01T00:00:00Z"}}`, false}, // REQ-UP-12
		{"replace_item", `{"input":{"name":"Tea"}}`, true},
		{"replace_item", `{"input":{"name":"Tea","kind":null}}`, false},
		{"replace_item", `{"input":{"name":"Tea","due":null,"rivals":[null]}}`, true}, // A2: results have these
		{"create_item", `{"name":"Tea","extra":1,"parts":[null]}`, false},
		{"replace_item", `{"input":{"name":"Tea","log":[]}}`, false},
		{"list_items", `{"fields":"minimal"}`, true},
		{"list_items", `{"fields":["name","parts","labels.colour"]}`, true},
		{"list_items", `{"fields":["parts.parts.parts.labels.app/Name","labels.a.b"]}`, true}, // A13
		{"list_items", `{"fields":["parts.parts.colour"]}`, false},                            // A13
		{"list_items", `{"fields":["labels."]}`, false},
		{"list_items", `{"fields":["colour"]}`, false}, // REQ-FS-07
		{"list_items", `{"fields":["name.first"]}`, false},
		{"list_items", `{"fields":[]}`, false},
		{"drop_items", `{"confirmation_token":"conf_x"}`, true},
		{"count_items", `{"confirmation_token":"conf_x"}`, false},
	} {
		o, ok := a.Operation(test.operation)
		if !ok {
			t.Fatal(test.operation)
		}
		text := textOf(t, jsonschema.Params(a, o))
		value, err := validator.UnmarshalJSON(strings.NewReader(test.params))
		if err != nil {
			t.Fatal(err)
		}
		if err := compileText(t, text).Validate(value); (err == nil) != test.want {
			t.Errorf("%s %s: %v; want accepted: %v", test.operation, test.params, err, test.want)
		}
	}
}

// Of fields that exclude each other, as the members of a oneof do, a request has one; null is the absence of both (B8).
func TestFieldsThatExcludeEachOther(t *testing.T) {
	a := &gen.Definitions{Operations: []gen.Operation{{Name: "send", Category: gen.Create, Params: []gen.Param{
		{Name: "text", Type: "string", Excludes: []string{"scan_of"}},
		{Name: "scan_of", Type: "string", Aliases: []string{"scanOf"}, Excludes: []string{"text"}},
		{Name: "title", Type: "string"},
	}}}}
	schema := compileText(t, textOf(t, jsonschema.Params(a, &a.Operations[0])))
	for params, want := range map[string]bool{
		`{}`: true, `{"title":"x"}`: true, `{"text":"x","title":"y"}`: true, `{"scanOf":"x"}`: true,
		`{"text":"x","scan_of":"y"}`: false, `{"text":"x","scanOf":"y"}`: false, `{"text":"x","scan_of":null}`: true,
		`{"text":null,"scanOf":null}`: true,
	} {
		value, err := validator.UnmarshalJSON(strings.NewReader(params))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); (err == nil) != want {
			t.Errorf("%s: %v; want accepted: %v", params, err, want)
		}
	}
}

// A2: results are null where the definition says so and nowhere else, and may hold the zero value of an enum.
func TestResultsAreAcceptedAsAdaptersWriteThem(t *testing.T) {
	a := shop()
	for i := range a.Operations {
		a.Operations[i].Returns.Nullable = a.Operations[i].Name == "update_item"
	}
	const item = `"item_id":"1","name":"Tea","stock":1,"price":"1","labels":{},"log":[],`
	for _, test := range []struct {
		returns, result string
		want            bool
	}{
		{"Item", `{` + item + `"size":"s","due":null,"rivals":[null]}`, true},
		{"Item", `{` + item + `"size":"","due":"2026-01-01T00:00:00Z","rivals":[]}`, true},
		{"Item", `{` + item + `"size":"xl","due":null,"rivals":[]}`, false},
		{"Item", `{` + item + `"size":null,"due":null,"rivals":[]}`, false},
		{"Item", `{` + item + `"size":"s","due":null,"rivals":null}`, false},
		{"Item", `{` + item + `"size":"s","due":null,"rivals":[],"kind":"c"}`, true}, // its values are a rule for requests
		{"Item", `{` + item + `"size":"s","due":null,"rivals":[],"parts":[null]}`, false},
		{"Item", `null`, true}, // update_item may return nil
		{"Counts", `null`, false},
		{"Counts", `{}`, true},
		{"Counts", `{"a":null}`, false},
	} {
		text := textOf(t, jsonschema.Result(a, test.returns))
		value, err := validator.UnmarshalJSON(strings.NewReader(test.result))
		if err != nil {
			t.Fatal(err)
		}
		if err := compileText(t, text).Validate(value); (err == nil) != test.want {
			t.Errorf("%s %s: %v; want accepted: %v", test.returns, test.result, err, test.want)
		}
	}
}

// A type that is read and written by different rules has two definitions in a set for both directions, and no
// definition takes the name of another type.
func TestSetTellsParametersFromResults(t *testing.T) {
	a := shop()
	a.Types = append(a.Types, gen.Type{Name: "ItemInput", Kind: gen.KindObject})
	set := jsonschema.NewSet(a, "#/components/schemas/")
	for i := range a.Operations {
		set.Params(&a.Operations[i])
		set.Result(a.Operations[i].Returns)
	}
	definitions := set.Definitions()
	for name, closed := range map[string]bool{"Item": false, "ItemInput_": true, "ItemPatch": true, "ItemChanges": true} {
		if definitions[name] == nil {
			t.Errorf("there is no definition %s", name)
			continue
		}
		size := definitions[name].Properties.Get("stock")
		if bounded := size != nil && size.Minimum != nil; bounded != closed {
			t.Errorf("%s: bounded %v", name, bounded)
		}
	}
	if definitions["ItemInput"] != nil {
		t.Error("ItemInput is defined, which nothing refers to")
	}
}

// A13, REQ-FS-07: types that contain each other have paths of any depth, which the expression matches, and no others.
// The entries of maps have any names, without dots where a path goes on behind them.
func TestPathsOfTypesThatContainThemselves(t *testing.T) {
	a := &gen.Definitions{
		Operations: []gen.Operation{{
			Name: "get", Category: gen.Read, Returns: gen.Returns{Name: "Folder", Kind: gen.KindObject},
			Params: []gen.Param{{Name: "fields", Type: gen.TypeSelection}},
		}},
		Types: []gen.Type{
			{Name: "Folder", Kind: gen.KindObject, Fields: []gen.Param{
				{Name: "name", Type: "string"},
				{Name: "files", Type: "object", Items: &gen.Param{Type: "File"}},
				{Name: "up", Type: "Folder"},
			}},
			{Name: "File", Kind: gen.KindObject, Fields: []gen.Param{
				{Name: "size", Type: "integer"},
				{Name: "in", Type: "array", Items: &gen.Param{Type: "Folder"}},
				{Name: "of", Type: "File"},
				{Name: "labels", Type: "object", Items: &gen.Param{Type: "string"}},
			}},
		},
	}
	fields := jsonschema.Params(a, &a.Operations[0]).Properties.Get("fields")
	expression := regexp.MustCompile(fields.AnyOf[1].Items.Pattern)
	for path, want := range map[string]bool{
		"name": true, "up": true, "up.up.up.name": true, "files": true, "files.READ ME": true, "files.a.size": true,
		"up.files.a.of.of.in.up.files.b.in": true, "files.a.labels.app/v1.2": true, "files.a.in.name": true,
		"": false, "size": false, "up.": false, "up.size": false, "files.a.name": false, "files.a.of.up": false,
		"files..size": false, "name.up": false, "files.a.labels.": false, "in": false,
	} {
		if got := expression.MatchString(path); got != want {
			t.Errorf("%q: matched %v, want %v by %s", path, got, want, expression)
		}
	}
}

// wirePath matches the paths that requests can have.
const wirePath = `^(?:[a-z][a-z0-9_]*|_etag|_version)(?:\.(?:[a-z][a-z0-9_]*|_etag|_version))*$`

// Types that share others have paths without number. They are not listed then, and the grammar of paths is all there
// is.
func TestPathsWithoutNumberAreNotListed(t *testing.T) {
	a := &gen.Definitions{Operations: []gen.Operation{{
		Name: "get", Category: gen.Read, Returns: gen.Returns{Name: "T0", Kind: gen.KindObject},
		Params: []gen.Param{{Name: "fields", Type: gen.TypeSelection}},
	}}}
	for i := range 60 {
		next := fmt.Sprintf("T%d", i+1)
		fields := []gen.Param{{Name: "a", Type: next}, {Name: "b", Type: next}}
		a.Types = append(a.Types, gen.Type{Name: fmt.Sprintf("T%d", i), Kind: gen.KindObject, Fields: fields})
	}
	fields := jsonschema.Params(a, &a.Operations[0]).Properties.Get("fields")
	if got := fields.AnyOf[1].Items.Pattern; got != wirePath {
		t.Errorf("got %.200s", got)
	}
}
