package describe

import (
	"encoding/json"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Tool is an MCP tool as clients see it. Both flags are meant to be sent also when false, because MCP takes an absent
// destructiveHint for true.
type Tool struct {
	Name        string
	Title       string
	Description string
	Family      string          // the endpoint family it serves; empty: all
	InputSchema json.RawMessage // JSON Schema of its arguments
	ReadOnly    bool            // readOnlyHint
	Destructive bool            // destructiveHint
}

// baseSchema is the input schema of every tool (MCP integration §3.1): a request with one operation, or a batch. That it is
// one of the two is not said, since some clients refuse a schema with alternatives at its root (requirements T-36). It has
// no descriptions: each would be paid for in every conversation, and the tool's own text says how a request looks.
const baseSchema = `{"type":"object","properties":{"operation":{"type":"string"},"params":{"type":"object","additionalProperties":true},` +
	`"operations":{"type":"array","items":{"type":"object","properties":{"operation":{"type":"string"},"params":{"type":"object"}}}}}}`

// Tools renders the MCP tools of an adapter: in semantic mode one for each family of the profile, in single mode one for
// everything, else both. It fails on a surface or on operations that are not valid.
func (s Surface) Tools(a *gen.Adapter) ([]Tool, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if err := checkOperations(a, s); err != nil {
		return nil, err
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
				Description: s.familyText(family, operations), InputSchema: json.RawMessage(baseSchema),
				ReadOnly: flags.ReadOnly, Destructive: flags.Destructive,
			})
		}
	}
	if s.Mode != Semantic {
		tools = append(tools, Tool{
			Name: s.toolName(""), Title: title(a), Description: s.unifiedText(a), InputSchema: json.RawMessage(baseSchema), Destructive: true,
		})
	}
	return tools, nil
}

func title(a *gen.Adapter) string {
	if a.Name == "" {
		return "MCP-AQL"
	}
	return a.Name
}

// operationsOf lists the operations that a family answers, built-in ones first.
func (s Surface) operationsOf(a *gen.Adapter, family string) []*gen.Operation {
	var operations []*gen.Operation
	for _, o := range s.everyOperation(a) {
		if s.Family(o) == family {
			operations = append(operations, o)
		}
	}
	return operations
}

// everyOperation lists the adapter's operations with the built-in ones in front.
func (s Surface) everyOperation(a *gen.Adapter, queries ...string) []*gen.Operation {
	builtIns := s.BuiltIns(queries...)
	operations := make([]*gen.Operation, 0, len(builtIns)+len(a.Operations))
	for i := range builtIns {
		operations = append(operations, &builtIns[i])
	}
	for i := range a.Operations {
		operations = append(operations, &a.Operations[i])
	}
	return operations
}

// familyFlags are those of the riskiest operation in a family (MCP integration §2.3); without operations, of the riskiest
// category; of a family that could hold anything, the worst.
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
