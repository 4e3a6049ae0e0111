package conform

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// discovery is all that a server reports about itself.
type discovery struct {
	tools          []Tool // those of the adapter, each once
	twice          []string
	prefix         string
	introspectTool string // the tool through which introspect is called
	noQuery        bool   // introspect takes no parameter query
	version        string // of the specification
	protocol       map[string]any
	operations     []*operation
	byName         map[string]*operation
	introspect     *operation // nil: not listed
	types          map[string]*typeDetails
	typeListed     map[string]bool

	operationsList, typesList     *exchange
	listedOperations, listedTypes []entry
	rawOperations                 any       // the list, as it is
	details                       []*detail // of operations
	detailsOf                     map[string]*detail
	typeDetails                   []*detail
	unread                        []string // operations without details that can be read
}

// detail is the answer of introspect about one name.
type detail struct {
	name     string
	listed   map[string]any // its first entry in the list; nil: it has none, or only a name
	exchange *exchange
	value    map[string]any // as the server writes it; nil: the answer has none
}

// param is a parameter, a field of a type, or an element.
type param struct {
	Name, Description string
	Type              string // in the protocol's words
	written           string // in the server's words
	Required          bool
	Default           any
	Enum              []any
	Minimum, Maximum  *json.Number
	MinLength         int
	MaxLength         *int
	Pattern, Format   string
	Items             *param
	Fields            []param // of an object that is described in place
}

// readOnly reports whether the description of a field says that an update cannot set it.
func (d *param) readOnly() bool {
	text := strings.ToLower(d.Description)
	return strings.Contains(text,
		"read-only") || strings.Contains(text, "readonly") || strings.Contains(text, "append-only")
}

type operation struct {
	Name, Description string
	Category          string // empty: not known
	Endpoint          string
	Tool              string // resolve sets it to one that is listed
	Parameters        []param
	Returns           struct{ Name, Kind string }
	Examples          []example
	Computed          []computedField
	Relationships     *relationshipCapabilities // nil: it has none
	exampleTexts      int                       // examples that are no requests
	destructive       bool                      // permissions.destructive
	dangerSaid        string
	danger            int
	indexes           map[string]int // of parameters by their names; nil: not made yet
}

// computedField is a field that is computed for a request that names it.
type computedField struct {
	Name, Type           string
	Filterable, Sortable bool
}

// path returns the path that selects a computed field.
func (f computedField) path() string { return computedMember + "." + f.Name }

// computedMember is the member of an element that has its computed fields (MCP-AQL computed fields §2).
const computedMember = "_computed"

// relationshipCapabilities say what an operation follows. What they do not say is zero.
type relationshipCapabilities struct {
	Supported         bool
	Directions, Types []string
	MaxDepth          int
}

// example is a request in the details of an operation.
type example struct {
	operation, description string
	params                 map[string]any
}

func (o *operation) param(name string) *param {
	if o.indexes == nil {
		o.indexes = make(map[string]int, len(o.Parameters))
		for i := len(o.Parameters) - 1; i >= 0; i-- { // of two of one name the first counts
			o.indexes[o.Parameters[i].Name] = i
		}
	}
	if i, ok := o.indexes[name]; ok {
		return &o.Parameters[i]
	}
	return nil
}

func (o *operation) required() []param {
	return slices.DeleteFunc(slices.Clone(o.Parameters), func(d param) bool { return !d.Required })
}

type typeDetails struct {
	Name, Kind string
	Values     []string
	Fields     []param
	Members    []string
}

// toolName matches the tools of an adapter (MCP-AQL MCP integration §2.1).
var toolName = regexp.MustCompile(`^(.+_)?mcp_aql(?:_([a-z0-9_]+))?$`)

// similarToolName matches names that stand for those of the protocol.
var similarToolName = regexp.MustCompile(`(?i)^(.+[-_.])?mcp[-_]?aql(?:[-_.]([a-z0-9_]+))?$`)

// family returns the endpoint family in a tool's name; empty for the tool of single mode.
func family(tool string) string {
	m := toolName.FindStringSubmatch(tool)
	if m == nil {
		m = similarToolName.FindStringSubmatch(tool)
	}
	if m == nil {
		return tool
	}
	return strings.ToLower(m[2])
}

// mode returns semantic, single or all, by the tools that the server lists.
func (d *discovery) mode() string {
	single, semantic := false, false
	for _, tool := range d.tools {
		if family(tool.Name) == "" || !similarToolName.MatchString(tool.Name) && len(d.tools) == 1 {
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

func (d *discovery) operation(name string) *operation { return d.byName[name] }

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
		return fmt.Errorf("conform: listing the tools: %s", Printable(err.Error()))
	}
	prefixes := p.chooseTools(tools, func(tool Tool) (string, bool) {
		m := toolName.FindStringSubmatch(tool.Name)
		return slices.Concat(m, []string{"", ""})[1], m != nil
	})
	if len(p.tools) == 0 {
		prefixes = p.chooseTools(tools, func(tool Tool) (string, bool) {
			m := similarToolName.FindStringSubmatch(tool.Name)
			return slices.Concat(m, []string{"", ""})[1], m != nil
		})
		if len(p.tools) > 0 {
			p.deviate(toolNames, "have a similar name", nil)
		}
	}
	if len(p.tools) == 0 {
		prefixes = p.chooseTools(tools, func(tool Tool) (string, bool) {
			value, _ := parse(string(tool.InputSchema))
			properties := memberOf(value, "properties")
			return "", memberOf(properties, "operation") != nil && memberOf(properties, "params") != nil
		})
		if len(p.tools) > 0 {
			p.deviate(toolNames, "take 'operation' and 'params'", nil)
		}
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
	for _, name := range p.twice {
		p.deviate(toolTwice, "'"+name+"'", nil)
	}
	return nil
}

// chooseTools sets the tools to those that are the adapter's, each once, and returns their prefixes.
func (p *prober) chooseTools(tools []Tool, choose func(tool Tool) (prefix string, ok bool)) []string {
	var prefixes []string
	seen, known := map[string]bool{}, map[string]bool{}
	for _, tool := range tools {
		prefix, ok := choose(tool)
		if !ok || p.options.Prefix != "" && prefix != p.options.Prefix {
			continue
		}
		if seen[tool.Name] {
			p.twice = append(p.twice, tool.Name)
			continue
		}
		seen[tool.Name] = true
		if !known[prefix] {
			known[prefix] = true
			prefixes = append(prefixes, prefix)
		}
		p.tools = append(p.tools, tool)
	}
	return prefixes
}

func memberOf(value any, name string) any {
	object, _ := value.(map[string]any)
	return object[name]
}

// summary returns the answer of an exchange on one line, cut after 300 characters.
func summary(x *exchange) string {
	text := x.reply.Text
	if x.reply.Fault != "" {
		text = x.reply.Fault
	}
	return clip(Printable(strings.Join(strings.Fields(text), " ")), 300)
}

// clip cuts a text after a number of characters.
func clip(text string, most int) string {
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
