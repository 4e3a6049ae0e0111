package conform

import (
	"fmt"
	"slices"
	"strings"
)

func introspectionChecks() []check {
	return []check{
		{"introspect/protocol", "the list of operations says which version of the protocol is spoken", []string{"REQ-PM-01", "REQ-PM-03"}, Must, Fidelity, 1, checkProtocol},
		{"introspect/claim", "the list of operations says which conformance level is claimed", []string{"REQ-PM-02"}, Should, Fidelity, 1, checkClaim},
		{"introspect/list-shape", "the list of operations has the closed shape", []string{"REQ-IN-03", "REQ-IN-07"}, Must, Fidelity, 1, checkListShape},
		{"introspect/details-shape", "operation details have the closed shape", []string{"REQ-IN-09", "REQ-IN-10", "REQ-CL-07"}, Must, Fidelity, 1, checkDetailsShape},
		{"introspect/types-shape", "the list of types and their details have the closed shapes", []string{"REQ-IN-04", "REQ-TY-02", "REQ-TY-03"}, Must, Fidelity, 1, checkTypesShape},
		{"introspect/unique-names", "no two operations, types, parameters or fields share a name", []string{"REQ-NM-07"}, Must, Fidelity, 1, checkUnique},
		{"introspect/names", "names of operations and parameters are snake_case", []string{"REQ-NM-01", "REQ-RF-07", "REQ-CL-07"}, Must, Fidelity, 1, checkNames},
		{"introspect/agreement", "list and details of an operation agree", []string{"REQ-IN-11", "REQ-IN-27"}, Must, Fidelity, 1, checkAgreement},
		{"introspect/types-resolve", "every type that is named can be looked up", []string{"REQ-IN-13"}, Must, Fidelity, 1, checkTypesResolve},
		{"introspect/permissions", "permissions follow from the category", []string{"REQ-EP-03", "REQ-EP-05"}, Must, Fidelity, 1, checkPermissions},
		{"introspect/reserved-names", "reserved operations have their own category", []string{"REQ-NM-06"}, Must, Fidelity, 1, checkReserved},
		{"introspect/itself", "introspect lists itself", []string{"REQ-IN-01", "REQ-IN-15"}, Should, Fidelity, 1, checkItself},
		{"introspect/unknown-name", "an unknown name is answered with null, not with an error", []string{"REQ-IN-05"}, Must, Fidelity, 1, checkUnknownName},
		{"introspect/unknown-query", "an unknown query is an error with code and message only", []string{"REQ-IN-06"}, Must, Fidelity, 1, checkUnknownQuery},
		{"introspect/stable", "the same question has the same answer", []string{"REQ-IN-17"}, Should, Fidelity, 1, checkStable},
		{"introspect/danger", "danger levels are told where operations have them", []string{"REQ-IN-29", "REQ-DL-01"}, Must, Fidelity, 1, checkDanger},
		{"introspect/descriptions", "every operation and parameter is described", []string{"REQ-IN-15"}, Should, Constraints, 1, checkDescriptions},
		{"introspect/examples", "every operation has examples, and they are requests to it", []string{"REQ-IN-14"}, Should, Constraints, 1, checkExamples},
	}
}

func checkProtocol(p *prober, v *verdict) {
	shape := func(path string, value any) []string {
		object, ok := value.(map[string]any)
		if !ok {
			return []string{path + " must be an object with the member 'version'"}
		}
		wrong := matches(specForm)(path+".version", object["version"])
		if mode, there := object["mode"]; there {
			wrong = append(wrong, oneOf("semantic", "single", "all")(path+".mode", mode)...)
		}
		if level, there := object["conformance"]; there {
			wrong = append(wrong, oneOf("level-1", "level-2")(path+".conformance", level)...)
		}
		return wrong
	}
	var protocol any
	if p.protocol != nil {
		protocol = p.protocol
	}
	v.shaped(p.operationsList, shape("data._protocol", protocol))
}

// shaped notes what is wrong with a shape, or that nothing is.
func (v *verdict) shaped(x *exchange, wrong []string) {
	if len(wrong) == 0 {
		v.ok(x)
		return
	}
	v.wrong(exchanges(x), "%s", strings.Join(wrong, "; "))
}

func checkClaim(p *prober, v *verdict) {
	claim, _ := p.protocol["conformance"].(string)
	v.hold(claim != "", p.operationsList, "'_protocol' has no member 'conformance'")
}

func checkListShape(p *prober, v *verdict) {
	v.shaped(p.operationsList, closed(map[string]member{"_protocol": {}, "operations": {true, listOf(operationInfo)}})("data", p.operationsList.answer.data))
}

func checkDetailsShape(p *prober, v *verdict) {
	for _, d := range p.details {
		v.shaped(d.exchange, closed(map[string]member{"operation": {true, operationDetails}})("data", d.exchange.answer.data))
		for i, d := range objects(d.value["parameters"]) {
			if items, there := d["items"].(map[string]any); there && items["type"] != nil {
				if _, ok := items["type"].(string); !ok {
					v.wrong(nil, "parameters[%d].items.type must be a string", i)
				}
			}
		}
	}
}

