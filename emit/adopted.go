package emit

import (
	"slices"
	"strings"

	"github.com/aqltag/aqltag/model"
)

// function returns how code of the package mentions a handler that is a function.
func (g *generator) function(h *model.Handler) string {
	if h.Adopted == nil || h.Adopted.Package.Path == "" {
		return h.Func
	}
	return g.names.use(h.Adopted.Package.Path, h.Adopted.Package.Name) + "." + h.Func
}

// adoptedCall writes the call of an adopted function, and returns of its results the one that agents get, and its
// error.
func (g *generator) adoptedCall(p *printer, a *model.Adopted, call string, names map[string]string) {
	plain := a.Field == "" && len(a.Results) == 1 || a.Field == "" && len(a.Results) == 2 && a.Fails && a.Value == 0
	switch {
	case a.Responses != nil:
		g.responses(p, a, call, names)
	case a.Status != "":
		g.withStatus(p, a, call, names)
	case len(a.Results) == 0:
		p.line(call)
		p.line("return nil, nil")
	case plain && a.Fails && a.Value == 0:
		p.line("return ", call)
	case plain && a.Fails:
		p.line("return nil, ", call)
	case plain && a.Value == 0:
		p.line("return ", call, ", nil")
	default:
		targets, value, err := g.targets(a, names["result"], names["err"])
		if value == "" && err == "" {
			p.line(strings.Join(targets, ", "), " = ", call)
		} else {
			p.line(strings.Join(targets, ", "), " := ", call)
		}
		if a.Field != "" && err != "" {
			p.open("if ", err, " != nil {")
			p.line("return nil, ", err)
			p.shut("}")
			err = ""
		}
		if a.Field != "" {
			value += "." + a.Field
		}
		p.line("return ", orNil(value), ", ", orNil(err))
	}
}

func orNil(name string) string {
	if name == "" {
		return "nil"
	}
	return name
}

// targets lists what the results of an adopted function are assigned to. value and err are those that are used; empty:
// there is none.
func (g *generator) targets(a *model.Adopted, result, fault string) (targets []string, value, err string) {
	targets = slices.Repeat([]string{"_"}, len(a.Results))
	if a.Value >= 0 {
		value, targets[a.Value] = result, result
	}
	if a.Fails {
		err, targets[len(targets)-1] = fault, fault
	}
	return targets, value, err
}

// adoptedSignature returns the type of an adopted function, with the receiver in front of its own parameters. It
// returns false if that type has no name here.
func (g *generator) adoptedSignature(a *model.Adopted, params []string) (string, bool) {
	for _, t := range slices.Concat(a.Params, a.Results) {
		if t.Text == "" {
			return "", false
		}
	}
	for i, t := range a.Params {
		text := g.goType(t)
		if a.Variadic && i == len(a.Params)-1 {
			text = "..." + strings.TrimPrefix(text, "[]")
		}
		params = append(params, text)
	}
	results := make([]string, len(a.Results))
	for i, t := range a.Results {
		results[i] = g.goType(t)
	}
	text := "func(" + strings.Join(params, ", ") + ")"
	switch len(results) {
	case 0:
		return text, true
	case 1:
		return text + " " + results[0], true
	default:
		return text + " (" + strings.Join(results, ", ") + ")", true
	}
}
