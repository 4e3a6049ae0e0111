package aql

import (
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/words"
)

// directory finds operations by the names in requests.
type directory struct {
	operations map[string]*operation
	names      []string          // of the operations in definition order, built-in ones first
	families   map[string]string // by tool; the family "" has all operations
	discrete   map[string]string // operations by tool, where each has one; nil: tools have many
	upperCase  bool              // messages write families in capitals
}

// newDirectory returns a directory without operations.
func newDirectory(definitions *gen.Definitions, surface *describe.Surface, tools []describe.Tool) directory {
	d := directory{families: make(map[string]string), upperCase: surface.Profile.Name == "crude"}
	for _, tool := range tools {
		d.families[tool.Name] = tool.Family
		if tool.Operation != "" {
			if d.discrete == nil {
				d.discrete = make(map[string]string, len(tools))
			}
			d.discrete[tool.Name] = tool.Operation
		}
	}
	for _, builtIn := range surface.BuiltIns(definitions) {
		d.names = append(d.names, builtIn.Name)
	}
	for i := range definitions.Operations {
		d.names = append(d.names, definitions.Operations[i].Name)
	}
	return d
}

// maxSearches is how many unknown names of operations in one message are compared with those there are.
const maxSearches = 20

// find returns the operation of this name, if this tool reaches it. With the failure for one that another tool reaches,
// it returns that operation too. searches counts the unknown names in the message.
func (d *directory) find(tool, name string, searches *int) (*operation, *Error) {
	family, known := d.families[tool]
	if !known {
		return nil, unknownTool(tool)
	}
	o, known := d.operations[name]
	if !known {
		name = strings.Clone(name)
		*searches++
		return nil, failure("NOT_FOUND_OPERATION", "Unknown operation: '"+name+"'",
			append([]detail{{"operation", name}}, d.available(name, *searches <= maxSearches)...)...)
	}
	if family != "" && family != o.family {
		return o, d.endpointMismatch(o, family, tool)
	}
	return o, nil
}

func unknownTool(name string) *Error {
	return failure("NOT_FOUND_OPERATION", "Unknown tool: '"+name+"'", detail{"tool", name})
}

// endpointMismatch names both tools, so that a client can retry at once.
func (d *directory) endpointMismatch(o *operation, family, tool string) *Error {
	expected, actual := o.family, family
	if d.upperCase {
		expected, actual = strings.ToUpper(expected), strings.ToUpper(actual)
	}
	name := o.definition.Name
	return failure("VALIDATION_ENDPOINT_MISMATCH",
		"Operation '"+name+"' must use "+expected+" endpoint, not "+actual,
		detail{"operation", name}, detail{"expected_endpoint", expected}, detail{"actual_endpoint", actual},
		detail{"expected_tool", o.tool}, detail{"actual_tool", tool})
}

// mostAvailable is how many names of operations the failure of an unknown one lists.
const mostAvailable = 10

// available lists operations that a name may have meant, and says how to see all. Without a search, or if none is near,
// it lists the first ones.
func (d *directory) available(name string, search bool) []detail {
	var listed []string
	if search {
		listed = words.Nearest(name, d.names, mostAvailable)
	}
	if len(listed) == 0 {
		listed = d.names[:min(mostAvailable, len(d.names))]
	}
	details := []detail{{"available", listed}}
	if len(listed) < len(d.names) {
		all := strconv.Itoa(len(d.names))
		details = append(details, detail{"hint", "introspect with query 'operations' lists all " + all})
	}
	return details
}
