package aql

import (
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// tokenParam is the parameter that carries a confirmation token; underscoreToken is its metadata spelling (requirements
// T-01).
const (
	tokenParam      = "confirmation_token"
	underscoreToken = "_confirmation"
	continuation    = "_quota_continue"
)

// presented is the tokens that a request carries, that for confirmation in either spelling.
type presented struct {
	gate.Presented
	wrong   string // parameter whose value is no text
	notText string // its kind
}

// paramValue is a parameter with the text of its value, kept for operations that ask for confirmation.
type paramValue struct{ name, text string }

// begin makes ready for the parameters of the operation.
func (x *exchange) begin() {
	into := x.room
	if into == nil {
		into = &x.slots
	}
	x.call = x.operation.newCall(into)
	x.presented, x.values, x.problems, x.unknown = presented{}, x.values[:0], x.problems[:0], x.unknown[:0]
}

// readParams decodes the params object ahead: parameters, a confirmation token, metadata.
func (x *exchange) readParams(r *wire.Reader) {
	r.SetOrigin()
	r.Object()
	for {
		known, more := x.call.next(r)
		switch {
		case !more:
			return
		case !known:
			x.readStranger(r)
		case x.operation.kept:
			x.keep(r)
		}
	}
}

// readBeside decodes the member at which r stands, which is beside params.
func (x *exchange) readBeside(r *wire.Reader) {
	switch known := x.call.member(r); {
	case !known:
		x.readStranger(r)
	case x.operation.kept:
		x.keep(r)
	}
}

// keep keeps the text of the parameter that was just read, for what a confirmation token is bound to.
func (x *exchange) keep(r *wire.Reader) {
	name, text := r.Member()
	if original, ok := x.operation.aliases[name]; ok {
		name = original
	}
	x.values = append(x.values, paramValue{name, text})
}

// readStranger reads a member that is no parameter of the operation.
func (x *exchange) readStranger(r *wire.Reader) {
	name := r.Name()
	switch {
	case !r.Novel():
	case name == underscoreToken, name == tokenParam && x.operation.gated, name == continuation && x.operation.kept:
		x.present(r, name)
	case strings.HasPrefix(name, "_"):
		r.Skip()
	default:
		if len(x.unknown) < mostUnknown {
			x.unknown = append(x.unknown, name)
		}
		r.Skip()
	}
}

// mostUnknown is how many unknown names an answer lists: as many as there are problems of one kind.
const mostUnknown = 1000

// judge refuses parameters with which something is wrong.
func (x *exchange) judge() *Error {
	if x.presented.notText != "" {
		return invalidType(x.presented.wrong, "string", x.presented.notText, "")
	}
	if len(x.problems) > 0 || len(x.unknown) > 0 {
		return x.refuse()
	}
	return nil
}

// present takes note of a token. An empty one counts as none: an agent that has no token yet may fill in the field all the
// same.
func (x *exchange) present(r *wire.Reader, name string) {
	p := &x.presented
	into := &p.Token
	if name == continuation {
		into = &p.Continuation
	}
	switch kind := r.Kind(); kind {
	case "null":
		r.Skip()
	case "string":
		token, _ := r.String()
		p.Conflict = p.Conflict || *into != "" && token != "" && *into != token
		if token != "" {
			*into = token
		}
	default:
		p.wrong, p.notText = name, kind
		if name == underscoreToken {
			p.wrong = tokenParam
		}
		r.Skip()
	}
}

// value returns the text of a parameter as the handler will see it: what was sent, else the default. Of one that was sent
// twice the first counts, as it does for the handler (requirements REQ-RF-05), also where it is null; null is absence, but
// for types that tell the two apart.
func (x *exchange) value(name string) (string, bool) {
	params := x.operation.definition.Params
	at := slices.IndexFunc(params, func(p gen.Param) bool { return p.Name == name })
	if at < 0 {
		return "", false
	}
	for _, v := range x.values {
		if v.name != name {
			continue
		}
		if v.text != "null" || x.call.has(at) {
			return v.text, true
		}
		break
	}
	return params[at].Default, params[at].Default != ""
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
