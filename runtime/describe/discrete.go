package describe

import (
	"fmt"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/jsonschema"
)

// discreteTools returns a tool for each operation, the built-in ones first. Its arguments are the operation's
// parameters.
func (s Surface) discreteTools(a *gen.Definitions, p Protocol) ([]Tool, error) {
	operations := s.everyOperation(a, p.Queries...)
	tools := make([]Tool, 0, len(operations))
	schemas := jsonschema.NewTools(a)
	for _, o := range operations {
		gated := p.gating(o)
		schema, err := schemas.Arguments(o, gated.confirms()).Text()
		if err != nil {
			return nil, fmt.Errorf("tool of operation %q: %w", o.Name, err)
		}
		permissions := permissionsOf(o.Category)
		tools = append(tools, Tool{
			Name: s.Tool(o), Title: titleOf(o.Name), Description: description(o, gated), Family: s.Family(o), Operation: o.Name,
			InputSchema: schema, ReadOnly: permissions.ReadOnly,
			Destructive: permissions.Destructive || o.Danger.Level() >= gen.Destructive.Level(),
		})
	}
	return tools, nil
}

// titleOf returns the name of an operation for people, such as "Create todo".
func titleOf(name string) string {
	text := strings.ReplaceAll(name, "_", " ")
	if text == "" {
		return ""
	}
	return strings.ToUpper(text[:1]) + text[1:]
}
