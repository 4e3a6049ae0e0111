package conform

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// discover collects all that the server reports about itself.
func (p *prober) discover() error {
	if err := p.findTools(); err != nil {
		return err
	}
	if err := p.listOperations(); err != nil {
		return err
	}
	data := p.operationsList.answer.data
	p.protocol, _ = memberOf(data, "_protocol").(map[string]any)
	p.version, _ = p.protocol["version"].(string)
	p.discoverTypes()
	p.discoverOperations()
	if p.stopped != nil {
		return fmt.Errorf("conform: introspecting: %w", p.stopped)
	}
	p.findResources()
	if p.stopped != nil {
		return fmt.Errorf("conform: introspecting: %w", p.stopped)
	}
	return nil
}

// listOperations finds the tool that answers introspect, and reads its list of operations.
func (p *prober) listOperations() error {
	candidates := slices.Clone(p.tools)
	slices.SortStableFunc(candidates, func(a, b Tool) int { return introspectRank(a.Name) - introspectRank(b.Name) })
	var first *exchange
	for _, noQuery := range []bool{false, true} {
		p.noQuery = noQuery
		for _, tool := range candidates {
			x := p.callIntrospect(tool.Name, "operations", "")
			if p.stopped != nil {
				return fmt.Errorf("conform: asking tool %s for the operations: %w", Printable(tool.Name), p.stopped)
			}
			if first == nil {
				first = x
			}
			if !x.answer.wellFormed && !x.answer.success && !x.answer.failed && x.answer.root["operations"] != nil {
				p.bare = true // the list itself, without an envelope
				x.answer = readAnswer(x.reply, true)
				p.note(x)
			}
			if !x.answer.success {
				continue
			}
			if raw, list, ok := p.readEntries(x, "operations"); ok {
				p.introspectTool, p.operationsList, p.listedOperations, p.rawOperations = tool.Name, x, list, raw
				p.readPages()
				if noQuery {
					p.deviate(noQueryTaken, "", x)
				}
				return nil
			}
		}
	}
	return fmt.Errorf("conform: no MCP-AQL tool answers introspect with a list of operations; tool %s answers %s",
		Printable(first.tool), summary(first))
}

// mostPages is how many pages of operations are read.
const mostPages = 200

// readPages reads the whole list of operations where the server answers with a summary of it, which is an extension of
// the protocol: adapters made with aql-tag do so when there are more than a hundred.
func (p *prober) readPages() {
	protocol, _ := memberOf(p.operationsList.answer.data, "_protocol").(map[string]any)
	if protocol["summary"] == nil {
		return
	}
	params := map[string]any{"query": "operations", "first": 100}
	var all []entry
	for range mostPages {
		x := p.introspectWith(p.introspectTool, maps.Clone(params))
		_, entries, ok := p.readEntries(x, "operations")
		if !x.answer.success || !ok || len(entries) == 0 {
			break
		}
		all = append(all, entries...)
		params["after"] = entries[len(entries)-1].name
	}
	if len(all) > len(p.listedOperations) {
		p.listedOperations = all
	}
}

func (p *prober) discoverTypes() {
	p.types, p.typeListed = map[string]*typeDetails{}, map[string]bool{}
	p.typesList = p.callIntrospect(p.introspectTool, "types", "")
	if p.typesList.answer.success {
		_, p.listedTypes, _ = p.readEntries(p.typesList, "types")
	}
	names := distinctNames(p.listedTypes)
	for _, name := range names {
		p.typeListed[name] = true
	}
	listed := firstObjects(p.listedTypes)
	for _, name := range names {
		d := p.fetchDetail("types", "type", name, listed[name])
		if p.stopped != nil {
			return
		}
		p.typeDetails = append(p.typeDetails, d)
		if d.value != nil {
			p.types[name] = p.readType(name, d.value, d.exchange)
		}
	}
}

