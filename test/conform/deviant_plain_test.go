package conform_test

import (
	"fmt"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// newPlain returns a server in the manner of ordinary MCP: one tool, results without an envelope and behind a sentence
// of their own, failures that are plain text with isError. Its introspection takes no parameters, is an object by name,
// and tells of no category but what only reads.
func newPlain() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "plain", Version: "0.3"}, nil)
	tasks := &store{map[string]map[string]any{}}
	addTool(s, "mcp_aql", "All operations of the task list", aqlSchema(), func(_ string, root dict) reply {
		return plain(tasks, root)
	})
	return s
}

func plain(tasks *store, root dict) reply {
	fail := func(format string, args ...any) reply {
		return reply{isError: true, texts: []string{"Error: " + fmt.Sprintf(format, args...)}}
	}
	params, _ := root["params"].(dict)
	slug, isText := params["slug"].(string)
	switch name := root["operation"]; name {
	case "introspect":
		one := dict{"slug": dict{"type": "string", "description": "Which one", "required": true}}
		return reply{texts: []string{string(text(dict{"operations": dict{
			"introspect": dict{"description": "Lists the operations", "permissions": dict{"readOnly": true}, "params": dict{}},
			"add_task":   dict{"description": "Adds a task", "permissions": dict{"readOnly": false}, "params": one},
			"get_task":   dict{"description": "Reads a task", "permissions": dict{"readOnly": true}, "params": one},
			"list_tasks": dict{"description": "Lists tasks", "permissions": dict{"readOnly": true}, "params": dict{}},
		}}))}}
	case "list_tasks":
		return reply{texts: []string{"There are tasks. ", string(text(tasks.sorted()))}}
	case "add_task", "get_task":
		switch {
		case params["slug"] == nil:
			return fail("slug is missing")
		case !isText:
			return fail("slug must be a string")
		case name == "add_task" && tasks.records[slug] == nil:
			tasks.records[slug] = dict{"slug": slug}
		case tasks.records[slug] == nil:
			return fail("no task %s", slug)
		}
		return reply{texts: []string{"Done. ", string(text(tasks.records[slug]))}}
	}
	return fail("unknown operation")
}
