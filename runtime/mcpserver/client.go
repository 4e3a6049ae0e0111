package mcpserver

import (
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// client is what a call says of its client, or its session does.
type client struct {
	sessionless bool   // the call is of the sessionless protocol
	version     string // of the sessionless protocol
	elicits     bool   // the client can ask a person
}

// The clients of the protocol with sessions.
var plainClient, elicitingClient = client{}, client{elicits: true}

// clientOf returns the client that began a session.
func clientOf(begun *mcp.InitializeParams) *client {
	if begun.Capabilities != nil && begun.Capabilities.Elicitation != nil {
		return &elicitingClient
	}
	return &plainClient
}

// clients remembers what the metadata of calls says: a client sends the same with each.
type clients struct {
	last [64]atomic.Pointer[remembered]
}

type remembered struct {
	meta   string
	client *client
}

// longestMeta is the length of metadata up to which it is remembered.
const longestMeta = 1024

// of returns what metadata says of a client; nil: the SDK has to say what is wrong with it, or the call is one that it
// has to answer.
func (c *clients) of(meta string) *client {
	if len(meta) > longestMeta {
		return readMeta(meta)
	}
	slot := &c.last[(len(meta)*31+int(sum(meta)))%len(c.last)]
	if known := slot.Load(); known != nil && known.meta == meta {
		return known.client
	}
	read := &remembered{meta: strings.Clone(meta)}
	read.client = readMeta(read.meta)
	slot.Store(read)
	return read.client
}

// sum mixes some bytes of a text.
func sum(text string) byte {
	var sum byte
	for i := 0; i < len(text); i += 7 {
		sum = sum*31 + text[i]
	}
	return sum
}

// clientCapabilities has roots in the form in which they are sent.
type clientCapabilities struct {
	mcp.ClientCapabilities
	Roots *mcp.RootCapabilities `json:"roots"`
}

// readMeta reads the metadata of a call.
func readMeta(text string) *client {
	var members map[string]json.RawMessage
	if json.Unmarshal([]byte(text), &members) != nil || members == nil || members["progressToken"] != nil {
		return nil
	}
	versioned, ok := members[mcp.MetaKeyProtocolVersion]
	if !ok {
		return &client{}
	}
	var version string
	if json.Unmarshal(versioned, &version) != nil || version < sessionless ||
		!slices.Contains(mcp.SupportedProtocolVersions(), version) {
		return nil
	}
	var info *mcp.Implementation
	if own, ok := members[mcp.MetaKeyClientInfo]; ok && (json.Unmarshal(own, &info) != nil || info == nil) {
		return nil
	}
	var capabilities *clientCapabilities
	if json.Unmarshal(members[mcp.MetaKeyClientCapabilities], &capabilities) != nil || capabilities == nil {
		return nil
	}
	return &client{sessionless: true, version: version, elicits: capabilities.Elicitation != nil}
}