func checkTypesShape(p *prober, v *verdict) {
	v.shaped(p.typesList, closed(map[string]member{"types": {true, listOf(typeInfo)}})("data", p.typesList.answer.data))
	for _, d := range p.typesDetails {
		v.shaped(d.exchange, closed(map[string]member{"type": {true, typeDetailsShape}})("data", d.exchange.answer.data))
	}
}

func checkUnique(p *prober, v *verdict) {
	unique := func(x *exchange, what string, list []map[string]any) {
		seen := map[string]bool{}
		for _, object := range list {
			name, _ := object["name"].(string)
			if seen[name] {
				v.wrong(exchanges(x), "%s: the name '%s' is there more than once", what, name)
			}
			seen[name] = true
		}
		v.ok(x)
	}
	unique(p.operationsList, "operations", p.listed)
	unique(p.typesList, "types", p.listedTypes)
	for _, d := range p.details {
		unique(d.exchange, "parameters of operation "+d.name, objects(d.value["parameters"]))
	}
	for _, d := range p.typesDetails {
		unique(d.exchange, "fields of type "+d.name, objects(d.value["fields"]))
	}
}

func checkNames(p *prober, v *verdict) {
	for _, d := range p.details {
		v.hold(snake.MatchString(d.name), p.operationsList, "operation name '%s' does not match %s", d.name, snake)
		for _, param := range objects(d.value["parameters"]) {
			name, _ := param["name"].(string)
			v.hold(snake.MatchString(name), d.exchange, "parameter name '%s' of operation %s does not match %s", name, d.name, snake)
		}
	}
}

func checkAgreement(p *prober, v *verdict) {
	for _, d := range p.details {
		if !v.hold(d.value != nil, d.exchange, "operation %s is listed, but has no details", d.name) {
			continue
		}
		at := slices.IndexFunc(p.listed, func(o map[string]any) bool { return o["name"] == d.name })
		for _, name := range []string{"name", "semantic_category", "endpoint"} {
			v.hold(equal(p.listed[at][name], d.value[name]), d.exchange, "'%s' of operation %s is %v in the list and %v in the details", name, d.name, p.listed[at][name], d.value[name])
		}
	}
	for _, d := range p.typesDetails {
		if !v.hold(d.value != nil, d.exchange, "type %s is listed, but has no details", d.name) {
			continue
		}
		at := slices.IndexFunc(p.listedTypes, func(o map[string]any) bool { return o["name"] == d.name })
		for _, name := range []string{"name", "kind"} {
			v.hold(equal(p.listedTypes[at][name], d.value[name]), d.exchange, "'%s' of type %s is %v in the list and %v in the details", name, d.name, p.listedTypes[at][name], d.value[name])
		}
	}
}

// basic are the types that need no definition. The last two are not in the documents' list, but clear to everybody.
var basic = []string{"string", "integer", "number", "boolean", "object", "array", "any", "null"}

// unresolved are the types in an expression that cannot be looked up.
func (p *prober) unresolved(expression string) []string {
	var wrong []string
	for _, name := range alternatives(expression) {
		for strings.HasSuffix(name, "[]") {
			name = strings.TrimSuffix(name, "[]")
		}
		known := slices.Contains(basic, name) || slices.ContainsFunc(p.listedTypes, func(t map[string]any) bool { return t["name"] == name })
		if !known {
			wrong = append(wrong, name)
		}
	}
	return wrong
}

func checkTypesResolve(p *prober, v *verdict) {
	resolve := func(x *exchange, where, expression string) {
		for _, name := range p.unresolved(expression) {
			v.wrong(exchanges(x), "%s names the type '%s', which introspection does not know", where, name)
		}
		v.ok(x)
	}
	var each func(x *exchange, where string, list []param)
	each = func(x *exchange, where string, list []param) {
		for _, d := range list {
			if d.Type != "" {
				resolve(x, where+" "+d.Name, d.Type)
			}
			if d.Items != nil && d.Items.Type != "" {
				each(x, "an item of "+where+" "+d.Name, []param{*d.Items})
			}
		}
	}
	for _, d := range p.details {
		if o := p.operation(d.name); o != nil {
			each(d.exchange, "operation "+d.name+", parameter", o.Parameters)
			resolve(d.exchange, "what operation "+d.name+" returns", o.Returns.Name)
		}
	}
	for _, d := range p.typesDetails {
		if t := p.types[d.name]; t != nil {
			each(d.exchange, "type "+d.name+", field", t.Fields)
			for _, member := range t.Members {
				resolve(d.exchange, "union "+d.name, member)
			}
		}
	}
}

