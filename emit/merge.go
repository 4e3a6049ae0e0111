package emit

import (
	"strings"

	"github.com/aqltag/aqltag/model"
)

// The fields of a struct that a request is read into where its handler takes only a part of it: what the handler takes,
// and the changes of an update that merges. The scanner says so in the parameters.
const (
	wrappedRequest = "request"
	mergedInput    = "input"
)

// requestOf returns the type that a handler's parameters are read into: its request struct, or the struct of its
// arguments.
func (g *generator) requestOf(c *call) string {
	if c.handler.Request.Text != "" {
		return g.goType(c.handler.Request)
	}
	return c.arguments
}

// changesStruct writes the struct that the request of an update is read into.
func (g *generator) changesStruct(p *printer, c *call) {
	m, resource := c.handler.Merge, g.requestOf(c)
	if m.Input != "" {
		resource = g.goType(m.Resource)
	}
	p.line()
	p.comment(c.changes + " are what " + c.handler.Func + " changes of what " + m.Get.Func + " returns.")
	p.open("type ", c.changes, " struct {")
	p.columns([]column{
		{left: wrappedRequest, right: g.requestOf(c)},
		{left: mergedInput, right: g.names.use(pathAQL, "aql") + ".Patch[" + resource + "]"},
	}, "")
	p.shut("}")
}

// merge writes how an update reads the resource and merges its changes into it, and returns what its handler takes.
func (g *generator) merge(p *printer, c *call, names map[string]string) (arguments []string) {
	h, m := c.handler, c.handler.Merge
	arg, current, whole := names["arguments"], names["current"], names["whole"]
	check := func() {
		p.open("if ", names["err"], " != nil {")
		p.line("return nil, ", names["err"])
		p.shut("}")
	}
	p.line(names["changes"], " := ", names["request"], ".(*", c.changes, ")")
	p.line(arg, " := &", names["changes"], ".", wrappedRequest)
	targets, fails := []string{current, names["err"]}, true
	if m.Get.Adopted != nil {
		targets, _, _ = g.targets(m.Get.Adopted, current, names["err"])
		fails = m.Get.Adopted.Fails
	}
	p.line(strings.Join(targets, ", "), " := ", g.getterCall(m, names))
	if fails {
		check()
	}
	if m.GetPointer && len(m.Copies) > 0 {
		aql := g.names.use(pathAQL, "aql")
		p.open("if ", current, " == nil {")
		p.line("return nil, ", aql, ".Errorf(", aql, `.CodeResourceNotFound, "Resource not found")`)
		p.shut("}")
	}
	source := current
	switch {
	case m.Input == "":
		source = arg
		g.conditional(p, m, names)
	case len(m.Copies) > 0:
		source = "&" + names["resource"]
		p.line("var ", names["resource"], " ", g.goType(m.Resource))
	case !m.GetPointer:
		source = "&" + current
	}
	g.copies(p, m, strings.TrimPrefix(source, "&"), current)
	p.line(whole, ", ", names["err"], " := ", names["changes"], ".", mergedInput, ".Merged(", source, ")")
	check()
	switch {
	case m.Input == "":
		arg = whole
	case m.InputPointer:
		p.line(arg, ".", m.Input, " = ", whole)
	default:
		p.line(arg, ".", m.Input, " = *", whole)
	}
	if m.Input != "" {
		g.conditional(p, m, names)
	}
	if h.Request.Text != "" {
		if h.RequestPointer {
			return []string{arg}
		}
		return []string{"*" + arg}
	}
	for i, argument := range h.Arguments {
		text := arg + "." + argument.Field
		if h.Variadic && i == len(h.Arguments)-1 {
			text += "..."
		}
		arguments = append(arguments, text)
	}
	return arguments
}

// getterCall returns the call of the handler that reads the resource.
func (g *generator) getterCall(m *model.Merge, names map[string]string) string {
	from := func(field string) string {
		for _, id := range m.Identifiers {
			if id.To == field {
				return names["arguments"] + "." + id.From
			}
		}
		return ""
	}
	var arguments []string
	if m.Get.Context {
		arguments = append(arguments, names["ctx"])
	}
	if m.Get.Request.Text != "" {
		var fields members
		for _, id := range m.Identifiers {
			fields.add(id.To, from(id.To))
		}
		request := g.goType(m.Get.Request) + "{" + fields.String() + "}"
		if m.Get.RequestPointer {
			request = "&" + request
		}
		arguments = append(arguments, request)
	}
	for i, argument := range m.Get.Arguments {
		value, last := from(argument.Field), m.Get.Variadic && i == len(m.Get.Arguments)-1
		switch {
		case value != "" && last:
			value += "..."
		case value == "" && last:
			continue
		case value == "":
			value = "nil"
		}
		arguments = append(arguments, value)
	}
	var r *receiver
	if m.Get.Receiver != nil {
		r = g.receiver(m.Get.Receiver)
	}
	return g.called(&m.Get, r, names) + "(" + strings.Join(arguments, ", ") + ")"
}

// copies writes the assignments of the fields that the resource gets from what was read.
func (g *generator) copies(p *printer, m *model.Merge, to, from string) {
	var left, right []string
	for _, field := range m.Copies {
		left, right = append(left, to+"."+field.To), append(right, from+"."+field.From)
	}
	if len(left) > 0 {
		p.line(strings.Join(left, ", "), " = ", strings.Join(right, ", "))
	}
}

// conditional writes the assignment of the version that was read to the if_match of a request that names none.
func (g *generator) conditional(p *printer, m *model.Merge, names map[string]string) {
	if m.Version == nil {
		return
	}
	match := names["arguments"] + "." + m.Version.To
	p.open("if ", match, ` == "" {`)
	p.line(match, " = ", names["current"], ".", m.Version.From)
	p.shut("}")
}
