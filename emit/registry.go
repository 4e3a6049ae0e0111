package emit

import (
	"strings"

	"github.com/aqltag/aqltag/model"
)

// receiver is a type whose methods are handlers. NewRegistry takes one value of each.
type receiver struct {
	*model.Receiver
	pointer bool // some handler needs a pointer
	param   string
}

// goType is the type that NewRegistry takes.
func (r *receiver) goType() string {
	text := r.Type
	if len(r.TypeParams) > 0 {
		names := make([]string, len(r.TypeParams))
		for i, p := range r.TypeParams {
			names[i] = p.Name
		}
		text += "[" + strings.Join(names, ", ") + "]"
	}
	if r.pointer {
		return "*" + text
	}
	return text
}

// call is an operation on its way into the file.
type call struct {
	handler    *model.Handler
	receiver   *receiver
	definition string // name of its definition
	arguments  string // name of the struct of its arguments; empty: it needs none
}

// generic reports whether only code inside of NewRegistry can name the receiver's type.
func (c *call) generic() bool { return c.receiver != nil && len(c.receiver.TypeParams) > 0 }

// nameCalls finds the receivers and names what each operation needs.
func (g *generator) nameCalls() {
	if g.names.used["NewRegistry"] {
		g.fail("package %s declares NewRegistry, which is the name of the generated constructor", g.pkg.Name)
	}
	g.names.used["NewRegistry"] = true
	g.wireTypes = g.names.unique("wireTypes")
	for i := range g.pkg.Handlers {
		h := &g.pkg.Handlers[i]
		c := &call{handler: h}
		second := h.Func
		if h.Receiver != nil {
			c.receiver = g.receiver(h.Receiver)
			second = h.Receiver.Type + upperFirst(h.Func)
		}
		c.definition = g.names.unique(lowerFirst(h.Func)+"Operation", lowerFirst(second)+"Operation")
		if h.Request.Text == "" && len(h.Arguments) > 0 {
			c.arguments = g.names.unique(lowerFirst(h.Func)+"Arguments", lowerFirst(second)+"Arguments")
		}
		g.calls = append(g.calls, c)
	}
}

func (g *generator) receiver(r *model.Receiver) *receiver {
	for _, known := range g.receivers {
		if known.Type == r.Type {
			known.pointer = known.pointer || r.Pointer
			return known
		}
	}
	name := lowerFirst(r.Type)
	added := &receiver{Receiver: g.renameTypeParams(r), pointer: r.Pointer, param: g.names.unique(name, name+"Value")}
	g.receivers = append(g.receivers, added)
	return added
}

// renameTypeParams gives the type parameters of a receiver names that NewRegistry, which declares those of all receivers,
// does not use otherwise.
func (g *generator) renameTypeParams(r *model.Receiver) *model.Receiver {
	renamed := *r
	renamed.TypeParams = nil
	names := make(map[string]string)
	for _, param := range r.TypeParams {
		names[param.Name] = g.names.unique(param.Name, upperFirst(r.Type)+upperFirst(param.Name))
	}
	for _, param := range r.TypeParams {
		param.Name = names[param.Name]
		param.Constraint.Text = replaceIdentifiers(param.Constraint.Text, func(name string, qualifier bool) string {
			if new, ok := names[name]; ok && !qualifier {
				return new
			}
			return name
		})
		renamed.TypeParams = append(renamed.TypeParams, param)
	}
	return &renamed
}

