// Package openapi renders definitions as a document of OpenAPI 3.1, so that its tools can show, check and generate code
// from them. Clients reach an MCP-AQL adapter through MCP tools and not through HTTP. The document therefore describes
// the HTTP calls of a gateway: one path for each operation, with its parameters as the body and its answer as the
// response. The document itself explains this.
package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aqltag/aqltag/internal/export"
	"github.com/aqltag/aqltag/internal/export/jsonschema"
	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
	schemas "github.com/aqltag/aqltag/runtime/jsonschema"
	"github.com/aqltag/aqltag/runtime/words"
)

// openAPI is the version of OpenAPI that the documents have.
const openAPI = "3.1.1"

// Render returns the document about an adapter, as indented JSON with a newline at its end. It fails on a surface that
// is not valid, and on defaults, examples and other literals that are not JSON.
func Render(a *gen.Definitions, s describe.Surface) ([]byte, error) {
	if err := s.Validate(); err != nil {
		return nil, err
	}
	set := schemas.NewSet(a, "#/components/schemas/")
	d := document{
		OpenAPI: openAPI,
		Info: info{
			Title: cmp.Or(a.Name, "MCP-AQL adapter"), Version: cmp.Or(a.Version, "0.0.0"), Description: about(a, s),
		},
		Servers: []server{{URL: "/", Description: "Wherever a gateway serves the adapter by HTTP."}}, Security: []struct{}{},
		Tags: tags(a, s),
	}
	for i := range a.Operations {
		o := &a.Operations[i]
		item, err := operationOf(a, s, set, o)
		if err != nil {
			return nil, fmt.Errorf("operation %s: %w", o.Name, err)
		}
		d.Paths = append(d.Paths, export.Member{Name: "/operations/" + o.Name, Value: pathItem{item}})
	}
	d.Components.Schemas = make(map[string]json.RawMessage)
	for name, schema := range set.Definitions() {
		text, err := schema.Text()
		if err != nil {
			return nil, fmt.Errorf("type %s: %w", name, err)
		}
		d.Components.Schemas[name] = text
	}
	d.Components.Schemas[failureName] = json.RawMessage(failureSchema)
	d.Components.Responses = map[string]response{
		"InternalFailure": {"`INTERNAL_ERROR`: something failed that only the log tells about. " +
			"The details hold a request_id to ask for.", failed()},
	}
	text, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("writing the document: %w", err)
	}
	return jsonschema.Indent(text)
}

// failureName is the name of the schema of failures. No type has it, because Go identifiers have no dot.
const failureName = "mcp_aql.Failure"

func failed() jsonContent {
	return jsonContent{media{Schema: json.RawMessage(`{"$ref":"#/components/schemas/` + failureName + `"}`)}}
}

// failureSchema is the schema of all failures (MCP-AQL core §5.2).
const failureSchema = `{"type":"object","properties":{"success":{"description":"Always false","const":false},` +
	`"error":{"type":"object","properties":{` +
	`"code":{"description":"What went wrong, for programs","type":"string","pattern":"^[A-Z][A-Z0-9_]*$"},` +
	`"message":{"description":"What went wrong, for people","type":"string"},` +
	`"details":{"description":"What helps to do it right; the members depend on the code","type":"object"}},` +
	`"required":["code","message"]}},"required":["success","error"]}`

// about returns the description of the whole document, in Markdown.
func about(a *gen.Definitions, s describe.Surface) string {
	service := ""
	if a.Description != "" {
		service = a.Description + "\n\n"
	}
	tool := s.Prefix + "mcp_aql"
	if s.Mode != describe.Single {
		tool += "_" + s.Profile.Families[0].Name
	}
	return service + "The operations of an MCP-AQL adapter, each as the HTTP call that a gateway would make of it.\n\n" +
		"**The adapter itself speaks MCP, not HTTP.** An operation is called through an MCP tool, such as `" + tool + "`, " +
		"which `x-mcp-aql` names for each operation, with the arguments `{\"operation\": NAME, \"params\": BODY}`. " +
		"The body of a request here is what stands in `params` there, and the responses are the answers of the tool, " +
		"byte for byte. Statuses are a proposal: MCP-AQL has none, and `success` tells the same.\n\n" +
		"Names that a schema does not list are refused, and so is a name that comes twice. Null stands for absence. " +
		"Names that begin with an underscore are metadata, which every operation accepts.\n\n" +
		"Any operation can answer with these failures:\n" + listed(describe.CommonFailures())
}

