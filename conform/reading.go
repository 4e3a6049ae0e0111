package conform

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// entry is one operation or type in a list of introspect.
type entry struct {
	name   string
	object map[string]any // nil: the list holds its name only
}

// entryKeys are the members that name an entry, the one of the protocol first.
var entryKeys = []string{
	"name", "operation", "element_name", "elementName", "operation_name", "operationName", "type_name", "typeName", "op",
	"id",
}

// readEntries reads the list with a name in the data of an answer, wherever it is; false: there is none.
func (p *prober) readEntries(x *exchange, member string) (any, []entry, bool) {
	raw, place := any(nil), ""
	switch data := x.answer.data.(type) {
	case []any:
		raw, place = data, "it is 'data' itself"
	case map[string]any:
		raw = data[member]
		for _, other := range []string{"items", "list", "results", "result", "data"} {
			if inner, ok := data[other].(map[string]any); raw == nil && ok && inner[member] != nil {
				raw, place = inner[member], fmt.Sprintf("in 'data.%s.%s'", other, member)
			}
			if list, ok := data[other].([]any); raw == nil && ok {
				raw, place = list, fmt.Sprintf("in 'data.%s'", other)
			}
		}
	}
	switch list := raw.(type) {
	case []any:
		if place != "" && member == "operations" {
			p.deviate(listPlace, place, x)
		}
		return raw, p.entriesOf(list, x), true
	case map[string]any:
		p.deviate(entryMap, "", x)
		var all []entry
		for _, name := range slices.Sorted(maps.Keys(list)) {
			object, _ := list[name].(map[string]any)
			all = append(all, entry{name, object})
		}
		return raw, all, true
	}
	return nil, nil, false
}

func (p *prober) entriesOf(list []any, x *exchange) []entry {
	var all []entry
	for _, item := range list {
		if name, ok := item.(string); ok {
			p.deviate(entryText, "", x)
			all = append(all, entry{name: name})
			continue
		}
		object, ok := item.(map[string]any)
		if !ok {
			continue
		}
		each := entry{object: object}
		for _, key := range entryKeys {
			if each.name, _ = object[key].(string); each.name != "" {
				if key != "name" {
					p.deviate(entryKey, "'"+key+"'", x)
				}
				break
			}
		}
		all = append(all, each)
	}
	return all
}

// distinctNames returns the names of entries that have one, each once, in their order.
func distinctNames(list []entry) []string {
	seen := map[string]bool{"": true}
	var all []string
	for _, each := range list {
		if !seen[each.name] {
			seen[each.name] = true
			all = append(all, each.name)
		}
	}
	return all
}

// aliases are the names under which servers write members of the protocol.
type aliases map[string][]string

var (
	operationAliases = aliases{
		"name":              entryKeys[1:],
		"semantic_category": {"semanticCategory", "category"},
		"mcpTool":           {"mcp_tool", "tool", "toolName"},
		"endpoint":          {"endpointFamily", "endpoint_family", "family"},
		"parameters":        {"params", "arguments", "inputSchema", "input_schema"},
		"returns":           {"returnType", "return_type", "returnsType"},
		"computed_fields":   {"computedFields"},

		"relationship_capabilities": {"relationshipCapabilities"},
	}
	paramAliases = aliases{
		"minLength": {"min_length"}, "maxLength": {"max_length"}, "minimum": {"min"}, "maximum": {"max"},
		"default": {"defaultValue", "default_value"}, "enum": {"allowedValues", "allowed_values", "enumValues"},
		"description": {"desc"},
	}
	typeAliases = aliases{
		"name": entryKeys[1:], "fields": {"properties"}, "values": {"enum", "enumValues"}, "members": {"types", "oneOf"},
	}
)

