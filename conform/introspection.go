package conform

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// discovery is all that a server reports about itself.
type discovery struct {
	tools          []Tool // those of the adapter
	prefix         string
	introspectTool string // the tool through which introspect is called
	version        string // of the specification
	protocol       map[string]any
	operations     []*operation
	introspect     *operation // nil: not listed
	types          map[string]*typeDetails

	operationsList, typesList     *exchange
	listedOperations, listedTypes []map[string]any
	details                       []*detail // of operations
	typeDetails                   []*detail
	unreadable                    []string // a sentence about each entry whose details cannot be read
}

// detail is the answer of introspect about one name.
type detail struct {
	name     string
	exchange *exchange
	value    map[string]any // nil: the answer has none
}

// param is a parameter, a field of a type, or an element.
type param struct {
	Name        string       `json:"name"`
	Type        string       `json:"type"`
	Required    bool         `json:"required"`
	Description string       `json:"description"`
	Default     any          `json:"default"`
	Enum        []any        `json:"enum"`
	Minimum     *json.Number `json:"minimum"`
	Maximum     *json.Number `json:"maximum"`
	MinLength   int          `json:"minLength"`
	MaxLength   *int         `json:"maxLength"`
	Pattern     string       `json:"pattern"`
	Format      string       `json:"format"`
	Items       *param       `json:"items"`
}

// readOnly reports whether the description of a field says that an update cannot set it.
func (d *param) readOnly() bool {
	text := strings.ToLower(d.Description)
	return strings.Contains(text,
		"read-only") || strings.Contains(text, "readonly") || strings.Contains(text, "append-only")
}

type operation struct {
	Name        string  `json:"name"`
	Category    string  `json:"semantic_category"`
	Endpoint    string  `json:"endpoint"`
	Tool        string  `json:"mcpTool"` // resolve sets it to one that is listed
	Description string  `json:"description"`
	Parameters  []param `json:"parameters"`
	Permissions struct {
		Destructive bool `json:"destructive"`
	} `json:"permissions"`
	Returns struct {
		Name string `json:"name"`
		Kind string `json:"kind"`
	} `json:"returns"`
	Examples []struct {
		Request struct {
			Operation string         `json:"operation"`
			Params    map[string]any `json:"params"`
		} `json:"request"`
	} `json:"examples"`
	danger int
}

func (o *operation) param(name string) *param {
	i := slices.IndexFunc(o.Parameters, func(d param) bool { return d.Name == name })
	if i < 0 {
		return nil
	}
	return &o.Parameters[i]
}

func (o *operation) required() []param {
	return slices.DeleteFunc(slices.Clone(o.Parameters), func(d param) bool { return !d.Required })
}

