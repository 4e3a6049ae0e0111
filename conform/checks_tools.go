package conform

import (
	"slices"
	"strings"
)

func checkToolNames(p *prober, rec *recorder) {
	listed := map[string]bool{}
	for _, tool := range p.tools {
		listed[tool.Name] = true
		rec.expect(toolName.MatchString(tool.Name), nil,
			"tool '%s' is not called mcp_aql or mcp_aql_ with an endpoint family", tool.Name)
	}
	for _, name := range p.twice {
		rec.fail(nil, "tool '%s' is listed more than once", name)
	}
	for _, d := range p.details {
		if d.value == nil {
			rec.unjudged("the details of operation %s cannot be read", d.name)
			continue
		}
		name, _ := memberUnder(d.value, "mcpTool", operationAliases).(string)
		endpoint, _ := memberUnder(d.value, "endpoint", operationAliases).(string)
		if name == "" {
			rec.fail(exchanges(d.exchange), "the details of operation %s do not say on which tool it is", d.name)
			continue
		}
		if !rec.expect(listed[name], d.exchange,
			"operation %s is said to be on tool '%s', which is not listed", d.name, name) {
			continue
		}
		rec.expect(family(name) == "" || strings.EqualFold(family(name), endpoint), d.exchange,
			"operation %s is said to be on tool '%s' and on endpoint '%s'", d.name, name, endpoint)
	}
}

func checkToolDescriptions(p *prober, rec *recorder) {
	for _, tool := range p.tools {
		rec.expect(strings.Contains(tool.Description, "introspect"), nil,
			"the description of tool '%s' does not mention introspect", tool.Name)
	}
}

func checkToolSchemas(p *prober, rec *recorder) {
	for _, tool := range p.tools {
		if len(tool.InputSchema) == 0 {
			rec.unjudged("the input schema of tool '%s' is not known", tool.Name)
			continue
		}
		value, _ := parse(string(tool.InputSchema))
		schema, _ := value.(map[string]any)
		rec.expect(schema["type"] == "object", nil, "the input schema of tool '%s' must have the type object", tool.Name)
		properties, _ := schema["properties"].(map[string]any)
		operation, _ := properties["operation"].(map[string]any)
		params, _ := properties["params"].(map[string]any)
		rec.expect(operation["type"] == "string", nil,
			"the input schema of tool '%s' lacks the property operation of type string", tool.Name)
		rec.expect(params["type"] == "object" && params["additionalProperties"] != false, nil,
			"the input schema of tool '%s' lacks the open property params of type object", tool.Name)
		for _, combinator := range []string{"anyOf", "oneOf", "allOf"} {
			rec.expect(schema[combinator] == nil, nil,
				"the input schema of tool '%s' has '%s' in its root, which some clients refuse", tool.Name, combinator)
		}
	}
}

func checkAnnotations(p *prober, rec *recorder) {
	want := map[string][2]bool{ // read-only and destructive, by family
		"create": {false, false}, "read": {true, false}, "update": {false, true}, "delete": {false, true},
		"execute": {false, true}, "": {false, true},
	}
	for _, tool := range p.tools {
		flags, known := want[family(tool.Name)]
		if !known {
			rec.skip("tool '%s' is of a family that is not one of the CRUDE profile", tool.Name)
			continue
		}
		if tool.ReadOnly == nil && tool.Destructive == nil {
			rec.unjudged("tool '%s' has no annotations, or they are not known", tool.Name)
			continue
		}
		readOnly := tool.ReadOnly != nil && *tool.ReadOnly
		destructive := tool.Destructive == nil || *tool.Destructive // the default of MCP
		rec.expect(readOnly == flags[0] && destructive == flags[1], nil,
			"tool '%s' must have readOnlyHint %v and destructiveHint %v, and has %v and %v", tool.Name, flags[0], flags[1],
			readOnly, destructive)
	}
}

func checkMode(p *prober, rec *recorder) {
	reported, _ := p.protocol["mode"].(string)
	if reported == "" {
		rec.skip("'_protocol' tells no mode")
		return
	}
	rec.expect(reported == p.mode(), p.operationsList,
		"'_protocol.mode' is '%s', but the tools are those of the mode '%s'", reported, p.mode())
}

func checkRedirects(p *prober, rec *recorder) {
	server, ok := p.server.(Redirector)
	if !ok {
		rec.skip("the server is not reached over HTTP")
		return
	}
	rec.pass(nil)
	for _, redirect := range server.Redirects() {
		rec.fail(nil, "%s", redirect)
	}
}

func checkFamilies(p *prober, rec *recorder) {
	crude := []string{"create", "read", "update", "delete", "execute"}
	var found []string
	for _, tool := range p.tools {
		found = append(found, family(tool.Name))
	}
	other := func(family string) bool { return family != "" && !slices.Contains(crude, family) }
	if !slices.Contains(found, "read") || slices.ContainsFunc(found, other) {
		rec.skip("the tools are not those of the CRUDE profile")
		return
	}
	var needless []string
	for _, name := range crude {
		served := func(o *operation) bool { return o.Category == strings.ToUpper(name) }
		switch {
		case slices.Contains(found, name):
			rec.pass(nil)
		case slices.ContainsFunc(p.operations, served):
			rec.fail(nil, "there is no tool %smcp_aql_%s", p.prefix, name)
		default: // MCP-AQL core §3.3 does not say whether a family without operations needs a tool
			needless = append(needless, p.prefix+"mcp_aql_"+name)
		}
	}
	if len(needless) > 0 {
		rec.unjudged("there is no tool %s, and no operation that is known to need one", strings.Join(needless, ", "))
	}
}

// toolOfFamily returns the tool of an endpoint family, in whatever case it is written; empty: there is none.
func (p *prober) toolOfFamily(endpoint string) string {
	for _, tool := range p.tools {
		if endpoint != "" && strings.EqualFold(family(tool.Name), endpoint) {
			return tool.Name
		}
	}
	return ""
}
