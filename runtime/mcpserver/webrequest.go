package mcpserver

import (
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The headers of MCP.
const (
	versionHeader = "Mcp-Protocol-Version"
	sessionHeader = "Mcp-Session-Id"
)

// replyHeader refers to a reply in a request that is handed to the SDK. No request over HTTP can have it: the name of a
// header has no blank.
const replyHeader = "Aql Reply"

// wellFormed reports whether the headers of a request are those of a message that can be answered here. What it does
// not accept, the SDK answers, and says why it is refused.
func wellFormed(r *http.Request) bool {
	version := r.Header.Get(versionHeader)
	return r.Method == http.MethodPost && isJSON(r.Header.Get("Content-Type")) && acceptsBoth(r.Header["Accept"]) &&
		len(r.Header["Last-Event-Id"]) == 0 && (version == "" || slices.Contains(versions, version))
}

// versions are those of the protocol that the SDK knows.
var versions = mcp.SupportedProtocolVersions()

func isJSON(contentType string) bool {
	if contentType == "application/json" {
		return true
	}
	mediaType, _, err := mime.ParseMediaType(contentType)
	return err == nil && mediaType == "application/json"
}

// acceptsBoth reports whether a client accepts both JSON and event streams, as it has to.
func acceptsBoth(values []string) bool {
	if len(values) == 1 && values[0] == "application/json, text/event-stream" {
		return true
	}
	var accepted struct{ json, events bool }
	for _, value := range values {
		for part := range strings.SplitSeq(value, ",") {
			kind, _, _ := strings.Cut(part, ";")
			switch strings.ToLower(strings.TrimSpace(kind)) {
			case "application/json", "application/*":
				accepted.json = true
			case "text/event-stream", "text/*":
				accepted.events = true
			case "*/*":
				return true
			}
		}
	}
	return accepted.json && accepted.events
}
