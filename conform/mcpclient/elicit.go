package mcpclient

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// elicit returns what answers the questions of a server; nil: this client does not answer any.
func (o Options) elicit() func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	if o.Approve == nil {
		return nil
	}
	return func(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		field, ok := onlyBoolean(r.Params.RequestedSchema)
		if !ok || r.Params.Mode != "" && r.Params.Mode != "form" {
			return &mcp.ElicitResult{Action: "decline"}, nil
		}
		approved, err := o.Approve(ctx, hiddenFor("", o.Bearer).text(r.Params.Message))
		if err != nil {
			return nil, err
		}
		if !approved {
			return &mcp.ElicitResult{Action: "decline"}, nil
		}
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{field: true}}, nil
	}
}

// onlyBoolean returns the field of a form that has only one, a boolean.
func onlyBoolean(form any) (field string, ok bool) {
	text, err := json.Marshal(form)
	if err != nil {
		return "", false
	}
	var schema struct {
		Properties map[string]struct{ Type any }
	}
	if json.Unmarshal(text, &schema) != nil || len(schema.Properties) != 1 {
		return "", false
	}
	for name, property := range schema.Properties {
		field, ok = name, property.Type == "boolean"
	}
	return field, ok
}
