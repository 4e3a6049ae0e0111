package aql

import (
	"strings"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

const (
	// tokenParam is the parameter that carries a confirmation token, and underscoreToken its spelling as metadata.
	tokenParam      = "confirmation_token"
	underscoreToken = "_confirmation"
	// continuation is the metadata that carries the token to go on with behind the pause threshold of a quota.
	continuation = "_quota_continue"
)

// begin makes a request ready to take in the parameters of its operation.
func (d *decoder) begin(q *request) {
	q.call = q.operation.newCall(&q.slots)
	q.tokens, q.values = tokens{}, q.values[:0]
	d.problems, d.unknown = d.problems[:0], d.unknown[:0]
}

// readParams decodes the params object ahead: parameters, tokens, metadata.
func (d *decoder) readParams(r *wire.Reader, q *request) {
	r.SetOrigin()
	r.Object()
	for {
		known, more := q.call.next(r)
		switch {
		case !more:
			return
		case !known:
			d.readOther(r, q)
		case q.operation.keepsValues:
			q.keepValue(r)
		}
	}
}

// readTopLevel decodes the member that r has reached, which is outside of params.
func (d *decoder) readTopLevel(r *wire.Reader, q *request) {
	switch known := q.call.member(r); {
	case !known:
		d.readOther(r, q)
	case q.operation.keepsValues:
		q.keepValue(r)
	}
}

// readOther reads a member that is not a parameter of the operation.
func (d *decoder) readOther(r *wire.Reader, q *request) {
	name := r.Name()
	switch {
	case !r.CheckDuplicate():
	case name == underscoreToken, name == tokenParam && q.operation.confirmable,
		name == continuation && q.operation.keepsValues:
		q.tokens.read(r, name)
	case name == waitMember:
		q.readWait(r)
	case strings.HasPrefix(name, "_"):
		r.Skip()
	default:
		if len(d.unknown) < maxUnknown {
			d.unknown = append(d.unknown, name)
		}
		r.Skip()
	}
}

// maxUnknown is how many unknown names an answer lists: as many as there are problems of one kind.
const maxUnknown = 1000

// read reads the token that is the value of the member of this name. An empty one counts as none: an agent that has no
// token yet may fill in the field all the same.
func (t *tokens) read(r *wire.Reader, name string) {
	into := &t.Token
	if name == continuation {
		into = &t.Continuation
	}
	switch kind := r.Kind(); kind {
	case "null":
		r.Skip()
	case "string":
		token, _ := r.String()
		t.Conflict = t.Conflict || *into != "" && token != "" && *into != token
		if token != "" {
			*into = token
		}
	default:
		t.notText, t.kind = name, kind
		if name == underscoreToken {
			t.notText = tokenParam
		}
		r.Skip()
	}
}
