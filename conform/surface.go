package conform

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Surface is what a live server says it can do, for programs that call its operations. It understands the servers that
// Run understands. A server without a tool of MCP-AQL counts as one in discrete mode: each of its tools is an
// operation. A Surface is not safe for concurrent use.
type Surface struct {
	// Discrete says that each operation is a tool of its own.
	Discrete bool
	// Operations are the operations in the order in which the server lists them, without their parameters.
	Operations []Operation

	p *prober
}

// Operation is an operation as introspection describes it (MCP-AQL introspection §4).
type Operation struct {
	Name, Description string
	// Category is the semantic category; empty: it is not known.
	Category string
	// Danger is the danger level. If DangerReported is not set, the server reports none, and this is the highest level
	// that category, permissions and name suggest.
	Danger         string
	DangerReported bool
	// Parameters, Returns and Examples are set by Surface.Operation only.
	Parameters []Parameter
	Returns    string
	Examples   []Example

	operation *operation
}

// Parameter is a parameter of an operation.
type Parameter struct {
	Name, Description string
	// Type is the name of the type, in the protocol's words where it is a basic one; empty: it is not known.
	Type     string
	Required bool
	// Enum holds the only values that are valid, each as JSON; nil: there is no such list.
	Enum []string
	// Default is the default as JSON; empty: there is none.
	Default string
	// Constraints are what else a value must keep, such as "maxLength 200".
	Constraints []string
}

// Example is a request in the description of an operation.
type Example struct {
	Description string
	Params      json.RawMessage
}

// Look reads the list of operations of a server. Of the options, Prefix and CallTimeout count. It fails as Run does,
// except that a server without a tool of MCP-AQL is one in discrete mode, unless a prefix is given.
func Look(ctx context.Context, server Server, options Options) (*Surface, error) {
	if options.CallTimeout == 0 {
		options.CallTimeout = 10 * time.Second
	}
	p := newProber(ctx, server, options)
	s := &Surface{p: p}
	err := p.findTools()
	if errors.Is(err, ErrNoAdapter) && options.Prefix == "" {
		return s, s.listTools()
	}
	if err != nil {
		return nil, err
	}
	if err := p.listOperations(); err != nil {
		return nil, err
	}
	p.protocol, _ = memberOf(p.operationsList.answer.data, "_protocol").(map[string]any)
	p.types, p.typeListed = map[string]*typeDetails{}, map[string]bool{}
	listed := firstObjects(p.listedOperations)
	for _, name := range distinctNames(p.listedOperations) {
		o := p.readOperation(name, listed[name], p.operationsList)
		p.resolve(o)
		s.Operations = append(s.Operations, p.exportOperation(o))
	}
	return s, nil
}

// listTools makes an operation of each tool.
func (s *Surface) listTools() error {
	p := s.p
	s.Discrete, p.bare = true, true
	tools, err := p.server.Tools(p.ctx)
	if err != nil {
		return fmt.Errorf("conform: listing the tools: %w", serverError{err})
	}
	if len(tools) == 0 {
		return errors.New("conform: the server has no tools")
	}
	p.types, p.typeListed = map[string]*typeDetails{}, map[string]bool{}
	known := make(map[string]bool)
	for _, tool := range tools {
		if known[tool.Name] {
			continue
		}
		known[tool.Name] = true
		schema, _ := parse(string(tool.InputSchema))
		object := map[string]any{"description": tool.Description, "inputSchema": schema}
		o := p.readOperation(tool.Name, object, nil)
		o.Tool = tool.Name
		reported := dangerText.MatchString(tool.Description)
		switch {
		case tool.ReadOnly != nil && *tool.ReadOnly:
			o.Category = "READ"
			reported = true
		case tool.Destructive != nil && !*tool.Destructive:
			o.dangerSaid = worseDanger(o.dangerSaid, "reversible")
		case tool.Destructive != nil:
			o.dangerSaid = worseDanger(o.dangerSaid, "destructive")
		}
		o.danger = p.dangerOf(o)
		exported := p.exportOperation(o)
		exported.DangerReported = exported.DangerReported || reported
		s.Operations = append(s.Operations, exported)
	}
	return nil
}

