package emit

import (
	"slices"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

// call is an operation and the names that the file gives to its parts.
type call struct {
	handler   *model.Handler
	receiver  *receiver // nil for a plain function
	arguments string    // name of the struct of its arguments; empty: it needs none
	changes   string    // name of the struct of an update that merges; empty: it does not
}

// nameCalls finds the receivers, and names what the file declares.
func (g *generator) nameCalls() {
	g.constructor(model.Constructor)
	g.handlersName = g.names.unique("handlers", "aqlHandlers")
	g.typesName = g.names.unique("wireTypes", "aqlWireTypes")
	if len(g.pkg.Relations) > 0 {
		g.relationsVar = g.names.unique("relations", "aqlRelations")
	}
	for i := range g.pkg.Handlers {
		h := &g.pkg.Handlers[i]
		c := &call{handler: h}
		second := h.Func
		if h.Receiver != nil {
			c.receiver = g.receiver(h.Receiver)
			second = h.Receiver.Type + upperFirst(h.Func)
		}
		if h.Request.Text == "" && len(h.Arguments) > 0 || h.Queried != nil {
			c.arguments = g.names.unique(lowerFirst(h.Func)+"Arguments", lowerFirst(second)+"Arguments")
		}
		if h.Merge != nil {
			c.changes = g.names.unique(lowerFirst(h.Func)+"Changes", lowerFirst(second)+"Changes")
		}
		g.calls = append(g.calls, c)
	}
	g.computedReceivers()
	for i := range g.pkg.Relations {
		if r := g.pkg.Relations[i].Receiver; r != nil {
			g.receiver(r)
		}
	}
	if len(g.receivers) > 0 {
		g.constructor(model.Choosing)
	}
}

// newRegistry writes NewRegistry and, if there are receivers, NewRegistryFor.
func (g *generator) newRegistry(p *printer) {
	var typeParams, params, functions, names []string
	values := []string{g.handlersName, g.typesName}
	if len(g.pkg.Types) == 0 {
		values[1] = "nil"
	}
	choices := slices.Clone(values)
	for _, r := range g.receivers {
		for _, param := range r.TypeParams {
			typeParams = append(typeParams, param.Name+" "+g.goType(param.Constraint))
		}
		params = append(params, r.param+" "+r.goType())
		names = append(names, r.param)
		functions = append(functions,
			r.param+" func("+g.names.use(pathContext, "context")+".Context) ("+r.goType()+", error)")
		choices = append(choices, g.gen("Choose")+"("+r.param+")")
		value := r.param
		if r.generic() {
			value = r.methods + "(" + value + ")"
		}
		values = append(values, value)
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
	p.open("func NewRegistry", generic, "(", strings.Join(params, ", "), ") *", g.gen("Registry"), " {")
	p.line("return ", g.gen("NewRegistry"), "(", strings.Join(values, ", "), ")", g.about(), g.related(), g.codecs())
	p.shut("}")
	if len(names) == 0 {
		return
	}
	p.line()
	verb := " return"
	if len(names) == 1 {
		verb += "s"
	}
	p.comment(model.Choosing + " returns the same operations, carried out by what " + enumerate(names) + verb +
		" for each call.")
	p.open("func ", model.Choosing, generic, "(", strings.Join(functions, ", "), ") *", g.gen("Registry"), " {")
	p.line("return ", g.gen(model.Choosing), "(", strings.Join(choices, ", "), ")", g.about(), g.related(), g.codecs())
	p.shut("}")
}

// about returns the call that says what the service is; empty: nothing says it.
func (g *generator) about() string {
	if g.pkg.Description == "" {
		return ""
	}
	return ".About(" + quote(g.pkg.Description) + ")"
}

// codecs returns the call that adds the codec of messages to a registry; empty: there are none.
func (g *generator) codecs() string {
	if !g.pkg.Messages {
		return ""
	}
	protojson := g.names.use(pathProtoJSON, "protojson")
	return ".With(" + g.gen("CodecOf") + "(" + protojson + ".Marshal, " + protojson + ".Unmarshal))"
}

// constructor takes the name of a generated constructor.
func (g *generator) constructor(name string) {
	if g.names.used[name] {
		g.fail("package %s declares %s, which is the name of the generated constructor", g.pkg.Name, name)
	}
	g.names.used[name] = true
}

// handlers writes the operations.
func (g *generator) handlers(p *printer) {
	p.open("var ", g.handlersName, " = []", g.gen("Handler"), "{")
	for _, c := range g.calls {
		g.operation(p, c)
	}
	p.shut("}")
}

// operation writes the members of one operation that are set.
func (g *generator) operation(p *printer, c *call) {
	o := &c.handler.Operation
	var head members
	head.text("Name", o.Name)
	head.add("Category", g.constant(o.Category, string(o.Category)))
	head.text("Family", o.Family)
	head.add("Danger", g.constant(o.Danger, string(o.Danger)))
	if o.DangerSource != gen.DangerFromCategory {
		head.add("DangerSource", g.constant(o.DangerSource, string(o.DangerSource)))
	}
	head.text("Description", o.Description)
	p.open("{", head.String(), ",")

	var lines []column
	line := func(m members) {
		if len(m) > 0 {
			key, rest, _ := strings.Cut(m.String(), " ")
			lines = append(lines, column{key, rest, len(m) > 1})
		}
	}
	var gate, facts, types members
	if len(o.Reasons) > 0 {
		gate.add("Reasons", stringsLiteral(o.Reasons))
	}
	gate.text("Confirm", o.Confirm)
	gate.text("TypeToConfirm", o.TypeToConfirm)
	line(gate)
	params := make([]string, len(o.Params))
	for i := range o.Params {
		params[i] = g.field(&o.Params[i])
	}
	line(g.list("Params", "Field", params, p.indent))
	examples := make([]string, len(o.Examples))
	for i, example := range o.Examples {
		m := members{"Params: " + quote(example.Params)}
		m.text("Description", example.Description)
		examples[i] = "{" + m.String() + "}"
	}
	line(g.list("Examples", "Example", examples, p.indent))
	facts.add("Timeout", g.duration(o.Timeout))
	facts.text("Deprecated", o.Deprecated)
	facts.text("Replacement", o.Replacement)
	line(facts)
	call, request, result := g.call(c, p.indent)
	types.text("Returns", o.Returns.Name)
	types.text("Source", o.Source)
	types.add("Request", request)
	types.add("Result", result)
	types.add("Receivers", g.receiversOf(c))
	line(types)
	if l := o.Lifecycle; l != nil {
		line(members{g.execution(l, call)})
	} else {
		line(members{"Call: " + call})
	}
	p.columns(lines, ",")
	p.text = append(p.text[:len(p.text)-len(",\n")], "},\n"...)
	p.indent--
}

// list returns a member that is a list, a line for each element; nothing if there are no elements.
func (g *generator) list(key, elementType string, elements []string, indent int) members {
	if len(elements) == 0 {
		return nil
	}
	p := printer{indent: indent}
	p.open("[]", g.gen(elementType), "{")
	for _, element := range elements {
		p.line(element, ",")
	}
	p.shut("}")
	return members{key + ": " + p.cut()}
}

// call returns the function that calls a handler, and nil pointers to the types it deals with. Lines after the first
// are indented.
func (g *generator) call(c *call, indent int) (function, request, result string) {
	h := c.handler
	names := make(map[string]string)
	for _, name := range locals {
		names[name] = g.localName(name)
	}
	ctxParam, receiversParam, requestParam := "_", "_", names["request"]
	var arguments []string
	if h.Context {
		ctxParam = names["ctx"]
		arguments = append(arguments, ctxParam)
	}
	p := printer{indent: indent + 1}
	requestType := "struct{}"
	switch {
	case h.Merge != nil:
		requestType = c.changes
		arguments = append(arguments, g.merge(&p, c, names)...)
	case h.Queried != nil && h.Request.Text != "":
		requestType = c.arguments
		p.line(names["arguments"], " := ", requestParam, ".(*", requestType, ")")
		argument := names["arguments"] + "." + wrappedRequest
		if h.RequestPointer {
			argument = "&" + argument
		}
		arguments = append(arguments, argument)
	case h.Request.Text != "":
		requestType = g.goType(h.Request)
		argument := requestParam + ".(*" + requestType + ")"
		if h.Adopted != nil && h.Adopted.Body.Field != "" {
			argument = g.allocate(&p, h, argument, names["arguments"])
		}
		if !h.RequestPointer {
			argument = "*" + argument
		}
		arguments = append(arguments, argument)
	case c.arguments != "":
		requestType = c.arguments
		p.line(names["arguments"], " := ", requestParam, ".(*", requestType, ")")
		for i, argument := range h.Arguments {
			text := names["arguments"] + "." + argument.Field
			if h.Variadic && i == len(h.Arguments)-1 {
				text += "..."
			}
			arguments = append(arguments, text)
		}
	default:
		requestParam = "_"
	}
	signature := ""
	if h.Run {
		run := g.freeLocal("run")
		arguments = append(arguments, run)
		signature = ", " + run + " *" + g.names.use(pathAQL, "aql") + ".Run"
	}
	if h.Adopted != nil && h.Adopted.Wrap.Func != "" {
		wrap, last := h.Adopted.Wrap, len(arguments)-1
		arguments[last] = g.names.use(wrap.Package.Path, wrap.Package.Name) + "." + wrap.Func + "(" + arguments[last] + ")"
	}
	called := g.called(h, c.receiver, names)
	if c.receiver != nil || h.Merge != nil && h.Merge.Get.Receiver != nil {
		receiversParam = names["receivers"]
	}
	if h.Merge != nil && h.Merge.Get.Context {
		ctxParam = names["ctx"]
	}
	first := "nil, "
	if h.Result.Text != "" {
		result, first = "(*"+g.goType(h.Result)+")(nil)", ""
	}
	switch {
	case h.Queried != nil:
		ctxParam = names["ctx"]
		g.queriedCall(&p, h, called+"("+strings.Join(arguments, ", ")+")", names)
	case h.Adopted != nil:
		g.adoptedCall(&p, h.Adopted, called+"("+strings.Join(arguments, ", ")+")", names)
	default:
		p.line("return ", first, called, "(", strings.Join(arguments, ", "), ")")
	}
	body := string(p.text)
	p = printer{indent: indent}
	context := g.names.use(pathContext, "context")
	p.line("func(", ctxParam, " ", context, ".Context, ", receiversParam, " []any, ", requestParam, " any", signature,
		") (any, error) {")
	p.text = append(p.text, body...)
	p.line("}")
	return p.cut(), "(*" + requestType + ")(nil)", result
}

// localName returns a name for a parameter of a generated function. One that the package declares would be hidden: the
// function may mention it.
func (g *generator) localName(name string) string {
	for {
		if _, taken := slices.BinarySearch(g.pkg.Taken, name); !taken {
			return name
		}
		name += "Value"
	}
}

// called returns the function or the method of a receiver that a handler is.
func (g *generator) called(h *model.Handler, r *receiver, names map[string]string) string {
	if r == nil {
		return g.function(h)
	}
	return names["receivers"] + "[" + strconv.Itoa(r.index) + "].(" + r.asserted() + ")." + h.Func
}

// argumentStructs writes the structs into which the plain arguments of handlers, and the changes of updates, are read.
func (g *generator) argumentStructs(p *printer) {
	for _, c := range g.calls {
		if c.changes != "" {
			g.changesStruct(p, c)
		}
		if c.arguments == "" {
			continue
		}
		var rows []column
		if c.handler.Queried != nil {
			rows = g.queriedFields(c.handler)
		}
		for _, argument := range c.handler.Arguments {
			rows = append(rows, column{left: argument.Field, right: g.goType(argument.Type)})
		}
		p.line()
		p.comment(c.arguments + " are the arguments of " + c.handler.Func + ".")
		p.open("type ", c.arguments, " struct {")
		p.columns(rows, "")
		p.shut("}")
	}
}

func enumerate(names []string) string {
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
