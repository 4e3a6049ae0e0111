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
	const most = 12 // of a list of many entries that are all wrong in the same way
	if more := len(wrong) - most; more > 0 {
		wrong = append(slices.Clone(wrong[:most]), fmt.Sprintf("…and %d more", more))
	}
	rec.fail(exchanges(x), "%s", strings.Join(wrong, "; "))
}

func checkConformanceClaim(p *prober, rec *recorder) {
	claim, _ := p.protocol["conformance"].(string)
	if p.protocol == nil {
		rec.fail(exchanges(p.operationsList), "there is no '_protocol' that could claim a level")
		return
	}
	rec.expect(claim != "", p.operationsList, "'_protocol' has no member 'conformance'")
}

func checkListShape(p *prober, rec *recorder) {
	list := closed(map[string]member{"_protocol": {}, "operations": {true, listOf(operationInfo)}})
	rec.expectShape(p.operationsList, list("data", p.operationsList.answer.data))
}

func checkDetailsShape(p *prober, rec *recorder) {
	for _, d := range p.details {
		if !d.exchange.answer.success {
			rec.fail(exchanges(d.exchange), "asked for the details of operation %s, introspect does not answer with success",
				d.name)
			continue
		}
		rec.expectShape(d.exchange,
			closed(map[string]member{"operation": {true, operationDetails}})("data", d.exchange.answer.data))
		for i, each := range objects(d.value["parameters"]) {
			if items, there := each["items"].(map[string]any); there && items["type"] != nil {
				if _, ok := items["type"].(string); !ok {
					rec.fail(exchanges(d.exchange), "parameters[%d].items.type of operation %s must be a string", i, d.name)
				}
			}
		}
	}
	rec.skip("no operation is listed")
}

func checkTypesShape(p *prober, rec *recorder) {
	if !p.typesList.answer.success {
		rec.fail(exchanges(p.typesList), "asked for the types, introspect does not answer with success")
		return
	}
	rec.expectShape(p.typesList,
		closed(map[string]member{"types": {true, listOf(typeInfo)}})("data", p.typesList.answer.data))
	for _, d := range p.typeDetails {
		if !d.exchange.answer.success {
			rec.fail(exchanges(d.exchange), "asked for the details of type %s, introspect does not answer with success", d.name)
			continue
		}
		rec.expectShape(d.exchange,
			closed(map[string]member{"type": {true, typeDetailsShape}})("data", d.exchange.answer.data))
	}
}

func checkUnique(p *prober, rec *recorder) {
	unique := func(x *exchange, what string, names []string) {
		seen := map[string]bool{}
		for _, name := range names {
			if seen[name] && name != "" {
				rec.fail(exchanges(x), "%s: the name '%s' is there more than once", what, name)
			}
			seen[name] = true
		}
		if len(names) > 0 {
			rec.pass(x)
		}
	}
	unique(p.operationsList, "operations", entryNames(p.listedOperations))
	unique(p.typesList, "types", entryNames(p.listedTypes))
	for _, d := range p.details {
		if o := p.operation(d.name); o != nil {
			unique(d.exchange, "parameters of operation "+d.name, paramNames(o.Parameters))
		}
	}
	for _, d := range p.typeDetails {
		if t := p.types[d.name]; t != nil {
			unique(d.exchange, "fields of type "+d.name, paramNames(t.Fields))
		}
	}
	rec.skip("introspection lists nothing")
}

func entryNames(list []entry) []string {
	var all []string
	for _, each := range list {
		all = append(all, each.name)
	}
	return all
}

func paramNames(list []param) []string {
	var all []string
	for _, each := range list {
		all = append(all, each.Name)
	}
	return all
}

func checkNames(p *prober, rec *recorder) {
	for _, d := range p.details {
		rec.expect(snakeCase.MatchString(d.name), p.operationsList,
			"operation name '%s' does not match %s", d.name, snakeCase)
		o := p.operation(d.name)
		if o == nil {
			rec.unjudged("the parameters of operation %s are not known, because its details cannot be read", d.name)
			continue
		}
		for _, param := range o.Parameters {
			rec.expect(snakeCase.MatchString(param.Name), d.exchange,
				"parameter name '%s' of operation %s does not match %s", param.Name, d.name, snakeCase)
		}
	}
}

func checkListAndDetailsAgree(p *prober, rec *recorder) {
	agree := func(d *detail, what string, known aliases, members ...string) {
		if d.value == nil {
			if !d.exchange.answer.success && !d.exchange.answer.failed {
				rec.unjudged("the answer about the details of %s %s cannot be read", what, d.name)
				return
			}
			rec.fail(exchanges(d.exchange), "%s %s is listed, but introspect answers with no details of it", what, d.name)
			return
		}
		if d.listed == nil {
			rec.unjudged("the list tells nothing of %s %s but its name", what, d.name)
			return
		}
		for _, name := range members {
			listed, detailed := memberUnder(d.listed, name, known), memberUnder(d.value, name, known)
			rec.expect(equal(listed, detailed), d.exchange, "'%s' of %s %s is %s in the list and %s in the details", name, what,
				d.name, orMissing(listed), orMissing(detailed))
		}
	}
	for _, d := range p.details {
		agree(d, "operation", operationAliases, "name", "semantic_category", "endpoint")
	}
	for _, d := range p.typeDetails {
		agree(d, "type", typeAliases, "name", "kind")
	}
	rec.skip("introspection lists nothing")
}