// registry writes NewRegistry.
func (g *generator) registry(p *printer) {
	aql := g.names.use(pathAQL, "aql")
	var typeParams, params, names []string
	for _, r := range g.receivers {
		for _, param := range r.TypeParams {
			typeParams = append(typeParams, param.Name+" "+g.goType(param.Constraint))
		}
		params = append(params, r.param+" "+r.goType())
		names = append(names, r.param)
	}
	by := ""
	if len(names) > 0 {
		by = ", carried out by " + enumerate(names)
	}
	generic := ""
	if len(typeParams) > 0 {
		generic = "[" + strings.Join(typeParams, ", ") + "]"
	}
	p.comment("NewRegistry returns the operations of package " + g.pkg.Name + by + ".")
	p.open("func NewRegistry", generic, "(", strings.Join(params, ", "), ") *", aql, ".Registry {")
	for _, c := range g.calls {
		if c.generic() {
			p.line("var _ ", g.signature(c.handler, nil), " = ", c.receiver.param, ".", c.handler.Func)
		}
	}
	p.open("return ", aql, ".NewRegistry([]", aql, ".Operation{")
	for _, c := range g.calls {
		receiver := ""
		if c.receiver != nil {
			receiver = ", Receiver: " + c.receiver.param
		}
		if c.generic() {
			handler, _ := g.handler(c, p.indent)
			p.line("{Definition: &", c.definition, receiver, ", Handler: ", handler, "},")
			continue
		}
		p.line("{Definition: &", c.definition, receiver, "},")
	}
	types := g.wireTypes
	if len(g.pkg.Types) == 0 {
		types = "nil"
	}
	p.shut("}, ", types, ")")
	p.shut("}")
}

// handler is the literal of the function that calls a handler, and of the types it deals with. Lines after the first are
// indented.
func (g *generator) handler(c *call, indent int) (function, types string) {
	h := c.handler
	names := map[string]string{"ctx": "ctx", "receiver": "receiver", "request": "request", "arguments": "arguments"}
	for name := range names {
		if name == h.Func { // which it would hide
			names[name] += "Value"
		}
	}
	ctx, receiver, request := "_", "_", names["request"]
	var arguments []string
	if h.Context {
		ctx = names["ctx"]
		arguments = append(arguments, ctx)
	}
	p := printer{indent: indent + 1}
	requestType := "struct{}"
	switch {
	case h.Request.Text != "":
		requestType = g.goType(h.Request)
		argument := request + ".(*" + requestType + ")"
		if !h.RequestPointer {
			argument = "*" + argument
		}
		arguments = append(arguments, argument)
	case c.arguments != "":
		requestType = c.arguments
		p.line(names["arguments"], " := ", request, ".(*", requestType, ")")
		for i, argument := range h.Arguments {
			text := names["arguments"] + "." + argument.Field
			if h.Variadic && i == len(h.Arguments)-1 {
				text += "..."
			}
			arguments = append(arguments, text)
		}
	default:
		request = "_"
	}
	called := h.Func
	if c.receiver != nil {
		receiver = names["receiver"]
		called = receiver + ".(" + c.receiver.goType() + ")." + h.Func
	}
	result, first := "nil", "nil, "
	if h.Result.Text != "" {
		result, first = "(*"+g.goType(h.Result)+")(nil)", ""
	}
	p.line("return ", first, called, "(", strings.Join(arguments, ", "), ")")
	params := "_ " + g.names.use(pathContext, "context") + ".Context, _, _ any"
	if ctx != "_" || receiver != "_" || request != "_" {
		params = ctx + " " + g.names.use(pathContext, "context") + ".Context, " + receiver + ", " + request + " any"
	}
	body := string(p.text)
	p = printer{indent: indent}
	p.line("func(", params, ") (any, error) {")
	p.text = append(p.text, body...)
	p.line("}")
	return p.cut(), "[2]any{(*" + requestType + ")(nil), " + result + "}"
}

// arguments writes the struct into which the plain arguments of a handler are read.
func (g *generator) arguments(p *printer, c *call) {
	if c.arguments == "" {
		return
	}
	rows := make([]column, len(c.handler.Arguments))
	for i, argument := range c.handler.Arguments {
		rows[i] = column{argument.Field, g.goType(argument.Type)}
	}
	p.line()
	p.comment(c.arguments + " are the arguments of " + c.handler.Func + ".")
	p.open("type ", c.arguments, " struct {")
	p.columns(rows, "")
	p.shut("}")
}

func enumerate(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
