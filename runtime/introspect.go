package aql

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// introspectCall is a request to the built-in operation introspect (MCP-AQL introspection §2).
type introspectCall struct {
	adapter     *Adapter
	query, name introspectParam
	field       introspectParam    // where the adapter answers describe.FieldsQuery
	selection   *introspectChoices // nil: the request has none of them
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

// member reads a parameter.
func (c *introspectCall) member(r *wire.Reader) bool {
	var p *introspectParam
	switch name := r.Name(); name {
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
		return c.readChoice(r, name)
	}
	if p.begins(r) {
		p.value, _ = r.String()
	}
	return true
}

// begins reports whether the value that r has reached is to be read. Where it is not, begins takes care of it.
func (p *introspectParam) begins(r *wire.Reader) bool {
	switch {
	case p.outer:
		r.Skip()
	case p.seen:
		r.Duplicate(r.Name())
	case r.Null():
		p.seen = true
	default:
		p.seen, p.present = true, true
		return true
	}
	return false
}

func (c *introspectCall) keepFirst() {
	for _, p := range []*introspectParam{&c.query, &c.name, &c.field} {
		p.keepFirst()
	}
	if c.selection != nil {
		for i := range c.selection.params {
			c.selection.params[i].keepFirst()
		}
	}
}

func (p *introspectParam) keepFirst() { p.outer, p.seen = p.seen, false }

// complete reports an absent query.
func (c *introspectCall) complete(_ context.Context, r *wire.Reader) {
	if !c.query.present {
		r.Missing("query", "string")
		r.Choices(wire.StageMissing, c.supported(&c.adapter.definitions))
	}
}

// answer answers a query.
func (c *introspectCall) answer(ctx context.Context, view *view, report reporter) ([]byte, *Error) {
	if denied := c.adapter.introspectionDenied("introspect"); denied != nil {
		return nil, denied
	}
	supported := c.supported(view.definitions)
	if !slices.Contains(supported, c.query.value) {
		return nil, failure(codeIntrospection, "Unknown query type: '"+strings.Clone(c.query.value)+
			"'. Supported types: "+strings.Join(supported, ", "))
	}
	if misplaced := c.misplaced(); misplaced != nil {
		return nil, misplaced
	}
	introspection := view.introspection
	switch query := c.query.value; {
	case query == describe.FieldsQuery:
		return introspection.Fields(c.name.value, c.field.value), nil
	case query == describe.DetailsQuery:
		return introspection.Details(c.selection.names), nil
	case query == queryAdapterInfo:
		return c.adapter.info()
	case query == queryQuotaStatus:
		return c.adapter.quotaStatus(ctx, view, report)
	case query == queryOperations && c.name.present:
		return introspection.Operation(c.name.value), nil
	case query == queryOperations:
		return c.operations(introspection, report)
	case c.name.present:
		return introspection.Type(c.name.value), nil
	case c.selects():
		return found(introspection.SelectTypes(c.selection.selection()))
	default:
		return introspection.Types(), nil
	}
}

// supported returns the queries that the adapter answers.
func (c *introspectCall) supported(definitions *gen.Definitions) []string {
	queries := []string{queryOperations, queryTypes, describe.DetailsQuery}
	if describe.ShowsFields(definitions) {
		queries = append(queries, describe.FieldsQuery)
	}
	return append(queries, c.adapter.queries()...)
}

// operations answers the query for a list of operations.
func (c *introspectCall) operations(introspection *describe.Introspection, report reporter) (list []byte, err *Error) {
	if c.selects() {
		list, err = found(introspection.Select(c.selection.selection()))
	} else {
		list = introspection.Overview()
	}
	if err == nil && c.adapter.options.SessionID {
		list = withSession(list, report.session)
	}
	return list, err
}

// withSession returns an answer of introspect with a session's identifier in its _protocol.
func withSession(answer []byte, session string) []byte {
	const protocol = `"_protocol":{`
	before, after, _ := bytes.Cut(answer, []byte(protocol))
	return slices.Concat(before, []byte(protocol+`"session_id":"`+session+`",`), after)
}
