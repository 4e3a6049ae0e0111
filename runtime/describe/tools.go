package describe

import (
	"encoding/json"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Tool is an MCP tool as clients see it (MCP-AQL MCP integration §2). A transport must send both flags, also if they
// are false, because MCP takes an absent destructiveHint for true.
type Tool struct {
	Name        string
	Title       string
	Description string
	Family      string          // the endpoint family of its operations; empty: all
	Operation   string          // the only operation, whose parameters are the arguments; empty: the arguments name it
	InputSchema json.RawMessage // JSON Schema of its arguments
	ReadOnly    bool            // readOnlyHint
	Destructive bool            // destructiveHint
}

// baseSchema is the input schema of every tool: a request with one operation, or a batch (MCP-AQL MCP integration
// §3.1). It does not demand one of the two, because some clients refuse a schema with alternatives at its root. It has
// no descriptions, because each would cost tokens in every conversation and the tool's description shows how a request
// looks.
const baseSchema = `{"type":"object","properties":{` +
	anyOperation + `,"params":{"type":"object","additionalProperties":true},"operations":{"type":"array",` +
	`"items":{"type":"object","properties":{"operation":{"type":"string"},"params":{"type":"object"}}}}}}`

// anyOperation is the part of baseSchema in which a tool can list its operations.
const anyOperation = `"operation":{"type":"string"}`

// inputSchema returns the input schema of a tool with these operations.
func (s Surface) inputSchema(operations []*gen.Operation) json.RawMessage {
	if len(operations) == 0 || len(operations) > s.OperationEnum {
		return json.RawMessage(baseSchema)
	}
	var names []string
	for _, o := range operations {
		names = append(names, `"`+o.Name+`"`)
	}
	listed := `"operation":{"type":"string","enum":[` + strings.Join(names, ",") + `]}`
	return json.RawMessage(strings.Replace(baseSchema, anyOperation, listed, 1))
}

// Tools renders the MCP tools of an adapter: in semantic mode one for each family of the profile, in single mode one
// for all operations, in the mode all both (MCP-AQL MCP integration §2.1), in discrete mode one for each operation. It
// fails on a surface that is not valid, on operations of one name and on unknown categories.
func (s Surface) Tools(a *gen.Definitions, p Protocol) ([]Tool, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if err := checkOperations(a, s); err != nil {
		return nil, err
	}
	if s.Mode == Discrete {
		return s.discreteTools(a, p)
	}
	var tools []Tool
	if s.Mode != Single {
		for i := range s.Profile.Families {
			family := &s.Profile.Families[i]
			operations := s.operationsOf(a, family.Name)
			if len(operations) == 0 && s.OmitEmptyFamilies {
				continue
			}
			flags := familyFlags(family, operations)
			tools = append(tools, Tool{
				Name: s.toolName(family.Name), Title: title(a) + ": " + family.Name, Family: family.Name,
				Description: s.familyText(family, operations), InputSchema: s.inputSchema(operations),
				ReadOnly: flags.ReadOnly, Destructive: flags.Destructive,
			})
		}
	}
	if s.Mode != Semantic {
		tools = append(tools, Tool{
			Name: s.toolName(""), Title: title(a), Description: s.unifiedText(a),
			InputSchema: s.inputSchema(s.everyOperation(a)), ReadOnly: s.ReadOnly, Destructive: !s.ReadOnly,
		})
	}
	return tools, nil
}

func title(a *gen.Definitions) string {
	if a.Name == "" {
		return "MCP-AQL"
	}
	return a.Name
}

// operationsOf returns the operations of a family, the built-in ones first.
func (s Surface) operationsOf(a *gen.Definitions, family string) []*gen.Operation {
	var operations []*gen.Operation
	for _, o := range s.everyOperation(a) {
		if s.Family(o) == family {
			operations = append(operations, o)
		}
	}
	return operations
}

// OwnOperations returns the operations of a family in their order, without the built-in ones.
func (s Surface) OwnOperations(a *gen.Definitions, family string) []*gen.Operation {
	var operations []*gen.Operation
	for i := range a.Operations {
		if o := &a.Operations[i]; s.Family(o) == family {
			operations = append(operations, o)
		}
	}
	return operations
}

// everyOperation returns the built-in operations and those of the adapter.
func (s Surface) everyOperation(a *gen.Definitions, queries ...string) []*gen.Operation {
	builtIns := s.BuiltIns(a, queries...)
	operations := make([]*gen.Operation, 0, len(builtIns)+len(a.Operations))
	for i := range builtIns {
		operations = append(operations, &builtIns[i])
	}
	for i := range a.Operations {
		operations = append(operations, &a.Operations[i])
	}
	return operations
}

// familyFlags returns the flags of the most dangerous operation in a family, or of its most dangerous category if it
// has no operations (MCP-AQL MCP integration §2.3). A family without both is destructive.
func familyFlags(family *Family, operations []*gen.Operation) permissions {
	var categories []gen.Category
	for _, o := range operations {
		categories = append(categories, o.Category)
	}
	if len(categories) == 0 {
		categories = family.Categories
	}
	if len(categories) == 0 {
		return permissions{Destructive: true}
	}
	flags := permissions{ReadOnly: true}
	for _, category := range categories {
		of := permissionsOf(category)
		flags.ReadOnly = flags.ReadOnly && of.ReadOnly
		flags.Destructive = flags.Destructive || of.Destructive
	}
	return flags
}
