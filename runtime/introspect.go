package aql

import (
	"context"
	"strings"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// introspectCall is a request to the built-in operation introspect (MCP-AQL introspection §2). Its answers were rendered
// when the adapter was made.
type introspectCall struct {
	adapter     *Adapter
	query, name introspectParam
}

// introspectParam is a parameter of introspect.
type introspectParam struct {
	value   string
	present bool // and not null
	seen    bool
	outer   bool // what follows does not count
}

func (a *Adapter) newIntrospectCall(into *slots) call {
	into.introspect = introspectCall{adapter: a}
	return &into.introspect
}

func (c *introspectCall) next(r *wire.Reader) (known, more bool) {
	if !r.NextField() {
		return false, false
	}
	return c.member(r), true
}

// member reads query and name.
func (c *introspectCall) member(r *wire.Reader) bool {
	var p *introspectParam
	switch r.Name() {
	case "query":
		p = &c.query
	case "name":
		p = &c.name
	default:
		return false
	}
	switch {
	case p.outer:
		r.Skip()
	case p.seen:
		r.Repeated(r.Name())
	case r.Null():
		p.seen = true
	default:
		p.seen, p.present = true, true
		p.value, _ = r.String()
	}
	return true
}

func (c *introspectCall) outweigh() {
	for _, p := range []*introspectParam{&c.query, &c.name} {
		p.outer, p.seen = p.seen, false
	}
}

// has is not used: nothing holds introspect.
func (c *introspectCall) has(int) bool { return false }

// complete reports an absent query.
func (c *introspectCall) complete(r *wire.Reader) {
	if !c.query.present {
		r.Missing("query", "string")
	}
}

// invoke is not used: introspect has no handler.
func (c *introspectCall) invoke(context.Context, *wire.Writer) error { return errBuiltIn }

// reply answers a query.
func (c *introspectCall) reply(ctx context.Context, x *exchange) (Reply, *Error) {
	introspection := x.view.introspection
	if refused := x.introspectionDenied(); refused != nil {
		return Reply{}, refused
	}
	switch {
	case c.query.value == queryAdapterInfo && x.adapter.options.AdapterInfo:
		return x.adapterInfo()
	case c.query.value == queryQuotaStatus && x.adapter.options.QuotaStatus:
		return x.quotaStatus(ctx)
	case c.query.value == "operations" && c.name.present:
		return Reply{JSON: introspection.Operation(c.name.value)}, nil
	case c.query.value == "operations":
		return Reply{JSON: introspection.Operations()}, nil
	case c.query.value == "types" && c.name.present:
		return Reply{JSON: introspection.Type(c.name.value)}, nil
	case c.query.value == "types":
		return Reply{JSON: introspection.Types()}, nil
	default:
		return Reply{}, failure("INTROSPECTION_ERROR", "Unknown query type: '"+strings.Clone(c.query.value)+"'. Supported types: "+
			strings.Join(append([]string{"operations", "types"}, x.adapter.queries()...), ", "))
	}
}
