package conform

import (
	"fmt"
	"slices"
	"strings"
)

func checkProtocol(p *prober, rec *recorder) {
	shape := func(path string, value any) []string {
		object, ok := value.(map[string]any)
		if !ok {
			return []string{path + " must be an object with the member 'version'"}
		}
		wrong := matches(versionPattern)(path+".version", object["version"])
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
	rec.expectShape(p.operationsList, shape("data._protocol", protocol))
}

// expectShape records what is wrong with the shape of an answer, or that nothing is.
func (rec *recorder) expectShape(x *exchange, wrong []string) {
	if len(wrong) == 0 {
		rec.pass(x)
		return
	}
	rec.fail(exchanges(x), "%s", strings.Join(wrong, "; "))
}

func checkConformanceClaim(p *prober, rec *recorder) {
	claim, _ := p.protocol["conformance"].(string)
	rec.expect(claim != "", p.operationsList, "'_protocol' has no member 'conformance'")
}

func checkListShape(p *prober, rec *recorder) {
	list := closed(map[string]member{"_protocol": {}, "operations": {true, listOf(operationInfo)}})
	rec.expectShape(p.operationsList, list("data", p.operationsList.answer.data))
}

func checkDetailsShape(p *prober, rec *recorder) {
	for _, d := range p.details {
		rec.expectShape(d.exchange,
			closed(map[string]member{"operation": {true, operationDetails}})("data", d.exchange.answer.data))
		for i, d := range objects(d.value["parameters"]) {
			if items, there := d["items"].(map[string]any); there && items["type"] != nil {
				if _, ok := items["type"].(string); !ok {
					rec.fail(nil, "parameters[%d].items.type must be a string", i)
				}
			}
		}
	}
}

func checkTypesShape(p *prober, rec *recorder) {
	rec.expectShape(p.typesList,
		closed(map[string]member{"types": {true, listOf(typeInfo)}})("data", p.typesList.answer.data))
	for _, d := range p.typeDetails {
		rec.expectShape(d.exchange,
			closed(map[string]member{"type": {true, typeDetailsShape}})("data", d.exchange.answer.data))
	}
}

func checkUnique(p *prober, rec *recorder) {
	unique := func(x *exchange, what string, list []map[string]any) {
		seen := map[string]bool{}
		for _, object := range list {
			name, _ := object["name"].(string)
			if seen[name] {
				rec.fail(exchanges(x), "%s: the name '%s' is there more than once", what, name)
			}
			seen[name] = true
		}
		rec.pass(x)
	}
	unique(p.operationsList, "operations", p.listedOperations)
	unique(p.typesList, "types", p.listedTypes)
	for _, d := range p.details {
		unique(d.exchange, "parameters of operation "+d.name, objects(d.value["parameters"]))
	}
	for _, d := range p.typeDetails {
		unique(d.exchange, "fields of type "+d.name, objects(d.value["fields"]))
	}
}

func checkNames(p *prober, rec *recorder) {
	for _, d := range p.details {
		rec.expect(snakeCase.MatchString(d.name), p.operationsList,
			"operation name '%s' does not match %s", d.name, snakeCase)
		for _, param := range objects(d.value["parameters"]) {
			name, _ := param["name"].(string)
			rec.expect(snakeCase.MatchString(name), d.exchange,
				"parameter name '%s' of operation %s does not match %s", name, d.name, snakeCase)
		}
	}
}

func checkListAndDetailsAgree(p *prober, rec *recorder) {
	for _, d := range p.details {
		if !rec.expect(d.value != nil, d.exchange, "operation %s is listed, but has no details", d.name) {
			continue
		}
		at := slices.IndexFunc(p.listedOperations, func(o map[string]any) bool { return o["name"] == d.name })
		for _, name := range []string{"name", "semantic_category", "endpoint"} {
			rec.expect(equal(p.listedOperations[at][name], d.value[name]), d.exchange,
				"'%s' of operation %s is %v in the list and %v in the details", name, d.name, p.listedOperations[at][name],
				d.value[name])
		}
	}
	for _, d := range p.typeDetails {
		if !rec.expect(d.value != nil, d.exchange, "type %s is listed, but has no details", d.name) {
			continue
		}
		at := slices.IndexFunc(p.listedTypes, func(o map[string]any) bool { return o["name"] == d.name })
		for _, name := range []string{"name", "kind"} {
			rec.expect(equal(p.listedTypes[at][name], d.value[name]), d.exchange,
				"'%s' of type %s is %v in the list and %v in the details", name, d.name, p.listedTypes[at][name], d.value[name])
		}
	}
}

// basicTypes need no definition (MCP-AQL introspection §5.2). The documents do not list any and null.
var basicTypes = []string{"string", "integer", "number", "boolean", "object", "array", "any", "null"}

// unknownTypes returns the types in an expression that introspection does not list.
func (p *prober) unknownTypes(expression string) []string {
	var wrong []string
	for _, name := range alternatives(expression) {
		for strings.HasSuffix(name, "[]") {
			name = strings.TrimSuffix(name, "[]")
		}
		known := slices.Contains(basicTypes, name) || slices.ContainsFunc(p.listedTypes,
			func(t map[string]any) bool { return t["name"] == name })
		if !known {
			wrong = append(wrong, name)
		}
	}
	return wrong
}

func checkTypesResolve(p *prober, rec *recorder) {
	resolve := func(x *exchange, where, expression string) {
		for _, name := range p.unknownTypes(expression) {
			rec.fail(exchanges(x), "%s names the type '%s', which introspection does not know", where, name)
		}
		rec.pass(x)
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
	for _, d := range p.typeDetails {
		if t := p.types[d.name]; t != nil {
			each(d.exchange, "type "+d.name+", field", t.Fields)
			for _, member := range t.Members {
				resolve(d.exchange, "union "+d.name, member)
			}
		}
	}
}

func checkPermissions(p *prober, rec *recorder) {
	for _, d := range p.details {
		permissions, ok := d.value["permissions"].(map[string]any)
		category, _ := d.value["semantic_category"].(string)
		if !ok || !slices.Contains([]string{"CREATE", "READ", "UPDATE", "DELETE", "EXECUTE"}, category) {
			continue
		}
		want := map[string]any{"readOnly": category == "READ", "destructive": category != "READ" && category != "CREATE"}
		rec.expect(equal(want, permissions), d.exchange,
			"operation %s is %s: its permissions must be readOnly %v and destructive %v", d.name, category, want["readOnly"],
			want["destructive"])
	}
}

func checkReserved(p *prober, rec *recorder) {
	want := map[string]string{
		"introspect": "READ", "execute_agent": "EXECUTE", "record_execution_step": "CREATE", "complete_execution": "EXECUTE",
		"abort_execution": "EXECUTE", "confirm_operation": "EXECUTE", "verify_challenge": "CREATE",
	}
	for _, object := range p.listedOperations {
		name, _ := object["name"].(string)
		if category, known := want[name]; known {
			rec.expect(object["semantic_category"] == category, p.operationsList,
				"operation %s has a reserved name and must be %s, not %v", name, category, object["semantic_category"])
		}
	}
}

func checkListsItself(p *prober, rec *recorder) {
	rec.expect(slices.Contains(namesOf(p.listedOperations), "introspect"), p.operationsList,
		"the list of operations lacks introspect")
}

func checkUnknownName(p *prober, rec *recorder) {
	for _, member := range []string{"operation", "type"} {
		query := member + "s"
		x := p.callIntrospect(p.introspectTool, map[string]any{"query": query, "name": "no_such_name"})
		data, _ := x.answer.data.(map[string]any)
		value, there := data[member]
		rec.expect(x.answer.success && there && value == nil, x,
			"asked for the %s no_such_name, introspect must succeed with data.%s null", member, member)
	}
}

func checkUnknownQuery(p *prober, rec *recorder) {
	x := p.callIntrospect(p.introspectTool, map[string]any{"query": "no_such_query"})
	plainError := x.answer.code != "" && x.answer.message != "" && x.answer.details == nil
	rec.expect(x.answer.wellFormed && !x.answer.success && plainError, x,
		"the query no_such_query must fail with an error of code and message")
}

func checkStable(p *prober, rec *recorder) {
	x := p.callIntrospect(p.introspectTool, map[string]any{"query": "operations"})
	before, after := p.listedOperations, objects(memberOf(x.answer.data, "operations"))
	rec.expect(equal(asList(before), asList(after)), x, "the list of operations is another one than before")
}

func memberOf(value any, name string) any {
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

func checkDanger(p *prober, rec *recorder) {
	declared, there := p.protocol["danger_levels"].(map[string]any)
	for name, level := range declared {
		text, _ := level.(string)
		if object, ok := level.(map[string]any); ok {
			text, _ = object["level"].(string)
		}
		rec.expect(slices.Contains(dangerLevels, text), p.operationsList,
			"the danger level of operation %s is '%v', which is none of %s", name, level, strings.Join(dangerLevels, ", "))
	}
	harmless := !slices.ContainsFunc(p.operations, func(o *operation) bool { return o.Category != "READ" })
	if !p.capability("dangerous_operations") || there || harmless {
		return
	}
	reported := slices.ContainsFunc(p.operations, func(o *operation) bool {
		return strings.Contains(strings.ToLower(o.Description),
			"danger") || strings.Contains(strings.ToLower(o.Description), "destructive")
	})
	rec.expect(reported || p.protocol["danger"] != nil, p.operationsList,
		"the capability dangerous_operations is claimed, but neither '_protocol' nor a description tells a danger level")
}

func checkDescriptions(p *prober, rec *recorder) {
	for _, d := range p.details {
		description, _ := d.value["description"].(string)
		rec.expect(description != "", d.exchange, "operation %s has no description", d.name)
		for _, param := range objects(d.value["parameters"]) {
			text, _ := param["description"].(string)
			rec.expect(text != "", d.exchange, "parameter '%v' of operation %s has no description", param["name"], d.name)
		}
	}
}

func checkExamples(p *prober, rec *recorder) {
	for _, o := range p.operations {
		x := p.detailExchange(o)
		if !rec.expect(len(o.Examples) > 0, x, "operation %s has no example", o.Name) {
			continue
		}
		for i, e := range o.Examples {
			what := fmt.Sprintf("example %d of operation %s", i+1, o.Name)
			rec.expect(e.Request.Operation == o.Name, x, "%s calls operation '%s'", what, e.Request.Operation)
			for _, d := range o.required() {
				_, there := e.Request.Params[d.Name]
				rec.expect(there, x, "%s lacks the required parameter '%s'", what, d.Name)
			}
			for name := range e.Request.Params {
				rec.expect(o.param(name) != nil || strings.HasPrefix(name, "_"), x,
					"%s has the parameter '%s', which is not documented", what, name)
			}
		}
	}
}

// detailExchange returns the exchange with the details of an operation.
func (p *prober) detailExchange(o *operation) *exchange {
	for _, d := range p.details {
		if d.name == o.Name {
			return d.exchange
		}
	}
	return nil
}