func checkPermissions(p *prober, v *verdict) {
	for _, d := range p.details {
		permissions, ok := d.value["permissions"].(map[string]any)
		category, _ := d.value["semantic_category"].(string)
		if !ok || !slices.Contains([]string{"CREATE", "READ", "UPDATE", "DELETE", "EXECUTE"}, category) {
			continue
		}
		want := map[string]any{"readOnly": category == "READ", "destructive": category != "READ" && category != "CREATE"}
		v.hold(equal(want, permissions), d.exchange, "operation %s is %s: its permissions must be readOnly %v and destructive %v", d.name, category, want["readOnly"], want["destructive"])
	}
}

func checkReserved(p *prober, v *verdict) {
	want := map[string]string{
		"introspect": "READ", "execute_agent": "EXECUTE", "record_execution_step": "CREATE", "complete_execution": "EXECUTE",
		"abort_execution": "EXECUTE", "confirm_operation": "EXECUTE", "verify_challenge": "CREATE",
	}
	for _, object := range p.listed {
		name, _ := object["name"].(string)
		if category, known := want[name]; known {
			v.hold(object["semantic_category"] == category, p.operationsList, "operation %s has a reserved name and must be %s, not %v", name, category, object["semantic_category"])
		}
	}
}

func checkItself(p *prober, v *verdict) {
	v.hold(slices.Contains(names(p.listed), "introspect"), p.operationsList, "the list of operations lacks introspect")
}

func checkUnknownName(p *prober, v *verdict) {
	for _, member := range []string{"operation", "type"} {
		query := member + "s"
		x := p.ask(p.asked, map[string]any{"query": query, "name": "no_such_name"})
		data, _ := x.answer.data.(map[string]any)
		value, there := data[member]
		v.hold(x.answer.success && there && value == nil, x, "asked for the %s no_such_name, introspect must succeed with data.%s null", member, member)
	}
}

func checkUnknownQuery(p *prober, v *verdict) {
	x := p.ask(p.asked, map[string]any{"query": "no_such_query"})
	v.hold(x.answer.ok && !x.answer.success && x.answer.code != "" && x.answer.message != "" && x.answer.details == nil, x, "the query no_such_query must fail with an error of code and message")
}

func checkStable(p *prober, v *verdict) {
	x := p.ask(p.asked, map[string]any{"query": "operations"})
	before, after := p.listed, objects(within(x.answer.data, "operations"))
	v.hold(equal(asList(before), asList(after)), x, "the list of operations is another one than before")
}

func within(value any, name string) any {
	object, _ := value.(map[string]any)
	return object[name]
}

func asList(list []map[string]any) any {
	all := []any{}
	for _, object := range list {
		all = append(all, object)
	}
	return all
}

func checkDanger(p *prober, v *verdict) {
	declared, there := p.protocol["danger_levels"].(map[string]any)
	for name, level := range declared {
		text, _ := level.(string)
		if object, ok := level.(map[string]any); ok {
			text, _ = object["level"].(string)
		}
		v.hold(slices.Contains(levels, text), p.operationsList, "the danger level of operation %s is '%v', which is none of %s", name, level, strings.Join(levels, ", "))
	}
	harmless := !slices.ContainsFunc(p.operations, func(o *operation) bool { return o.Category != "READ" })
	if !p.capability("dangerous_operations") || there || harmless {
		return
	}
	told := slices.ContainsFunc(p.operations, func(o *operation) bool {
		return strings.Contains(strings.ToLower(o.Description), "danger") || strings.Contains(strings.ToLower(o.Description), "destructive")
	})
	v.hold(told || p.protocol["danger"] != nil, p.operationsList, "the capability dangerous_operations is claimed, but neither '_protocol' nor a description tells a danger level")
}

func checkDescriptions(p *prober, v *verdict) {
	for _, d := range p.details {
		description, _ := d.value["description"].(string)
		v.hold(description != "", d.exchange, "operation %s has no description", d.name)
		for _, param := range objects(d.value["parameters"]) {
			text, _ := param["description"].(string)
			v.hold(text != "", d.exchange, "parameter '%v' of operation %s has no description", param["name"], d.name)
		}
	}
}

func checkExamples(p *prober, v *verdict) {
	for _, o := range p.operations {
		x := p.exchangeOf(o)
		if !v.hold(len(o.Examples) > 0, x, "operation %s has no example", o.Name) {
			continue
		}
		for i, e := range o.Examples {
			what := fmt.Sprintf("example %d of operation %s", i+1, o.Name)
			v.hold(e.Request.Operation == o.Name, x, "%s calls operation '%s'", what, e.Request.Operation)
			for _, d := range o.required() {
				_, there := e.Request.Params[d.Name]
				v.hold(there, x, "%s lacks the required parameter '%s'", what, d.Name)
			}
			for name := range e.Request.Params {
				v.hold(o.param(name) != nil || strings.HasPrefix(name, "_"), x, "%s has the parameter '%s', which is not documented", what, name)
			}
		}
	}
}

// exchangeOf is the exchange that an operation's details were told in.
func (p *prober) exchangeOf(o *operation) *exchange {
	for _, d := range p.details {
		if d.name == o.Name {
			return d.exchange
		}
	}
	return nil
}