// canonical returns an object with the members of the protocol under their own names.
func (p *prober) canonical(object map[string]any, known aliases, x *exchange) map[string]any {
	changed := maps.Clone(object)
	for _, name := range slices.Sorted(maps.Keys(known)) {
		if _, there := object[name]; there {
			continue
		}
		for _, other := range known[name] {
			if value, there := object[other]; there {
				changed[name] = value
				if name != "name" {
					p.deviate(memberNames, fmt.Sprintf("'%s' for '%s'", other, name), x)
				}
				break
			}
		}
	}
	return changed
}

// readOperation reads the details of an operation.
func (p *prober) readOperation(name string, object map[string]any, x *exchange) *operation {
	object = p.canonical(object, operationAliases, x)
	o := &operation{Name: name, Endpoint: textMember(object, "endpoint"), Tool: textMember(object, "mcpTool"),
		Description: textMember(object, "description")}
	permissions, _ := object["permissions"].(map[string]any)
	o.destructive = permissions["destructive"] == true
	o.dangerSaid = dangerIn(object)
	o.Parameters = p.readParams(object["parameters"], x)
	switch returns := object["returns"].(type) {
	case string:
		o.Returns.Name = returns
	case map[string]any:
		o.Returns.Name, o.Returns.Kind = textMember(returns, "name", "type"), textMember(returns, "kind")
	}
	for _, each := range objects(object["computed_fields"]) {
		if name := textMember(each, "name"); name != "" {
			o.Computed = append(o.Computed, computedField{
				Name: strings.TrimPrefix(name, computedMember+"."), Type: p.typeName(textMember(each, "type"), x),
				Filterable: each["filterable"] == true, Sortable: each["sortable"] == true,
			})
		}
	}
	if each, ok := object["relationship_capabilities"].(map[string]any); ok {
		most, _ := intMember(each, "max_depth")
		o.Relationships = &relationshipCapabilities{
			Supported: each["supported"] == true, Directions: texts(each["directions"]),
			Types: texts(each["relationship_types"]), MaxDepth: most,
		}
	}
	examples, _ := object["examples"].([]any)
	for _, each := range examples {
		shown, ok := each.(map[string]any)
		if !ok {
			o.exampleTexts++
			p.deviate(exampleText, "", x)
			continue
		}
		request, ok := shown["request"].(map[string]any)
		if !ok {
			request = shown
		}
		e := example{operation: textMember(request, "operation"), description: textMember(shown, "description")}
		e.params, _ = request["params"].(map[string]any)
		o.Examples = append(o.Examples, e)
	}
	o.Category = strings.ToUpper(textMember(object, "semantic_category"))
	if slices.Contains(categoryNames, o.Category) {
		return o
	}
	o.Category = ""
	for _, from := range []struct{ what, word string }{
		{"The endpoint", o.Endpoint}, {"The family in the tool's name", family(o.Tool)},
	} {
		if word := strings.ToUpper(from.word); o.Category == "" && slices.Contains(categoryNames, word) {
			o.Category = word
			p.deviate(derived, from.what, x)
		}
	}
	if o.Category == "" && permissions["readOnly"] == true {
		o.Category = "READ"
		p.deviate(derived, "READ for what has the permission 'readOnly'", x)
	}
	return o
}

var categoryNames = []string{"CREATE", "READ", "UPDATE", "DELETE", "EXECUTE"}

// readParams reads parameters or fields: a list of objects, an object by name, or a JSON Schema.
func (p *prober) readParams(value any, x *exchange) []param {
	var all []param
	switch value := value.(type) {
	case []any:
		for _, each := range value {
			if object, ok := each.(map[string]any); ok {
				all = append(all, p.readParam(textMember(object, "name"), object, x))
			} else if name, ok := each.(string); ok {
				p.deviate(paramsForm, "a list of names", x)
				all = append(all, param{Name: name})
			}
		}
	case map[string]any:
		form := "an object with a member for each"
		required := map[string]bool{}
		properties, ok := value["properties"].(map[string]any)
		if ok || value["type"] == "object" {
			form = "a JSON Schema"
			for _, name := range texts(value["required"]) {
				required[name] = true
			}
		} else {
			properties = value
		}
		p.deviate(paramsForm, form, x)
		for _, name := range slices.Sorted(maps.Keys(properties)) {
			object, ok := properties[name].(map[string]any)
			if !ok {
				object = map[string]any{"type": properties[name]}
			}
			d := p.readParam(name, object, x)
			d.Required = d.Required || required[name]
			all = append(all, d)
		}
	}
	return all
}

