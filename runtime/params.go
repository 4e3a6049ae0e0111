package aql

import (
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/wire"
)

// tokenParam is the parameter that carries a confirmation token; underscoreToken is its metadata spelling (requirements
// T-01).
const (
	tokenParam      = "confirmation_token"
	underscoreToken = "_confirmation"
)

// presented is the confirmation token that a request carries, in either spelling.
type presented struct {
	token    string
	conflict bool // given twice, with different values
	notText  string
}

// paramValue is a parameter with the text of its value, kept for operations that ask for confirmation.
type paramValue struct{ name, text string }

// readParams decodes the parameters, those inside params first: they win over members beside it (requirements REQ-RF-05).
func (x *exchange) readParams(data string, call call) *Error {
	r := &x.reader
	params := x.envelope.params
	if params == "" {
		params = "{}"
	}
	r.Reset(params, wire.Limits{})
	r.Object()
	for r.Next() {
		x.readMember(r, call, true)
	}
	if x.envelope.beside {
		x.problems = append(x.problems, r.Problems()...)
		x.inside = len(x.given)
		r.Reset(data, wire.Limits{})
		r.Object()
		for r.Next() {
			x.readMember(r, call, false)
		}
	}
	call.complete(r)
	x.problems = append(x.problems, r.Problems()...)
	if x.presented.notText != "" {
		return invalidType(tokenParam, "string", x.presented.notText, "")
	}
	if x.twice != "" {
		return failure("VALIDATION_DUPLICATE_PARAM", "Duplicate parameter '"+x.twice+"' in request. Send it once, under one of its names.",
			detail{"param_name", x.twice})
	}
	if len(x.problems) > 0 || len(x.unknown) > 0 {
		return x.refuse()
	}
	return nil
}

func (x *exchange) readMember(r *wire.Reader, call call, inside bool) {
	o := x.operation
	name := r.Name()
	switch {
	case name == underscoreToken, name == tokenParam && o.gated && !o.ownsToken:
		x.present(r)
		return
	case strings.HasPrefix(name, "_"), !inside && (name == "operation" || name == "params"):
		r.Skip()
		return
	}
	canonical := name
	if original, ok := o.aliases[name]; ok {
		canonical = original
	}
	if x.envelope.beside || o.aliases != nil {
		if !inside && slices.Contains(x.given[:x.inside], canonical) {
			r.Skip()
			return
		}
		if slices.Contains(x.given[x.inside:], canonical) {
			x.twice = canonical // under its name and an alias: the reader finds equal names itself
		}
		x.given = append(x.given, canonical)
	}
	start := r.Offset()
	if !call.member(r) {
		x.unknown = append(x.unknown, name)
		r.Skip()
		return
	}
	if o.gated {
		x.values = append(x.values, paramValue{canonical, strings.TrimSpace(r.Text(start, r.Offset()))})
	}
}

// present takes note of a confirmation token. An empty one counts as none: an agent that has no token yet may fill in the
// field all the same.
func (x *exchange) present(r *wire.Reader) {
	p := &x.presented
	switch kind := r.Kind(); kind {
	case "null":
		r.Skip()
	case "string":
		token, _ := r.String()
		p.conflict = p.conflict || p.token != "" && token != "" && p.token != token
		if token != "" {
			p.token = token
		}
	default:
		p.notText = kind
		r.Skip()
	}
}

// value returns the text of a parameter as the handler will see it: what was sent, else the default.
func (x *exchange) value(name string) (string, bool) {
	for _, v := range x.values {
		if v.name == name && v.text != "null" {
			return v.text, true
		}
	}
	if param, ok := x.operation.definition.Param(name); ok && param.Default != "" {
		return param.Default, true
	}
	return "", false
}

// canonicalParams is the canonical form of all parameters after defaults: what a confirmation token is bound to
// (requirements REQ-CT-03, T-60).
func (x *exchange) canonicalParams() []byte {
	canonical := []byte{'{'}
	for _, param := range x.operation.definition.Params {
		text, ok := x.value(param.Name)
		if !ok {
			continue
		}
		if len(canonical) > 1 {
			canonical = append(canonical, ',')
		}
		canonical = append(canonical, '"')
		canonical = append(canonical, param.Name...)
		canonical = append(canonical, `":`...)
		canonical = wire.Canonical(canonical, text)
	}
	return append(canonical, '}')
}
