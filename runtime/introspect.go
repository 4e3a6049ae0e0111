package aql

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// introspectCall is a request to the built-in operation introspect (MCP-AQL introspection §2).
type introspectCall struct {
	adapter     *Adapter
	query, name introspectParam
	field       introspectParam // where the adapter answers describe.FieldsQuery
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
	if !r.NextUnchecked() {
		return false, false
	}
	return c.member(r), true
}

// member reads query, name and field.
func (c *introspectCall) member(r *wire.Reader) bool {
	var p *introspectParam
	switch r.Name() {
	case "query":
		p = &c.query
	case "name":
		p = &c.name
	case "field":
		p = &c.field
		if !describe.ShowsFields(&c.adapter.definitions) {
			return false
		}
	default:
		return false
	}
	switch {
	case p.outer:
		r.Skip()
	case p.seen:
		r.Duplicate(r.Name())
	case r.Null():
		p.seen = true
	default:
		p.seen, p.present = true, true
		p.value, _ = r.String()
	}
	return true
}

func (c *introspectCall) keepFirst() {
	for _, p := range []*introspectParam{&c.query, &c.name, &c.field} {
		p.outer, p.seen = p.seen, false
	}
}

// complete reports an absent query.
func (c *introspectCall) complete(r *wire.Reader) {
	if !c.query.present {
		r.Missing("query", "string")
	}
}

// answer answers a query.
func (c *introspectCall) answer(ctx context.Context, view *view, report reporter) ([]byte, *Error) {
	if denied := c.adapter.introspectionDenied("introspect"); denied != nil {
		return nil, denied
	}
	showsFields := describe.ShowsFields(view.definitions)
	fields := showsFields && c.query.value == describe.FieldsQuery
	switch introspection := view.introspection; {
	case fields && !c.name.present:
		return nil, failure("INTROSPECTION_ERROR", "Query 'fields' needs 'name', the name of an operation")
	case fields:
		return introspection.Fields(c.name.value, c.field.value), nil
	case c.field.present:
		return nil, failure("INTROSPECTION_ERROR", "Parameter 'field' goes with query 'fields' only")
	case c.query.value == queryAdapterInfo && c.adapter.options.AdapterInfo:
		return c.adapter.info()
	case c.query.value == queryQuotaStatus && c.adapter.options.QuotaStatus:
		return c.adapter.quotaStatus(ctx, view, report)
	case c.query.value == "operations" && c.name.present:
		return introspection.Operation(c.name.value), nil
	case c.query.value == "operations" && c.adapter.options.SessionID:
		return withSession(introspection.Operations(), report.session), nil
	case c.query.value == "operations":
		return introspection.Operations(), nil
	case c.query.value == "types" && c.name.present:
		return introspection.Type(c.name.value), nil
	case c.query.value == "types":
		return introspection.Types(), nil
	default:
		supported := []string{"operations", "types"}
		if showsFields {
			supported = append(supported, describe.FieldsQuery)
		}
		supported = append(supported, c.adapter.queries()...)
		return nil, failure("INTROSPECTION_ERROR", "Unknown query type: '"+strings.Clone(c.query.value)+
			"'. Supported types: "+strings.Join(supported, ", "))
	}
}

// withSession returns an answer of introspect with a session's identifier in its _protocol.
func withSession(answer []byte, session string) []byte {
	const protocol = `"_protocol":{`
	before, after, _ := bytes.Cut(answer, []byte(protocol))
	return slices.Concat(before, []byte(protocol+`"session_id":"`+session+`",`), after)
}
