package aql

import (
	"context"
	"strings"

	"github.com/aqltag/aqltag/runtime/wire"
)

// introspectCall is a request to the built-in operation introspect (MCP-AQL introspection §2). Its answers were rendered
// when the adapter was made.
type introspectCall struct {
	adapter     *Adapter
	query, name string
	asked       bool // a query was given
	named       bool // a name was given
}

func (a *Adapter) newIntrospectCall() call { return &introspectCall{adapter: a} }

// member reads query and name.
func (c *introspectCall) member(r *wire.Reader) bool {
	switch r.Name() {
	case "query":
		if !r.Null() {
			c.asked = true
			c.query, _ = r.String()
		}
	case "name":
		if !r.Null() {
			c.named = true
			c.name, _ = r.String()
		}
	default:
		return false
	}
	return true
}

// complete reports an absent query.
func (c *introspectCall) complete(r *wire.Reader) {
	if !c.asked {
		r.Missing("query", "string")
	}
}

// invoke writes the answer, for callers that treat introspect as any other operation.
func (c *introspectCall) invoke(_ context.Context, w *wire.Writer) error {
	reply, failed := c.reply()
	if failed != nil {
		return failed
	}
	w.Raw(strings.TrimSuffix(strings.TrimPrefix(string(reply.JSON), successOpen), "}"))
	return nil
}

func (c *introspectCall) reply() (Reply, *Error) {
	introspection := c.adapter.introspection
	switch {
	case c.query == "operations" && c.named:
		return Reply{JSON: introspection.Operation(c.name)}, nil
	case c.query == "operations":
		return Reply{JSON: introspection.Operations()}, nil
	case c.query == "types" && c.named:
		return Reply{JSON: introspection.Type(c.name)}, nil
	case c.query == "types":
		return Reply{JSON: introspection.Types()}, nil
	default:
		return Reply{}, failure("INTROSPECTION_ERROR", "Unknown query type: '"+strings.Clone(c.query)+"'. Supported types: operations, types")
	}
}
