package openapi

import (
	"encoding/json"

	"github.com/aqltag/aqltag/internal/export"
	"github.com/aqltag/aqltag/runtime/gen"
)

// The parts of an OpenAPI document that adapters need (OpenAPI 3.1 §4.8).

type document struct {
	OpenAPI    string        `json:"openapi"`
	Info       info          `json:"info"`
	Servers    []server      `json:"servers"`
	Security   []struct{}    `json:"security"`
	Tags       []tag         `json:"tags,omitempty"`
	Paths      export.Object `json:"paths"`
	Components components    `json:"components"`
}

type info struct {
	Title       string `json:"title"`
	Version     string `json:"version"`
	Description string `json:"description"`
}

type server struct {
	URL         string `json:"url"`
	Description string `json:"description"`
}

type tag struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

type pathItem struct {
	Post operation `json:"post"`
}

type operation struct {
	ID          string        `json:"operationId"`
	Summary     string        `json:"summary,omitempty"`
	Description string        `json:"description,omitempty"`
	Tags        []string      `json:"tags"`
	Deprecated  bool          `json:"deprecated,omitempty"`
	Body        requestBody   `json:"requestBody"`
	Responses   export.Object `json:"responses"`
	Extension   extension     `json:"x-mcp-aql"`
}

// extension holds what MCP-AQL has about an operation and OpenAPI has no member for.
type extension struct {
	Tool         string       `json:"tool"`
	Endpoint     string       `json:"endpoint"`
	Category     gen.Category `json:"semantic_category"`
	Danger       gen.Danger   `json:"danger"`
	Confirmation bool         `json:"confirmation"`
}

type requestBody struct {
	Required bool        `json:"required"`
	Content  jsonContent `json:"content"`
}

type jsonContent struct {
	JSON media `json:"application/json"`
}

type media struct {
	Schema   json.RawMessage `json:"schema"`
	Examples export.Object   `json:"examples,omitempty"`
}

type exampleObject struct {
	Summary string          `json:"summary,omitempty"`
	Value   json.RawMessage `json:"value"`
}

type response struct {
	Description string      `json:"description"`
	Content     jsonContent `json:"content"`
}

type reference struct {
	Ref string `json:"$ref"`
}

type components struct {
	Schemas   map[string]json.RawMessage `json:"schemas"`
	Responses map[string]response        `json:"responses"`
}
