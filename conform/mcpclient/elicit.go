package mcpclient

import (
	"context"
	"encoding/json"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// elicit returns what answers the questions of a server; nil: this client does not answer any.
func (o Options) elicit() func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
	if o.Approve == nil && o.Type == nil {
		return nil
	}
	return func(ctx context.Context, r *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
		f := onlyField(r.Params.RequestedSchema)
		if r.Params.Mode != "" && r.Params.Mode != "form" {
			f = field{}
		}
		hides := hiddenFor("", o.Bearer)
		question := hides.text(r.Params.Message)
		var content any
		switch {
		case f.kind == "boolean" && o.Approve != nil:
			approved, err := o.Approve(ctx, question)
			if err != nil {
				return nil, err
			}
			if approved {
				content = true
			}
		case f.kind == "string" && o.Type != nil:
			typed, err := o.Type(ctx, question, hides.text(f.title))
			if err != nil {
				return nil, err
			}
			if typed != "" {
				content = typed
			}
		}
		if content == nil {
			return &mcp.ElicitResult{Action: "decline"}, nil
		}
		return &mcp.ElicitResult{Action: "accept", Content: map[string]any{f.name: content}}, nil
	}
}

// field is the field of a form.
type field struct{ name, kind, title string }

// onlyField returns the field of a form that has only one, without an enumeration; the zero value: it has not.
func onlyField(form any) field {
	text, err := json.Marshal(form)
	if err != nil {
		return field{}
	}
	var schema struct {
		Properties map[string]struct {
			Type  any
			Title string
			Enum  json.RawMessage
			OneOf json.RawMessage
		}
	}
	if json.Unmarshal(text, &schema) != nil || len(schema.Properties) != 1 {
		return field{}
	}
	for name, property := range schema.Properties {
		if kind, ok := property.Type.(string); ok && property.Enum == nil && property.OneOf == nil {
			return field{name, kind, property.Title}
		}
	}
	return field{}
}
