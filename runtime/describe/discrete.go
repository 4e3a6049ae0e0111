package describe

import "github.com/aqltag/aqltag/runtime/gen"

// DiscreteTools renders an adapter the way MCP servers without MCP-AQL do: one tool for each operation, with a JSON Schema
// of its parameters. No adapter registers them; they are what the cost of the protocol's tools is compared with.
func DiscreteTools(a *gen.Adapter) ([]Tool, error) {
	tools := make([]Tool, 0, len(a.Operations))
	for i := range a.Operations {
		o := &a.Operations[i]
		input, err := paramsSchema(a, o)
		if err != nil {
			return nil, err
		}
		flags := permissionsOf(o.Category)
		tools = append(tools, Tool{
			Name: o.Name, Title: title(a) + ": " + o.Name, Description: o.Description, Family: categoryFamily(o.Category), InputSchema: input,
			ReadOnly: flags.ReadOnly, Destructive: flags.Destructive,
		})
	}
	return tools, nil
}
