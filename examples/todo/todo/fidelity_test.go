package todo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/aqltag/aqltag/examples/todo/todo"
	files "github.com/aqltag/aqltag/internal/export/jsonschema"
	aql "github.com/aqltag/aqltag/runtime"
	export "github.com/aqltag/aqltag/runtime/jsonschema"
)

// REQ-IN-11, REQ-IN-12: what introspection's definitions describe and what the generated decoders accept is the same,
// in both directions. Thousands of random requests are judged twice: by a JSON Schema made of the definitions, and by
// the adapter.
func TestDefinitionsAndDecodersAgree(t *testing.T) {
	registry := todo.NewRegistry(open(t, todo.Memory))
	adapter, err := aql.New(registry, aql.Options{Name: "todo", Mode: "single", Confirmation: aql.Confirmation{Off: true}})
	if err != nil {
		t.Fatal(err)
	}
	definitions := registry.Definitions()
	compiled := func(t *testing.T, name string, text []byte) *jsonschema.Schema {
		t.Helper()
		compiler := jsonschema.NewCompiler()
		compiler.AssertFormat()
		document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiler.AddResource(name, document); err != nil {
			t.Fatal(err)
		}
		schema, err := compiler.Compile(name)
		if err != nil {
			t.Fatal(err)
		}
		return schema
	}
	random := rand.New(rand.NewPCG(1, 2))
	requests := 3000 // of each operation
	if testing.Short() {
		requests = 300
	}
	for i := range definitions.Operations {
		operation := &definitions.Operations[i]
		t.Run(operation.Name, func(t *testing.T) {
			text, err := files.Render(export.Params(&definitions, operation))
			if err != nil {
				t.Fatal(err)
			}
			schema := compiled(t, "export.json", text)
			var names []string
			for _, param := range operation.Params {
				names = append(names, param.Name)
			}
			session := adapter.NewSession()
			// agree reports whether the adapter accepts parameters, and fails where the schema disagrees.
			agree := func(params string) bool {
				value, err := jsonschema.UnmarshalJSON(strings.NewReader(params))
				if err != nil {
					t.Fatal(err)
				}
				fault := schema.Validate(value)
				request := fmt.Appendf(nil, `{"operation":%q,"params":%s}`, operation.Name, params)
				reply := session.Call(context.Background(), "mcp_aql", request)
				var response struct {
					Success bool
					Error   struct {
						Code    string
						Details struct {
							Expected string `json:"expected_type"`
						}
					}
				}
				if err := json.Unmarshal(reply.JSON, &response); err != nil {
					t.Fatal(err)
				}
				switch response.Error.Details.Expected {
				case "valid pagination combination", "cursor of this operation":
					return false // which no schema says
				}
				valid := !strings.HasPrefix(response.Error.Code, "VALIDATION_")
				if valid != (fault == nil) {
					t.Fatalf("%s\nschema: %v\nadapter: %s", params, fault, reply.JSON)
				}
				return valid
			}
			accepted := 0
			for range requests {
				params := randomObject(random, names, 3)
				if agree(params) {
					accepted++
				}
				agree(nulled(random, params))
			}
			if accepted == 0 {
				t.Error("no random request was accepted: the test shows nothing")
			}
		})
	}
}

// nulled makes null of a value here and there, and adds metadata.
func nulled(random *rand.Rand, params string) string {
	places := regexp.MustCompile(`:("[^"]*"|-?[0-9.e]+|true|false|\{\}|\[[^\[\]{}]*\])`).
		FindAllStringSubmatchIndex(params, -1)
	if len(places) > 0 && random.IntN(2) == 0 {
		at := places[random.IntN(len(places))]
		params = params[:at[2]] + "null" + params[at[3]:]
	}
	if random.IntN(4) == 0 {
		params = strings.Replace(params, "{", `{"_trace":[1],`, 1)
		params = strings.Replace(params, ",}", "}", 1)
	}
	return params
}

// names of members that occur somewhere in the definitions, and some that do not.
var memberNames = []string{"title", "notes", "priority", "status", "due_at", "tags", "metadata", "color",
	"estimate_minutes", "labels",
	"todo_id", "created_at", "_etag", "field", "order", "tag", "Title", "colour"}

// randomObject is an object that has some of the preferred names, and rarely another.
func randomObject(random *rand.Rand, preferred []string, depth int) string {
	var members []string
	for _, name := range preferred {
		given := random.IntN(3) > 0
		if name == "after" || name == "last" || name == "before" {
			given = random.IntN(10) == 0 // a page is asked for from one side
		}
		if given {
			members = append(members, fmt.Sprintf("%q:%s", name, randomValue(random, name, depth)))
		}
	}
	if random.IntN(10) == 0 {
		members = append(members, `"unknown":1`)
	}
	return "{" + strings.Join(members, ",") + "}"
}