func (p *prober) discoverOperations() {
	p.byName, p.detailsOf = map[string]*operation{}, map[string]*detail{}
	listed := firstObjects(p.listedOperations)
	for _, name := range distinctNames(p.listedOperations) {
		d := p.fetchDetail("operations", "operation", name, listed[name])
		if p.stopped != nil {
			return
		}
		p.details = append(p.details, d)
		p.detailsOf[name] = d
		value := d.value
		if value == nil && describesParameters(d.listed) {
			p.deviate(missingDetails, "", d.exchange)
			value = d.listed
		}
		if value == nil {
			p.unread = append(p.unread, name)
			continue
		}
		o := p.readOperation(name, value, d.exchange)
		o.dangerSaid = worseDanger(o.dangerSaid, dangerIn(d.listed))
		p.resolve(o)
		p.operations = append(p.operations, o)
		p.byName[name] = o
	}
	p.introspect = p.operation("introspect")
}

// firstObjects returns the first entry of each name.
func firstObjects(list []entry) map[string]map[string]any {
	all := map[string]map[string]any{}
	for _, each := range list {
		if _, there := all[each.name]; !there {
			all[each.name] = each.object
		}
	}
	return all
}

func describesParameters(object map[string]any) bool {
	for _, name := range append([]string{"parameters"}, operationAliases["parameters"]...) {
		if object[name] != nil {
			return true
		}
	}
	return false
}

// introspectRank orders tools by how likely they answer introspect.
func introspectRank(tool string) int {
	switch family(tool) {
	case "read", "discover", "inspect", "observe", "search", "query", "introspect":
		return 0
	case "":
		return 1
	}
	return 2
}

// resolve sets the tool through which an operation is called, and its danger.
func (p *prober) resolve(o *operation) {
	known := func(name string) bool {
		return slices.ContainsFunc(p.tools, func(t Tool) bool { return t.Name == name })
	}
	for _, name := range []string{
		o.Tool, p.prefix + "mcp_aql_" + o.Endpoint, p.toolOfFamily(o.Endpoint), p.toolOfFamily(o.Category),
		p.prefix + "mcp_aql",
		p.introspectTool,
	} {
		if known(name) {
			o.Tool = name
			break
		}
	}
	o.danger = p.dangerOf(o)
}

// callIntrospect asks introspect for a list, or for the details of one name.
func (p *prober) callIntrospect(tool, query, name string) *exchange {
	params := map[string]any{"query": query}
	if p.noQuery && query == "operations" {
		delete(params, "query")
	}
	if name != "" {
		params["name"] = name
	}
	return p.introspectWith(tool, params)
}

func (p *prober) introspectWith(tool string, params map[string]any) *exchange {
	return p.call(tool, map[string]any{"operation": "introspect", "params": params})
}

// fetchDetail asks for the details of one name, and finds them in the answer.
func (p *prober) fetchDetail(query, member, name string, listed map[string]any) *detail {
	d := &detail{name: name, listed: listed, exchange: p.callIntrospect(p.introspectTool, query, name)}
	data, ok := d.exchange.answer.data.(map[string]any)
	if !d.exchange.answer.success || !ok {
		return d
	}
	if value, there := data[member]; there {
		d.value, _ = value.(map[string]any)
		return d
	}
	place := ""
	if list := objects(data[query]); len(list) == 1 && (describesParameters(list[0]) || list[0]["kind"] != nil) {
		d.value, place = list[0], fmt.Sprintf("in a list 'data.%s' of one", query)
	}
	if one, ok := data[query].(map[string]any); ok {
		d.value, place = one, fmt.Sprintf("in 'data.%s'", query)
		if inner, ok := one[name].(map[string]any); ok {
			d.value, place = inner, fmt.Sprintf("in a member of 'data.%s'", query)
		}
	}
	if d.value == nil && data[query] == nil &&
		(describesParameters(data) || data["kind"] != nil || data["fields"] != nil) {
		d.value, place = data, "are 'data' itself"
	}
	if place != "" {
		p.deviate(detailPlace, place, d.exchange)
	}
	return d
}

// errEnded means that the context of the run ended while nothing was asked of the server.
var errEnded = errors.New("the run was ended")

// ended reports whether the run must end, because the server does not answer any more or the context ended.
func (p *prober) ended() bool {
	if p.stopped == nil && p.ctx.Err() != nil {
		if p.stopped = context.Cause(p.ctx); p.stopped == nil {
			p.stopped = errEnded
		}
	}
	return p.stopped != nil
}
