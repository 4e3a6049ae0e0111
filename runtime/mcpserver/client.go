package mcpserver

import (
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/aqltag/aqltag/runtime/internal/rpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// client is what a call says of its client, or its session does.
type client struct {
	sessionless bool   // the call is of the sessionless protocol
	version     string // of the sessionless protocol
	elicits     bool   // the client can ask a person
	opens       bool   // the client can open a page for a person
	tasks       bool   // the client knows tasks
}

// sessionClients are the clients of the protocol with sessions, by the sum of what they can: ask a person 1, open a
// page 2, and follow tasks 4.
var sessionClients = [8]client{
	{}, {elicits: true}, {opens: true}, {elicits: true, opens: true},
	{tasks: true}, {elicits: true, tasks: true}, {opens: true, tasks: true}, {elicits: true, opens: true, tasks: true},
}

// plainClient is one that says nothing of itself.
var plainClient = sessionClients[0]

// clientOf returns the client that began a session.
func clientOf(begun *mcp.InitializeParams) *client {
	if begun.Capabilities == nil {
		return &plainClient
	}
	can := 0
	if hasForms(begun.Capabilities.Elicitation) {
		can++
	}
	if opensPages(begun.Capabilities) {
		can += 2
	}
	if declaresTasks(begun.Capabilities) {
		can += 4
	}
	return &sessionClients[can]
}

// clients remembers what the metadata of calls says of clients: a client sends the same with each.
type clients struct {
	last [64]atomic.Pointer[remembered]
}

type remembered struct {
	version, info, capabilities string
	client                      *client
}

// longestMeta is the length of metadata up to which it is remembered.
const longestMeta = 4096

// of returns the client that the metadata of a call describes, which is plainClient for the protocol with sessions;
// nil: the SDK has to say what is wrong with it.
func (c *clients) of(meta *rpc.Meta) *client {
	if meta.Version == "" {
		return &plainClient
	}
	slot := &c.last[(len(meta.ClientInfo)*31+len(meta.Capabilities))%len(c.last)]
	if known := slot.Load(); known != nil && known.version == meta.Version && known.info == meta.ClientInfo &&
		known.capabilities == meta.Capabilities {
		return known.client
	}
	read := readClient(meta)
	if len(meta.ClientInfo)+len(meta.Capabilities) <= longestMeta && read != nil {
		slot.Store(&remembered{
			version: read.version, info: strings.Clone(meta.ClientInfo), capabilities: strings.Clone(meta.Capabilities),
			client: read,
		})
	}
	return read
}

// clientCapabilities has roots in the form in which they are sent.
type clientCapabilities struct {
	mcp.ClientCapabilities
	Roots *mcp.RootCapabilities `json:"roots"` //nolint:staticcheck // deprecated, and still sent
}

// readClient reads the metadata of a call of the sessionless protocol.
func readClient(meta *rpc.Meta) *client {
	if meta.Version < sessionless || !slices.Contains(versions, meta.Version) || meta.Capabilities == "" {
		return nil
	}
	if meta.ClientInfo != "" && json.Unmarshal([]byte(meta.ClientInfo), new(mcp.Implementation)) != nil {
		return nil
	}
	var capabilities clientCapabilities
	if json.Unmarshal([]byte(meta.Capabilities), &capabilities) != nil {
		return nil
	}
	return &client{
		sessionless: true, version: strings.Clone(meta.Version), elicits: hasForms(capabilities.Elicitation),
		opens: opensPages(&capabilities.ClientCapabilities), tasks: declaresTasks(&capabilities.ClientCapabilities),
	}
}
