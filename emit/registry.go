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
	added := &receiver{Receiver: r, pointer: r.Pointer, param: g.names.unique(name, name+"Value")}
	g.receivers = append(g.receivers, added)
	return added
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
	p.open("return ", aql, ".NewRegistry([]", aql, ".Operation{")
	for _, c := range g.calls {
		g.handle(p, c)
	}
	types := g.wireTypes
	if len(g.pkg.Types) == 0 {
		types = "nil"
	}
	p.shut("}, ", types, ")")
	p.shut("}")
}

// handle writes the function that ties a definition to its handler.
func (g *generator) handle(p *printer, c *call) {
	h := c.handler
	aql := g.names.use(pathAQL, "aql")
	ctx, request := "ctx", "request"
	for _, name := range []*string{&ctx, &request} {
		if *name == h.Func {
			*name += "Value"
		}
	}
	var arguments []string
	if h.Context {
		arguments = append(arguments, ctx)
	} else {
		ctx = "_"
	}
	requestType := "struct{}"
	switch {
	case h.Request.Text != "":
		requestType = g.goType(h.Request)
		if h.RequestPointer {
			arguments = append(arguments, request)
		} else {
			arguments = append(arguments, "*"+request)
		}
	case c.arguments != "":
		requestType = c.arguments
		for i, argument := range h.Arguments {
			text := request + "." + argument.Field
			if h.Variadic && i == len(h.Arguments)-1 {
				text += "..."
			}
			arguments = append(arguments, text)
		}
	default:
		request = "_"
	}
	function := h.Func
	if c.receiver != nil {
		function = c.receiver.param + "." + h.Func
	}
	kind, result := "Do", "error"
	if h.Result.Text != "" {
		kind, result = "Handle", "("+g.goType(h.Result)+", error)"
	}
	p.open(aql, ".", kind, "(&", c.definition, ", func(", ctx, " ", g.names.use(pathContext, "context"), ".Context, ", request, " *", requestType, ") ", result, " {")
	p.line("return ", function, "(", strings.Join(arguments, ", "), ")")
	p.shut("}),")
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
