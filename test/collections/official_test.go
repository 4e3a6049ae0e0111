package collections_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	validator "github.com/santhosh-tekuri/jsonschema/v6"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/test/collections/internal/reference"
	"github.com/aqltag/aqltag/test/collections/parts"
)

// schemaDir holds the protocol's official JSON Schemas, which are not part of the project.
const schemaDir = "../../../shared/schemas"

// official compiles an official schema, or a definition in it, or skips the test where the schemas are absent.
func official(t *testing.T, name string) *validator.Schema {
	t.Helper()
	file := filepath.Join(schemaDir, name)
	if _, err := os.Stat(schemaDir); err != nil {
		t.Skip("the official schemas are absent")
	}
	compiler := validator.NewCompiler()
	compiler.AssertFormat()
	schema, err := compiler.Compile(file)
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// valid returns why a document breaks a schema; nil: it does not.
func valid(t *testing.T, schema *validator.Schema, document []byte) error {
	t.Helper()
	value, err := validator.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		t.Fatalf("%v: %s", err, document)
	}
	return schema.Validate(value)
}

// selection is the part of parameters that the official schema of field selection is about.
func selection(params map[string]any) map[string]any {
	part := map[string]any{}
	for _, name := range []string{"fields", "preset"} {
		if value, ok := params[name]; ok {
			part[name] = value
		}
	}
	return part
}

// REQ-CQ-05, REQ-CQ-06, REQ-PG-03, REQ-PG-15: the requests that a collection accepts are valid against the official
// schemas of collection queries and of field selection, its answers and refusals against that of results, and what
// introspection says of it against the closed one.
func TestOfficialSchemasOfCollections(t *testing.T) {
	query, fields := official(t, "collection-query.schema.json"),
		official(t, "field-selection.schema.json#/$defs/FieldSelectionInput")
	result := official(t, "operation-result.schema.json")
	introspection := official(t, "introspection-response.schema.json")
	check := func(schema *validator.Schema, document []byte) {
		t.Helper()
		if err := valid(t, schema, document); err != nil {
			t.Errorf("%v\n%s", err, document)
		}
	}
	m := newMaker(t, 4)
	store := &parts.Store{Parts: m.parts(30)}
	tasks := &parts.Tasks{All: []parts.Task{{TaskID: "a", Tags: []string{"x"}}, {TaskID: "b"}, {TaskID: "c"}}}
	adapter, err := aql.New(parts.NewRegistry(store, tasks), aql.Options{Name: "parts", Version: "1"})
	if err != nil {
		t.Fatal(err)
	}
	s := adapter.NewSession()
	call := func(operation string, params map[string]any) (answer map[string]any) {
		t.Helper()
		request := encoded(t, map[string]any{"operation": operation, "params": params})
		reply := s.Call(t.Context(), "mcp_aql_read", request).JSON
		check(result, reply)
		decoded(t, reply, &answer)
		if operation == "introspect" {
			check(introspection, reply)
			return answer
		}
		if answer["success"] == true {
			check(query, encoded(t, params))
			check(fields, encoded(t, selection(params)))
		}
		return answer
	}
	accept := func(operation string, params map[string]any) map[string]any {
		t.Helper()
		answer := call(operation, params)
		if answer["success"] != true {
			t.Errorf("%s %s is refused: %s", operation, encoded(t, params), encoded(t, answer))
		}
		return answer
	}
	for range 200 {
		params := map[string]any{"filter": m.filter(0)}
		if by, descending := schema.Sort(m.Rand); by != "" {
			params["sort"] = reference.Order(by, descending)
		}
		params["first"] = m.IntN(4)
		page := at(accept("list_slice", params), "data", "pageInfo")
		if cursor, more := page.(map[string]any)["endCursor"]; more {
			params["after"] = cursor
			accept("list_slice", params)
			delete(params, "first")
			delete(params, "after")
			params["last"], params["before"] = 2, cursor
			accept("list_slice", params)
		}
	}
	for page := range 3 {
		accept("list_numbered", map[string]any{"page": page + 1, "page_size": 20})
		accept("list_offset", map[string]any{"offset": page * 20, "limit": 20, "fields": "minimal"})
	}
	accept("search_parts", map[string]any{"query": `milk "a b"`, "first": 500})
	accept("list_tasks", map[string]any{"fields": []string{"task_id", "due_at"}, "first": 1})
	accept("list_tasks", map[string]any{"fields": "minimal"})
	accept("list_tasks", map[string]any{"preset": "full", "sort": map[string]any{"field": "title"}})
	for _, refused := range []map[string]any{
		{"filter": map[string]any{"none": 1}}, {"filter": map[string]any{"plan.due_at": "soon"}},
		{"sort": map[string]any{"field": "none"}}, {"first": 1, "last": 1}, {"first": 1, "before": "x"},
		{"last": 1, "after": "x"}, {"after": "x"}, {"before": "x"}, {"first": 1, "after": "forged"},
	} {
		if answer := call("list_slice", refused); answer["success"] != false {
			t.Errorf("%s is accepted", encoded(t, refused))
		}
	}
	// What the schemas refuse, the collection refuses.
	for operation, all := range map[string][]string{
		"list_slice": {
			`{"filter":1}`, `{"sort":"title"}`, `{"sort":{}}`, `{"sort":{"field":"title","order":"up"}}`,
			`{"sort":{"field":"title","by":"x"}}`, `{"first":-1}`, `{"first":1.5}`, `{"first":1,"after":1}`, `{"last":"1"}`,
		},
		"list_numbered": {`{"page":0}`, `{"page":1.5}`, `{"page_size":0}`, `{"page_size":"1"}`},
		"list_offset":   {`{"limit":-1}`, `{"limit":1.5}`, `{"offset":-1}`, `{"offset":"1"}`},
	} {
		for _, wrong := range all {
			if valid(t, query, []byte(wrong)) == nil {
				t.Errorf("the official schema accepts %s", wrong)
			}
			var params map[string]any
			decoded(t, []byte(wrong), &params)
			if answer := call(operation, params); answer["success"] != false {
				t.Errorf("%s %s is accepted", operation, wrong)
			}
		}
	}
	listed := call("introspect", map[string]any{"query": "operations"})
	for _, operation := range at(listed, "data", "operations").([]any) {
		call("introspect", map[string]any{"query": "operations", "name": operation.(map[string]any)["name"]})
	}
	for _, typ := range []string{
		"Part", "PartFilter", "PartSort", "PartPage", "PageInfo", "PartNumberedPage", "NumberedPageInfo", "PartOffsetPage",
		"OffsetPageInfo", "TaskFilter",
	} {
		answer := call("introspect", map[string]any{"query": "types", "name": typ})
		if at(answer, "data", "type") == nil {
			t.Errorf("introspection does not know %s: %s", typ, fmt.Sprint(answer))
		}
	}
}
