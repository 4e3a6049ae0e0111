package mcpserver

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The resources of every server, for clients that show resources to people.
const (
	referenceURI = "mcp-aql://reference"
	manifestURI  = "mcp-aql://manifest"
)

// addResources adds the reference page and the manifest. A caller sees in them what he sees in introspection. Resources
// of the service's own that have the same URIs replace them.
func (s *Server) addResources() {
	s.addResource(&mcp.Resource{
		URI: referenceURI, Name: "reference", Title: s.adapter.Name() + " reference", MIMEType: "text/markdown",
		Description: "All operations with their parameters, examples and failures, and all types.",
	}, s.adapter.ReferenceFor)
	s.addResource(&mcp.Resource{
		URI: manifestURI, Name: "manifest", Title: s.adapter.Name() + " manifest", MIMEType: "application/json",
		Description: "The operations of the service and their parameters, as a declaration of capabilities.",
	}, s.adapter.ManifestFor)
}

func (s *Server) addResource(resource *mcp.Resource, read func(context.Context) ([]byte, error)) {
	s.mcp.AddResource(resource, func(ctx context.Context, _ *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
		text, err := read(ctx)
		if err != nil {
			s.log.ErrorContext(ctx, "rendering a resource", "uri", resource.URI, "error", err)
			return nil, errInternal()
		}
		return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{
			{URI: resource.URI, MIMEType: resource.MIMEType, Text: string(text)},
		}}, nil
	})
}