// randomValue is a value that mostly suits the name.
func randomValue(random *rand.Rand, name string, depth int) string {
	pick := func(values ...string) string { return values[random.IntN(len(values))] }
	if random.IntN(25) == 0 {
		return pick(`""`, `"x"`, "1", "1.5", "true", "{}", "[]", `["title"]`, "1.0", "-1", "1e3")
	}
	text := func(n int) string { return `"` + strings.Repeat("é", n) + `"` }
	switch name {
	case "title":
		return pick(text(1), text(200), text(201), `"x"`, `""`)
	case "notes":
		return pick(text(4000), text(4001), `"x"`)
	case "priority":
		return pick(`"low"`, `"medium"`, `"high"`, `"urgent"`)
	case "status":
		return pick(`"open"`, `"done"`, `"gone"`)
	case "due_at", "created_at", "updated_at":
		return pick(`"2026-03-01T09:00:00Z"`, `"2026-03-01T09:00:00.5+01:00"`, `"2026-03-01"`, `"soon"`)
	case "tags":
		return pick(`[]`, `["a","b"]`, `[1]`, "["+strings.TrimSuffix(strings.Repeat(`"a",`, 21), ",")+"]")
	case "color":
		return pick(`"red"`, text(30), text(31))
	case "estimate_minutes":
		return pick("0", "10000", "10001", "-1", "5.0", "5.5")
	case "labels":
		return pick(`{}`, `{"a":"b"}`, `{"a":1}`)
	case "fields":
		return pick(`"minimal"`, `"full"`, `"huge"`, `["title","due_at"]`, `["metadata.color"]`, `["metadata.labels.x"]`,
			`[]`, `[1]`, `["Title"]`, `["a..b"]`)
	case "preset":
		return pick(`"minimal"`, `"standard"`, `"huge"`)
	case "first", "last":
		return pick("1", "25", "0", "1000", "1.0", "-1")
	case "older_than_days":
		return pick("0", "7", "-1", "2.5")
	case "field":
		return pick(`"created_at"`, `"due_at"`, `"title"`, `"color"`)
	case "order":
		return pick(`"asc"`, `"desc"`, `"up"`)
	case "todos":
		todo := func() string {
			return nested(random, []string{"title", "notes", "priority", "due_at", "tags"}, depth)
		}
		return pick("["+todo()+"]", "["+todo()+","+todo()+"]", "[]")
	case "metadata":
		return nested(random, []string{"color", "estimate_minutes", "labels"}, depth)
	case "filter":
		return randomFilter(random, depth)
	case "sort":
		return nested(random, []string{"field", "order"}, depth)
	case "input":
		return nested(random, []string{"title", "notes", "priority", "status", "due_at", "tags", "metadata"}, depth)
	case "todo_id":
		return pick(`"todo_x"`, `"todo_y"`)
	default:
		return pick(`"x"`, `"y"`)
	}
}

// randomFilter is a filter of todos that mostly suits them.
func randomFilter(random *rand.Rand, depth int) string {
	var members []string
	for _, name := range []string{"title", "status", "priority", "due_at", "tags", "updated_at", "metadata.color"} {
		if random.IntN(4) > 0 {
			continue
		}
		of := strings.TrimPrefix(name, "metadata.")
		if of == "tags" {
			of = "tag" // a filter names one of them
		}
		value := randomValue(random, of, depth)
		if random.IntN(2) == 0 {
			operators := []string{"eq", "ne", "in", "gt", "lte", "contains", "starts", "all", "null", "like"}
			switch operator := operators[random.IntN(len(operators))]; operator {
			case "in", "all":
				value = fmt.Sprintf("{%q:[%s,%s]}", operator, value, randomValue(random, of, depth))
			case "null":
				value = `{"null":true}`
			default:
				value = fmt.Sprintf("{%q:%s}", operator, value)
			}
		}
		members = append(members, fmt.Sprintf("%q:%s", name, value))
	}
	if depth > 1 && random.IntN(4) == 0 {
		members = append(members, `"_not":`+randomFilter(random, depth-1))
	}
	if depth > 1 && random.IntN(4) == 0 {
		members = append(members, `"_or":[`+randomFilter(random, depth-1)+","+randomFilter(random, depth-1)+"]")
	}
	if random.IntN(20) == 0 {
		members = append(members, `"notes":"x"`)
	}
	return "{" + strings.Join(members, ",") + "}"
}

func nested(random *rand.Rand, names []string, depth int) string {
	if depth == 0 {
		return "{}"
	}
	if random.IntN(12) == 0 {
		names = append(names, memberNames[random.IntN(len(memberNames))])
		seen := map[string]bool{}
		var unique []string
		for _, name := range names {
			if !seen[name] {
				seen[name] = true
				unique = append(unique, name)
			}
		}
		names = unique
	}
	return randomObject(random, names, depth-1)
}