// listed returns a list of failures in Markdown.
func listed(failures []describe.Failure) string {
	var b strings.Builder
	for _, f := range failures {
		fmt.Fprintf(&b, "\n- `%s`: %s", f.Code, f.When)
	}
	return b.String()
}

func tags(a *gen.Definitions, s describe.Surface) []tag {
	var list []tag
	for _, family := range s.Profile.Families {
		if len(s.OwnOperations(a, family.Name)) > 0 {
			list = append(list, tag{family.Name, cmp.Or(family.Description, effect(family))})
		}
	}
	return list
}

// effect returns what the operations of a family do to data.
func effect(family describe.Family) string {
	var texts []string
	for _, category := range family.Categories {
		texts = append(texts, map[gen.Category]string{
			gen.Create: "Adds data and leaves the rest as it is.", gen.Read: "Changes nothing.", gen.Update: "Overwrites data.",
			gen.Delete: "Removes data.", gen.Execute: "Runs something, with effects beyond stored data.",
		}[category])
	}
	return strings.Join(texts, " ")
}

func operationOf(a *gen.Definitions, s describe.Surface, set *schemas.Set, o *gen.Operation) (operation, error) {
	params := set.Params(o)
	params.Examples, params.Description = nil, ""
	body, err := params.Text()
	if err != nil {
		return operation{}, err
	}
	result, err := set.Result(o.Returns).Text()
	if err != nil {
		return operation{}, err
	}
	content := media{Schema: body}
	for i, example := range o.Examples {
		content.Examples = append(content.Examples, export.Member{
			Name:  fmt.Sprintf("example_%d", i+1),
			Value: exampleObject{example.Description, json.RawMessage(example.Params)},
		})
	}
	item := operation{
		ID: o.Name, Summary: summary(o), Description: description(o), Tags: []string{s.Family(o)},
		Deprecated: o.Deprecated != "" || o.Replacement != "",
		Body:       requestBody{len(required(o)) > 0, jsonContent{content}},
		Extension: extension{
			Tool: s.Tool(o), Endpoint: s.Family(o), Category: o.Category, Danger: o.Danger,
			Confirmation: export.NeedsConfirmation(o),
		},
	}
	success := fmt.Sprintf(`{"type":"object","properties":{"success":{"description":"Always true","const":true},`+
		`"data":%s},"required":["success","data"]}`, result)
	item.Responses = export.Object{
		{Name: "200", Value: response{
			cmp.Or(o.Returns.Description, "The operation was carried out."),
			jsonContent{media{Schema: json.RawMessage(success)}},
		}},
		{Name: "4XX", Value: response{failures(a, o), failed()}},
		{Name: "5XX", Value: reference{"#/components/responses/InternalFailure"}},
	}
	return item, nil
}

func required(o *gen.Operation) []string {
	var names []string
	for i := range o.Params {
		if o.Params[i].Required {
			names = append(names, o.Params[i].Name)
		}
	}
	return names
}

// summary returns the first sentence of the description, without its full stop.
func summary(o *gen.Operation) string {
	return strings.TrimSuffix(words.FirstSentence(o.Description), ".")
}

// description returns the description of an operation in full, in Markdown.
func description(o *gen.Operation) string {
	paragraphs := []string{o.Description}
	if o.Danger.Level() > 0 {
		danger := "Danger: **" + string(o.Danger) + "**."
		if len(o.Reasons) > 0 {
			danger += " " + strings.Join(o.Reasons, ". ") + "."
		}
		paragraphs = append(paragraphs, danger)
	}
	switch {
	case o.TypeToConfirm != "":
		paragraphs = append(paragraphs, "Asks for confirmation: before it is carried out, a person types the value of `"+
			o.TypeToConfirm+"`. No token confirms it.")
	case export.NeedsConfirmation(o):
		paragraphs = append(paragraphs, "Asks for confirmation: "+
			"the first call fails with CONFIRMATION_REQUIRED and a token, "+
			"and the same call with that `confirmation_token` is carried out.")
	}
	if o.Deprecated != "" || o.Replacement != "" {
		notice := "Deprecated. " + o.Deprecated
		if o.Replacement != "" {
			notice += " Use " + o.Replacement + " instead."
		}
		paragraphs = append(paragraphs, strings.TrimSpace(notice))
	}
	return strings.TrimSpace(strings.Join(paragraphs, "\n\n"))
}

// failures describes the failures of an operation other than internal ones.
func failures(a *gen.Definitions, o *gen.Operation) string {
	text := "The operation failed. The reason is one of those that any operation can answer with"
	if own := describe.Failures(a, o, export.TakesToken(o)); len(own) > 0 {
		return text + ", or one of these:\n" + listed(own)
	}
	return text + "."
}
