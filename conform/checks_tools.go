package conform

import (
	"slices"
	"strings"
)

func toolChecks() []check {
	return []check{
		{"tools/names", "operations say which tool they are called on, and it exists", []string{"REQ-TL-05", "REQ-TL-08", "REQ-IN-09"}, Must, Fidelity, 1, checkToolNames},
		{"tools/descriptions", "every tool's description shows how to call introspect", []string{"REQ-TL-01"}, Must, Fidelity, 1, checkToolDescriptions},
		{"tools/schemas", "every tool's input schema is an object with operation and params", []string{"REQ-TL-11"}, Must, Fidelity, 1, checkToolSchemas},
		{"tools/annotations", "the annotations of a tool are those of its family", []string{"REQ-TL-09"}, Should, Fidelity, 1, checkAnnotations},
		{"tools/mode", "the mode that is told is the one that the tools show", []string{"REQ-EP-01", "REQ-PM-03"}, Must, Fidelity, 1, checkMode},
		{"tools/families", "a CRUDE adapter has a tool for every family", []string{"REQ-EP-06"}, Should, Fidelity, 1, checkFamilies},
	}
}

func checkToolNames(p *prober, v *verdict) {
	for _, d := range p.details {
		name, _ := d.value["mcpTool"].(string)
		endpoint, _ := d.value["endpoint"].(string)
		listed := slices.ContainsFunc(p.tools, func(t Tool) bool { return t.Name == name })
		if !v.hold(listed, d.exchange, "operation %s is said to be on tool '%s', which is not listed", d.name, name) {
			continue
		}
		v.hold(family(name) == "" || strings.EqualFold(family(name), endpoint), d.exchange, "operation %s is said to be on tool '%s' and on endpoint '%s'", d.name, name, endpoint)
	}
	var seen []string
	for _, tool := range p.tools {
		if slices.Contains(seen, tool.Name) {
			v.wrong(nil, "tool '%s' is listed more than once", tool.Name)
		}
		seen = append(seen, tool.Name)
	}
}

func checkToolDescriptions(p *prober, v *verdict) {
	for _, tool := range p.tools {
		v.hold(strings.Contains(tool.Description, "introspect"), nil, "the description of tool '%s' does not show how to call introspect", tool.Name)
	}
}

func checkToolSchemas(p *prober, v *verdict) {
	for _, tool := range p.tools {
		if len(tool.InputSchema) == 0 {
			v.skip("the input schema of tool '%s' is not known", tool.Name)
			continue
		}
		value, _ := parse(string(tool.InputSchema))
		schema, _ := value.(map[string]any)
		v.hold(schema["type"] == "object", nil, "the input schema of tool '%s' must have the type object", tool.Name)
		properties, _ := schema["properties"].(map[string]any)
		operation, _ := properties["operation"].(map[string]any)
		params, _ := properties["params"].(map[string]any)
		v.hold(operation["type"] == "string", nil, "the input schema of tool '%s' lacks the property operation of type string", tool.Name)
		v.hold(params["type"] == "object" && params["additionalProperties"] != false, nil, "the input schema of tool '%s' lacks the open property params of type object", tool.Name)
		for _, combinator := range []string{"anyOf", "oneOf", "allOf"} {
			v.hold(schema[combinator] == nil, nil, "the input schema of tool '%s' has '%s' in its root, which some clients refuse", tool.Name, combinator)
		}
	}
}

func checkAnnotations(p *prober, v *verdict) {
	want := map[string][2]bool{"create": {false, false}, "read": {true, false}, "update": {false, true}, "delete": {false, true}, "execute": {false, true}, "": {false, true}}
	for _, tool := range p.tools {
		flags, known := want[family(tool.Name)]
		if !known {
			continue
		}
		if tool.ReadOnly == nil && tool.Destructive == nil {
			v.skip("tool '%s' has no annotations that are known", tool.Name)
			continue
		}
		readOnly := tool.ReadOnly != nil && *tool.ReadOnly
		destructive := tool.Destructive == nil || *tool.Destructive // what MCP takes for granted
		v.hold(readOnly == flags[0] && destructive == flags[1], nil, "tool '%s' must have readOnlyHint %v and destructiveHint %v", tool.Name, flags[0], flags[1])
	}
}

func checkMode(p *prober, v *verdict) {
	told, _ := p.protocol["mode"].(string)
	if told == "" {
		v.skip("the mode is not told")
		return
	}
	v.hold(told == p.mode(), p.operationsList, "'_protocol.mode' is '%s', but the tools are those of the mode '%s'", told, p.mode())
}

func checkFamilies(p *prober, v *verdict) {
	crude := []string{"create", "read", "update", "delete", "execute"}
	var found []string
	for _, tool := range p.tools {
		found = append(found, family(tool.Name))
	}
	if !slices.Contains(found, "read") || slices.ContainsFunc(found, func(f string) bool { return f != "" && !slices.Contains(crude, f) }) {
		v.skip("the tools are not those of the CRUDE profile")
		return
	}
	for _, name := range crude {
		v.hold(slices.Contains(found, name), nil, "there is no tool %smcp_aql_%s", p.prefix, name)
	}
}