func (p *prober) readParam(name string, object map[string]any, x *exchange) param {
	object = p.canonical(object, paramAliases, x)
	d := param{
		Name: name, Description: textMember(object, "description"), Default: object["default"],
		Pattern: textMember(object, "pattern"), Format: textMember(object, "format"),
		Minimum: numberMember(object, "minimum"), Maximum: numberMember(object, "maximum"),
		Required: object["required"] == true || object["optional"] == false,
	}
	switch written := object["type"].(type) {
	case string:
		d.written = written
	case []any:
		d.written = strings.Join(slices.DeleteFunc(texts(written), func(t string) bool { return t == "null" }), " | ")
	}
	d.Type = p.typeName(d.written, x)
	d.Enum, _ = object["enum"].([]any)
	if n, ok := intMember(object, "minLength"); ok {
		d.MinLength = n
	}
	if n, ok := intMember(object, "maxLength"); ok {
		d.MaxLength = &n
	}
	switch items := object["items"].(type) {
	case map[string]any:
		item := p.readParam("", items, x)
		d.Items = &item
	case string:
		d.Items = &param{Type: p.typeName(items, x), written: items}
	}
	if properties, ok := object["properties"].(map[string]any); ok {
		d.Fields = p.readParams(map[string]any{"properties": properties, "required": object["required"]}, x)
	}
	return d
}

// typeName returns the name in the protocol of a basic type that a server calls by another one.
func (p *prober) typeName(written string, x *exchange) string {
	names := alternatives(written)
	for i, name := range names {
		base := strings.TrimRight(name, "[]")
		basic := otherTypeNames[strings.ToLower(base)]
		if slices.Contains(basicTypes, strings.ToLower(base)) {
			basic = strings.ToLower(base)
		}
		if basic == "" || basic == base || p.types[base] != nil || p.typeListed[base] {
			continue
		}
		p.deviate(typeNames, fmt.Sprintf("'%s' for '%s'", base, basic), x)
		names[i] = basic + name[len(base):]
	}
	return strings.Join(names, " | ")
}

var otherTypeNames = map[string]string{
	"int": "integer", "int32": "integer", "int64": "integer", "long": "integer", "uint64": "integer", "float": "number",
	"float64": "number", "double": "number", "bool": "boolean", "str": "string", "text": "string", "list": "array",
	"dict": "object", "map": "object", "record": "object",
}

func numberMember(object map[string]any, name string) *json.Number {
	number, ok := object[name].(json.Number)
	if !ok {
		return nil
	}
	return &number
}

func intMember(object map[string]any, name string) (int, bool) {
	number, _ := object[name].(json.Number)
	n, err := strconv.Atoi(string(number))
	return n, err == nil && n >= 0
}

// readType reads the details of a type.
func (p *prober) readType(name string, object map[string]any, x *exchange) *typeDetails {
	object = p.canonical(object, typeAliases, x)
	return &typeDetails{
		Name: name, Kind: textMember(object, "kind"), Values: texts(object["values"]),
		Fields: p.readParams(object["fields"], x), Members: texts(object["members"]),
	}
}

// texts returns the strings in a list.
func texts(list any) []string {
	items, _ := list.([]any)
	var all []string
	for _, item := range items {
		if text, ok := item.(string); ok {
			all = append(all, text)
		}
	}
	return all
}

// objects returns the objects in a list.
func objects(list any) []map[string]any {
	items, _ := list.([]any)
	var all []map[string]any
	for _, item := range items {
		if object, ok := item.(map[string]any); ok {
			all = append(all, object)
		}
	}
	return all
}
