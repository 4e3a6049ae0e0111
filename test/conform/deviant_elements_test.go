package conform_test

import (
	"encoding/json"
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type array = []any
type dict = map[string]any

// newElements returns a server with a tool for each category, whose operations are named by element_name, and listed
// with a duplicate. It tells neither a category nor the protocol, ignores parameters that it does not know, has errors
// that are text, hides failures of handlers in successes, and asks before nothing.
func newElements() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "elements", Version: "1.0"}, nil)
	notes := &store{map[string]map[string]any{}}
	for _, family := range []string{"create", "read", "update", "delete"} {
		description := "Operations that " + family + ". Call introspect on mcp_aql_read first."
		addTool(s, "mcp_aql_"+family, description, aqlSchema(), func(tool string, root dict) reply {
			return reply{texts: []string{indented(elements(notes, tool, root))}}
		})
	}
	return s
}

// elementOperations are the operations with their endpoints, parameters and required ones.
var elementOperations = []struct {
	name, endpoint string
	parameters     array
}{
	{"create_note", "CREATE", array{
		dict{"name": "noteTitle", "type": "string", "required": true, "description": "Title"},
		dict{"name": "body", "type": "string", "required": false, "description": "Text"},
		dict{"name": "pageCount", "type": "number", "required": false, "description": "Pages", "default": 1},
	}},
	{"get_note", "READ", array{dict{"name": "noteTitle", "type": "string", "required": true, "description": "Title"}}},
	{"introspect", "READ", array{
		dict{"name": "query", "type": "string", "required": true, "description": "What to list"},
		dict{"name": "name", "type": "string", "required": false, "description": "What to show in full"},
	}},
	{"introspect", "READ", nil},
	{"list_notes", "READ", array{
		dict{"name": "limit", "type": "number", "required": false, "description": "Page size", "default": 20},
	}},
	{"edit_note", "UPDATE", array{
		dict{"name": "noteTitle", "type": "string", "required": true, "description": "Title"},
		dict{"name": "input", "type": "NoteInput", "required": true, "description": "What changes"},
	}},
	{
		"delete_note",
		"DELETE",
		array{dict{"name": "noteTitle", "type": "string", "required": true, "description": "Title"}},
	},
}

func elements(notes *store, tool string, root dict) any {
	textError := func(format string, args ...any) dict {
		return dict{"success": false, "error": fmt.Sprintf(format, args...)}
	}
	if items, ok := root["operations"].([]any); ok {
		results, succeeded := array{}, 0
		for i, item := range items {
			each, _ := item.(dict)
			result, _ := elements(notes, tool, each).(dict)
			if result["success"] == true {
				succeeded++
			}
			results = append(results, dict{"index": i, "operation": each["operation"], "result": result})
		}
		return dict{"success": true, "results": results,
			"summary": dict{"total": len(items), "succeeded": succeeded, "failed": len(items) - succeeded}}
	}
	name, _ := root["operation"].(string)
	params, _ := root["params"].(dict)
	for _, o := range elementOperations {
		if o.name != name {
			continue
		}
		if tool != "mcp_aql_"+lower(o.endpoint) {
			return textError("Operation '%s' must be called with mcp_aql_%s", name, lower(o.endpoint))
		}
		for _, p := range o.parameters {
			d := p.(dict)
			if _, there := params[d["name"].(string)]; d["required"] == true && !there && name != "introspect" {
				return textError("Missing required parameter '%s'", d["name"])
			}
		}
		return elementsCall(notes, name, params)
	}
	return textError("Unknown operation: '%s'", name)
}

func elementsCall(notes *store, name string, params dict) any {
	said := func(text string) dict {
		return dict{"success": true, "data": dict{"content": array{dict{"type": "text", "text": text}}}}
	}
	hidden := func(text string) dict {
		a := said("❌ " + text)
		a["data"].(dict)["isError"] = true
		return a
	}
	if name == "introspect" {
		return dict{"success": true, "data": elementsIntrospect(params)}
	}
	if name == "list_notes" {
		all, limit := notes.sorted(), 20
		if n, ok := params["limit"].(json.Number); ok {
			n, _ := n.Int64()
			limit = int(n)
		}
		return dict{
			"success": true,
			"data":    dict{"items": all[:min(max(0, limit), len(all))], "pagination": dict{"pageSize": limit}},
		}
	}
	title, ok := params["noteTitle"].(string)
	if !ok {
		return hidden("noteTitle must be text")
	}
	note := notes.records[title]
	switch {
	case name == "create_note" && note != nil:
		return hidden("A note with this title exists")
	case name == "create_note":
		note = dict{"noteTitle": title, "body": params["body"], "pageCount": params["pageCount"]}
		if note["pageCount"] == nil {
			note["pageCount"] = 1
		}
		notes.records[title] = note
		return dict{"success": true, "data": note}
	case note == nil:
		return hidden(fmt.Sprintf("There is no note '%s'", title))
	case name == "edit_note":
		in, ok := params["input"].(dict)
		if !ok {
			return hidden("input must be an object")
		}
		merge(note, in)
		return dict{"success": true, "data": note}
	case name == "delete_note":
		delete(notes.records, title)
		return said("Deleted.")
	}
	return said(fmt.Sprintf("# %v\n\n%v\n", note["noteTitle"], note["body"]))
}

func elementsIntrospect(params dict) dict {
	switch params["query"] {
	case "operations", nil:
		entries := array{}
		for _, o := range elementOperations {
			if o.name == params["name"] {
				return dict{"operation": dict{"element_name": o.name, "endpoint": o.endpoint,
					"mcpTool": "mcp_aql_" + lower(o.endpoint), "description": "The operation " + o.name,
					"permissions": dict{"readOnly": o.endpoint == "READ", "destructive": o.endpoint == "DELETE"},
					"parameters":  o.parameters, "returns": dict{"name": "object", "kind": "object"}, "examples": array{"Like this."}}}
			}
			entries = append(
				entries,
				dict{"element_name": o.name, "endpoint": o.endpoint, "description": "The operation " + o.name},
			)
		}
		if params["name"] != nil {
			return dict{"operation": nil}
		}
		return dict{"operations": entries}
	case "types":
		if params["name"] == nil {
			return dict{"types": array{dict{"name": "NoteInput", "kind": "object"}}}
		}
		if params["name"] == "NoteInput" {
			return dict{"type": dict{"name": "NoteInput", "kind": "object", "fields": array{
				dict{"name": "body", "type": "string", "required": false, "description": "Text"},
			}}}
		}
		return dict{"type": nil}
	}
	return dict{}
}

func lower(endpoint string) string {
	return map[string]string{"CREATE": "create", "READ": "read", "UPDATE": "update", "DELETE": "delete"}[endpoint]
}