// memberUnder returns a member under its name in the protocol, or under another one that is known for it.
func memberUnder(object map[string]any, name string, known aliases) any {
	for _, each := range append([]string{name}, known[name]...) {
		if value, there := object[each]; there {
			return value
		}
	}
	return nil
}

func orMissing(value any) string {
	if value == nil {
		return "missing"
	}
	return clip(asJSON(value), 80)
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
		if !slices.Contains(basicTypes, name) && !p.typeListed[name] {
			wrong = append(wrong, name)
		}
	}
	return wrong
}

func checkTypesResolve(p *prober, rec *recorder) {
	resolve := func(x *exchange, where, expression string) {
		if expression == "" {
			return // introspect/details-shape reports it
		}
		for _, name := range p.unknownTypes(expression) {
			rec.fail(exchanges(x), "%s names the type '%s', which introspection does not list", where, name)
		}
		rec.pass(x)
	}
	var each func(x *exchange, where string, list []param)
	each = func(x *exchange, where string, list []param) {
		for _, d := range list {
			resolve(x, strings.TrimSpace(where+" "+d.Name), d.written)
			if d.Items != nil {
				each(x, "an item of "+where+" "+d.Name, []param{*d.Items})
			}
		}
	}
	for _, d := range p.details {
		if o := p.operation(d.name); o != nil {
			each(d.exchange, "operation "+d.name+", parameter", o.Parameters)
			resolve(d.exchange, "what operation "+d.name+" returns", o.Returns.Name)
		} else {
			rec.unjudged("the details of operation %s cannot be read", d.name)
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
	rec.skip("no operation or type names a type")
}

func checkPermissions(p *prober, rec *recorder) {
	for _, d := range p.details {
		o := p.operation(d.name)
		permissions, ok := d.value["permissions"].(map[string]any)
		switch {
		case o == nil || !ok:
			rec.unjudged("introspection tells no permissions of operation %s", d.name)
		case o.Category == "":
			rec.unjudged("introspection tells no category of operation %s", d.name)
		default:
			want := map[string]any{
				"readOnly":    o.Category == "READ",
				"destructive": o.Category != "READ" && o.Category != "CREATE",
			}
			rec.expect(equal(want, permissions), d.exchange,
				"operation %s is %s: its permissions must be readOnly %v and destructive %v, and are %s", d.name, o.Category,
				want["readOnly"], want["destructive"], clip(asJSON(permissions), 120))
		}
	}
	rec.skip("no operation is listed")
}

func checkReserved(p *prober, rec *recorder) {
	want := map[string]string{
		"introspect": "READ", "execute_agent": "EXECUTE", "record_execution_step": "CREATE", "complete_execution": "EXECUTE",
		"abort_execution": "EXECUTE", "confirm_operation": "EXECUTE", "verify_challenge": "CREATE",
	}
	for _, each := range p.listedOperations {
		category, known := want[each.name]
		if !known {
			continue
		}
		got := memberUnder(each.object, "semantic_category", operationAliases)
		if o := p.operation(each.name); got == nil && o != nil && o.Category != "" {
			got = o.Category
		}
		if got == nil {
			rec.unjudged("introspection tells no category of operation %s", each.name)
			continue
		}
		rec.expect(got == category, p.operationsList,
			"operation %s has a reserved name and must be %s, not %s", each.name, category, clip(asJSON(got), 40))
	}
	rec.skip("no operation with a reserved name is listed")
}

func checkListsItself(p *prober, rec *recorder) {
	rec.expect(slices.Contains(entryNames(p.listedOperations), "introspect"), p.operationsList,
		"the list of operations lacks introspect")
}

func checkUnknownName(p *prober, rec *recorder) {
	for _, member := range []string{"operation", "type"} {
		x := p.callIntrospect(p.introspectTool, member+"s", "no_such_name")
		value, there := any(nil), false
		if data, ok := x.answer.data.(map[string]any); ok {
			value, there = data[member]
		}
		if x.unreadable() {
			rec.unjudged("the answer about the %s no_such_name can be read neither as success nor as failure", member)
			continue
		}
		rec.expect(x.answer.success && there && value == nil, x,
			"asked for the %s no_such_name, introspect must succeed with data.%s null", member, member)
	}
}

func checkUnknownQuery(p *prober, rec *recorder) {
	x := p.callIntrospect(p.introspectTool, "no_such_query", "")
	const what = "the query no_such_query"
	switch {
	case x.unreadable():
		rec.unjudged("the answer to %s can be read neither as success nor as failure", what)
	case x.answer.success:
		rec.fail(exchanges(x), "%s must fail, and succeeds", what)
	case x.answer.code == "" || x.answer.message == "":
		rec.fail(exchanges(x), "%s fails, and must do so with an error of code and message", what)
	default:
		rec.expect(x.answer.details == nil, x, "%s fails with details, which errors of introspect must not have", what)
	}
}

func checkStable(p *prober, rec *recorder) {
	x := p.callIntrospect(p.introspectTool, "operations", "")
	if len(p.listedOperations) == 0 {
		rec.skip("no operation is listed")
		return
	}
	again, _, ok := p.readEntries(x, "operations")
	if !x.answer.success || !ok {
		rec.fail(exchanges(x), "asked for the operations again, introspect does not list them")
		return
	}
	rec.expect(equal(p.rawOperations, again), x, "the list of operations is another one than before")
}