// Operation returns an operation with its parameters. It fails if the server does not answer any more.
func (s *Surface) Operation(ctx context.Context, name string) (Operation, error) {
	i := slices.IndexFunc(s.Operations, func(o Operation) bool { return o.Name == name })
	if i < 0 {
		return Operation{}, fmt.Errorf("conform: there is no operation %q", name)
	}
	p, o := s.p, s.Operations[i].operation
	p.ctx = ctx
	if !s.Discrete {
		d := p.fetchDetail("operations", "operation", name, firstObjects(p.listedOperations)[name])
		if p.stopped != nil {
			return Operation{}, fmt.Errorf("conform: introspecting: %w", p.stopped)
		}
		if d.value != nil {
			o = p.readOperation(name, d.value, d.exchange)
			o.dangerSaid = worseDanger(o.dangerSaid, dangerIn(d.listed))
			p.resolve(o)
		}
	}
	detailed := p.exportOperation(o)
	detailed.DangerReported = detailed.DangerReported || s.Operations[i].DangerReported
	for _, d := range o.Parameters {
		detailed.Parameters = append(detailed.Parameters, d.export())
	}
	detailed.Returns = o.Returns.Name
	for _, e := range o.Examples {
		if e.operation == name || e.operation == "" {
			detailed.Examples = append(detailed.Examples, Example{e.description, json.RawMessage(asJSON(e.params))})
		}
	}
	return detailed, nil
}

func (p *prober) exportOperation(o *operation) Operation {
	declared, _ := p.protocol["danger_levels"].(map[string]any)
	reported := o.dangerSaid != "" || declared[o.Name] != nil || dangerText.MatchString(o.Description) ||
		declared != nil && o.Category == "READ"
	return Operation{Name: o.Name, Description: o.Description, Category: o.Category, Danger: dangerLevels[o.danger],
		DangerReported: reported, operation: o}
}

// export returns a parameter for other programs.
func (d *param) export() Parameter {
	e := Parameter{Name: d.Name, Description: d.Description, Type: d.Type, Required: d.Required}
	for _, value := range d.Enum {
		e.Enum = append(e.Enum, asJSON(value))
	}
	if d.Default != nil {
		e.Default = asJSON(d.Default)
	}
	constrain := func(there bool, format string, args ...any) {
		if there {
			e.Constraints = append(e.Constraints, fmt.Sprintf(format, args...))
		}
	}
	constrain(d.Format != "", "format %s", d.Format)
	constrain(d.MinLength > 0, "minLength %d", d.MinLength)
	if d.MaxLength != nil {
		constrain(true, "maxLength %d", *d.MaxLength)
	}
	if d.Minimum != nil {
		constrain(true, "minimum %s", *d.Minimum)
	}
	if d.Maximum != nil {
		constrain(true, "maximum %s", *d.Maximum)
	}
	constrain(d.Pattern != "", "pattern %s", d.Pattern)
	return e
}

// Asks reports whether the server says that it asks for a confirmation itself before it carries an operation out
// (MCP-AQL danger levels §4): it has the capability. A server may ask for some operations only; where descriptions have
// a note on danger, it says so there.
func (s *Surface) Asks(o Operation) bool {
	_, note, noted := strings.Cut(o.Description, "[danger: ")
	return s.p.capability("confirmation") && (!noted || strings.Contains(note, "confirmation required"))
}

// IsText reports whether all values of a named type are texts, because introspection says that it is an enumeration.
func (s *Surface) IsText(ctx context.Context, typeName string) bool {
	if s.Discrete {
		return false
	}
	s.p.ctx = ctx
	d := s.p.fetchDetail("types", "type", typeName, nil)
	if d.value == nil {
		return false
	}
	t := s.p.readType(typeName, d.value, d.exchange)
	return strings.EqualFold(t.Kind, "enum") && len(t.Values) > 0
}
