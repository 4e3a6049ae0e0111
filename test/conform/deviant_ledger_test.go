package conform_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// newLedger returns a server with families of its own, one tool of which it lists twice. Its operations are named by
// 'operation', its members are in camelCase, its parameters are JSON Schemas with int64, and its introspection is JSON
// in a text. It knows its parameters strictly, has codes of its own, marks all failures by isError, and has no batches.
func newLedger() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "ledger", Version: "2.1"}, nil)
	entries := &store{map[string]map[string]any{}}
	for _, family := range []string{"discover", "query", "manage"} {
		addTool(s, "mcp_aql_"+family, "Use introspect of mcp_aql_discover.", aqlSchema(), func(tool string, root dict) reply {
			return ledger(entries, tool, root)
		})
	}
	s.AddReceivingMiddleware(func(next mcp.MethodHandler) mcp.MethodHandler {
		return func(ctx context.Context, method string, r mcp.Request) (mcp.Result, error) {
			result, err := next(ctx, method, r)
			if tools, ok := result.(*mcp.ListToolsResult); ok {
				tools.Tools = append(slices.Clone(tools.Tools), tools.Tools[1])
			}
			return result, err
		}
	})
	return s
}

// maxAmount is beyond what a float64 holds exactly.
const maxAmount = 9223372036854775807

type ledgerOperation struct {
	name, category, endpoint string
	properties               dict
	required                 array
	example                  dict
}

var ledgerOperations = []ledgerOperation{
	{"introspect", "READ", "discover", dict{
		"query": dict{"type": "str", "description": "operations or types", "enum": array{"operations", "types"}},
		"name":  dict{"type": "str", "description": "What to show in full"},
	}, nil, dict{}},
	{"createEntry", "CREATE", "manage", dict{
		"text":   dict{"type": "str", "description": "What it is for", "maxLength": 40},
		"amount": dict{"type": "int64", "description": "Cents", "default": 9007199254740993, "maximum": maxAmount},
	}, array{"text"}, dict{"text": "rent"}},
	{"getEntry", "READ", "query", dict{"entryId": dict{"type": "str", "description": "Which one"}}, array{"entryId"},
		dict{"entryId": "e1"}},
	{"listEntries", "READ", "query", dict{
		"maxAmount": dict{"type": "int64", "description": "At most", "default": maxAmount},
	}, nil, dict{}},
	{"changeEntry", "UPDATE", "manage", dict{
		"entryId": dict{"type": "str", "description": "Which one"},
		"input": dict{"type": "object", "description": "What changes", "properties": dict{
			"text": dict{"type": "str", "description": "What it is for"},
		}},
	}, array{"entryId", "input"}, dict{"entryId": "e1", "input": dict{"text": "rent"}}},
	{"dropLedger", "EXECUTE", "manage", dict{}, nil, dict{}},
}

func ledger(entries *store, tool string, root dict) reply {
	fail := func(code, format string, args ...any) reply {
		return reply{isError: true, texts: []string{string(text(dict{"success": false,
			"error": dict{"code": code, "message": fmt.Sprintf(format, args...)}}))}}
	}
	if _, batch := root["operations"]; batch {
		return reply{err: errors.New("operations is not supported")}
	}
	name, _ := root["operation"].(string)
	i := slices.IndexFunc(ledgerOperations, func(o ledgerOperation) bool { return o.name == name })
	if i < 0 {
		return fail("unknown_operation", "There is no operation %q", name)
	}
	o := ledgerOperations[i]
	params, ok := root["params"].(dict)
	if !ok && root["params"] != nil {
		return fail("invalid_argument", "params must be an object")
	}
	if tool != "mcp_aql_"+o.endpoint {
		return fail("wrong_tool", "Operation %s is on mcp_aql_%s", name, o.endpoint)
	}
	for _, given := range slices.Sorted(maps.Keys(params)) {
		value := params[given]
		d, known := o.properties[given].(dict)
		if !known {
			return fail("invalid_argument", "Parameter %s is not known", given)
		}
		_, isText := value.(string)
		_, isObject := value.(dict)
		_, isNumber := value.(interface{ Int64() (int64, error) })
		if d["type"] == "str" && !isText || d["type"] == "object" && !isObject || d["type"] == "int64" && !isNumber {
			return fail("invalid_argument", "Parameter %s is not of type %s", given, d["type"])
		}
	}
	for _, each := range o.required {
		if params[each.(string)] == nil {
			return fail("invalid_argument", "Parameter %s is missing", each)
		}
	}
	succeed := func(data any) reply {
		return reply{texts: []string{string(text(dict{"success": true, "data": data}))}}
	}
	switch name {
	case "introspect":
		return ledgerIntrospect(params)
	case "createEntry":
		id := "e" + strconv.Itoa(len(entries.records)+1)
		entry := dict{"entryId": id, "text": params["text"], "amount": params["amount"]}
		if entry["amount"] == nil {
			entry["amount"] = 9007199254740993
		}
		entries.records[id] = entry
		return succeed(entry)
	case "listEntries":
		most := params["maxAmount"]
		if most == nil {
			most = maxAmount
		}
		return succeed(dict{"entries": entries.sorted(), "maxAmount": most})
	case "dropLedger":
		panic("dropLedger is destructive, and was called")
	}
	id, _ := params["entryId"].(string)
	entry := entries.records[id]
	if entry == nil {
		return fail("no_such_entry", "There is no entry %s", id)
	}
	if in, ok := params["input"].(dict); ok {
		for given, value := range in {
			if _, isText := value.(string); given != "text" || !isText {
				return fail("invalid_argument", "Field %s cannot be changed to this", given)
			}
		}
		merge(entry, in)
	}
	return succeed(entry)
}

func ledgerIntrospect(params dict) reply {
	say := func(data dict) reply {
		block := indented(dict{"success": true, "data": data})
		return reply{texts: []string{"Here is what I can do {in short}:\n\n```json\n" + block + "\n```\nAsk me for more.\n"}}
	}
	entries := array{}
	for _, o := range ledgerOperations {
		danger := map[string]string{"READ": "safe", "CREATE": "reversible", "UPDATE": "reversible", "EXECUTE": "destructive"}
		each := dict{
			"operation":        o.name,
			"semanticCategory": o.category,
			"endpoint":         o.endpoint,
			"description":      "Does " + o.name,
		}
		entries = append(entries, each)
		if o.name == params["name"] && params["query"] != "types" {
			return say(dict{"operation": dict{"operation": o.name, "semanticCategory": o.category, "endpoint": o.endpoint,
				"mcpTool": "mcp_aql_" + o.endpoint, "description": "Does " + o.name, "dangerLevel": danger[o.category],
				"inputSchema": dict{"type": "object", "properties": o.properties, "required": o.required},
				"returnType":  "object", "examples": array{dict{"request": dict{"operation": o.name, "params": o.example}}}}})
		}
	}
	switch {
	case params["query"] == "types":
		return say(dict{"types": array{}, "type": nil})
	case params["query"] != nil && params["query"] != "operations":
		return reply{
			isError: true,
			texts: []string{`{"success":false,"error":{"code":"invalid_argument","message":"No query ` +
				strings.Trim(string(text(params["query"])), `"`) + `"}}`},
		}
	case params["name"] != nil:
		return say(dict{"operation": nil})
	}
	return say(dict{"operations": entries})
}
