package emit

import (
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/model"
)

// allocate writes that the request has a body, also where no parameter is in it. It returns the pointer to the request.
func (g *generator) allocate(p *printer, h *model.Handler, asserted, request string) string {
	field := request + "." + h.Adopted.Body.Field
	p.line(request, " := ", asserted)
	p.open("if ", field, " == nil {")
	p.line(field, " = new(", g.goType(h.Adopted.Body.Type), ")")
	p.shut("}")
	return request
}

// withStatus writes the call of a function whose result has an HTTP status, which may be that of a failure.
func (g *generator) withStatus(p *printer, a *model.Adopted, call string, names map[string]string) {
	result, err := names["result"], names["err"]
	g.checked(p, result, err, call)
	value := "nil"
	if a.Field != "" {
		value = result + "." + a.Field
	}
	p.open("if ", result, ".", a.Status, " >= 400 {")
	p.line("return ", g.gen("Failed"), "(", result, ".", a.Status, ", ", value, ")")
	p.shut("}")
	p.line("return ", value, ", nil")
}

// checked writes the call of a function with a result and an error, and returns the error.
func (g *generator) checked(p *printer, result, err, call string) {
	p.line(result, ", ", err, " := ", call)
	p.open("if ", err, " != nil {")
	p.line("return nil, ", err)
	p.shut("}")
}

// responses writes the call of a function with a type for each of its responses. One that the function cannot return
// is a failure without a status.
func (g *generator) responses(p *printer, a *model.Adopted, call string, names map[string]string) {
	response := names["response"]
	g.checked(p, response, names["err"], call)
	cases := printer{indent: p.indent}
	bound := false
	for i := range a.Responses {
		r := &a.Responses[i]
		value := g.held(r, response)
		status := strconv.Itoa(r.Status)
		if r.Code != "" {
			status = response + "." + r.Code
		}
		cases.line("case ", g.goType(r.Type), ":")
		cases.indent++
		switch {
		case !r.Success:
			cases.line("return ", g.gen("Failed"), "(", status, ", ", value, ")")
		case r.Empty && a.Nullable.Text != "":
			cases.line("return (*", g.goType(a.Nullable), ")(nil), nil")
		case r.Empty:
			cases.line("return nil, nil")
		case a.Nullable.Text != "":
			cases.line("return new(", value, "), nil")
		default:
			cases.line("return ", value, ", nil")
		}
		cases.indent--
		bound = bound || !r.Success && (r.Code != "" || value != "nil") || r.Success && !r.Empty
	}
	variable := response + ".(type)"
	if bound {
		variable = response + " := " + variable
	}
	p.line("switch ", variable, " {")
	p.text = append(p.text, cases.text...)
	p.line("}")
	p.line("return ", g.gen("Failed"), "(0, ", response, ")")
}

// held returns the expression for what a response holds.
func (g *generator) held(r *model.Response, response string) string {
	if r.Empty {
		return "nil"
	}
	value := response
	if r.Value != "" {
		value += "." + r.Value
	}
	if r.Convert.Text == "" {
		return value
	}
	convert := g.goType(r.Convert)
	if strings.HasPrefix(convert, "*") {
		convert = "(" + convert + ")"
	}
	return convert + "(" + value + ")"
}