type typeDetails struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`
	Values  []string `json:"values"`
	Fields  []param  `json:"fields"`
	Members []string `json:"members"`
}

// toolName matches the tools of an adapter (MCP-AQL MCP integration §2.1).
var toolName = regexp.MustCompile(`^(.+_)?mcp_aql(?:_([a-z0-9_]+))?$`)

// family returns the endpoint family in a tool's name; empty for the tool of single mode.
func family(tool string) string {
	m := toolName.FindStringSubmatch(tool)
	if m == nil {
		return ""
	}
	return m[2]
}

// mode returns semantic, single or all, by the tools that the server lists.
func (d *discovery) mode() string {
	single, semantic := false, false
	for _, tool := range d.tools {
		if family(tool.Name) == "" {
			single = true
		} else {
			semantic = true
		}
	}
	switch {
	case single && semantic:
		return "all"
	case single:
		return "single"
	}
	return "semantic"
}

func (d *discovery) operation(name string) *operation {
	i := slices.IndexFunc(d.operations, func(o *operation) bool { return o.Name == name })
	if i < 0 {
		return nil
	}
	return d.operations[i]
}

// capability returns a flag of _protocol.capabilities.
func (d *discovery) capability(name string) bool {
	capabilities, _ := d.protocol["capabilities"].(map[string]any)
	on, _ := capabilities[name].(bool)
	return on
}

// findTools finds the tools of the adapter.
func (p *prober) findTools() error {
	tools, err := p.server.Tools(p.ctx)
	if err != nil {
		return fmt.Errorf("conform: listing the tools: %w", err)
	}
	var prefixes []string
	for _, tool := range tools {
		m := toolName.FindStringSubmatch(tool.Name)
		if m == nil || p.options.Prefix != "" && m[1] != p.options.Prefix {
			continue
		}
		if !slices.Contains(prefixes, m[1]) {
			prefixes = append(prefixes, m[1])
		}
		p.tools = append(p.tools, tool)
	}
	switch {
	case len(p.tools) == 0 && p.options.Prefix != "":
		return fmt.Errorf("%w; the prefix asked for is %q", ErrNoAdapter, p.options.Prefix)
	case len(p.tools) == 0:
		return ErrNoAdapter
	case len(prefixes) > 1:
		return fmt.Errorf("conform: the server holds several adapters; say which by its prefix, one of %q", prefixes)
	}
	p.prefix = prefixes[0]
	return nil
}

// discover collects all that the server reports about itself.
func (p *prober) discover() error {
	if err := p.findTools(); err != nil {
		return err
	}
	candidates := slices.Clone(p.tools)
	slices.SortStableFunc(candidates, func(a, b Tool) int { return introspectRank(a.Name) - introspectRank(b.Name) })
	for _, tool := range candidates {
		x := p.callIntrospect(tool.Name, map[string]any{"query": "operations"})
		if p.stopped != nil {
			return fmt.Errorf("conform: asking tool %s for the operations: %w", tool.Name, p.stopped)
		}
		if x.answer.success {
			p.introspectTool, p.operationsList = tool.Name, x
			break
		}
		if p.operationsList == nil {
			p.operationsList = x
		}
	}
	if p.introspectTool == "" {
		return fmt.Errorf("conform: no MCP-AQL tool answers introspect with a list of operations; tool %s answers %s",
			p.operationsList.tool, summary(p.operationsList))
	}
	data, _ := p.operationsList.answer.data.(map[string]any)
	p.protocol, _ = data["_protocol"].(map[string]any)
	p.version, _ = p.protocol["version"].(string)
	p.listedOperations = objects(data["operations"])
	for _, name := range namesOf(p.listedOperations) {
		d := p.fetchDetail("operations", "operation", name)
		p.details = append(p.details, d)
		var o operation
		if err := decode(d.value, &o); err != nil || d.value == nil {
			p.unreadable = append(p.unreadable, fmt.Sprintf("The details of operation %s cannot be read", name))
			continue
		}
		p.resolve(&o)
		p.operations = append(p.operations, &o)
	}
	p.introspect = p.operation("introspect")
	p.typesList = p.callIntrospect(p.introspectTool, map[string]any{"query": "types"})
	data, _ = p.typesList.answer.data.(map[string]any)
	p.listedTypes = objects(data["types"])
	p.types = map[string]*typeDetails{}
	for _, name := range namesOf(p.listedTypes) {
		d := p.fetchDetail("types", "type", name)
		p.typeDetails = append(p.typeDetails, d)
		var t typeDetails
		if err := decode(d.value, &t); err != nil || d.value == nil {
			p.unreadable = append(p.unreadable, fmt.Sprintf("The details of type %s cannot be read", name))
			continue
		}
		p.types[name] = &t
	}
	if p.stopped != nil {
		return fmt.Errorf("conform: introspecting: %w", p.stopped)
	}
	p.findResources()
	return nil
}

// introspectRank orders tools by how likely they answer introspect.
func introspectRank(tool string) int {
	switch family(tool) {
	case "read", "discover", "inspect", "observe", "search":
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
	for _, name := range []string{o.Tool, p.prefix + "mcp_aql_" + o.Endpoint, p.prefix + "mcp_aql", p.introspectTool} {
		if known(name) {
			o.Tool = name
			break
		}
	}
	o.danger = p.dangerOf(o)
}

func (p *prober) callIntrospect(tool string, params map[string]any) *exchange {
	return p.call(tool, map[string]any{"operation": "introspect", "params": params})
}

func (p *prober) fetchDetail(query, member, name string) *detail {
	x := p.callIntrospect(p.introspectTool, map[string]any{"query": query, "name": name})
	data, _ := x.answer.data.(map[string]any)
	value, _ := data[member].(map[string]any)
	return &detail{name, x, value}
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

// namesOf returns the distinct names of objects, in their order.
func namesOf(list []map[string]any) []string {
	var all []string
	for _, object := range list {
		if name, ok := object["name"].(string); ok && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	return all
}

// decode reads a parsed value into a struct.
func decode(value any, into any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, into); err != nil {
		return errors.New("it has another shape")
	}
	return nil
}

// summary returns the answer of an exchange on one line, cut after 300 bytes.
func summary(x *exchange) string {
	text := x.reply.Text
	if x.reply.Fault != "" {
		text = x.reply.Fault
	}
	const most = 300
	if len(text) > most {
		text = text[:most] + "…"
	}
	return strings.Join(strings.Fields(text), " ")
}
