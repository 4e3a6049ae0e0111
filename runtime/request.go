package aql

import (
	"context"
	"github.com/aqltag/aqltag/runtime/internal/gate"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// message is the content of one Call: a single request, or a batch of them.
type message struct {
	request            // of a batch: the members around its items
	batch       *batch // nil: a single request
	id          string // the client's label of the message; empty: none
	size        int    // in bytes
	notAnObject bool
}

// request is one operation to carry out, with its parameters: the only one of a message, or an item of a batch.
type request struct {
	envelope  envelope
	operation *operation // nil: none was found
	misrouted *operation // where operation is nil: the one of that name, which another tool reaches
	call      call       // nil: the parameters were not read
	tokens    tokens
	wait      asksToWait
	values    []paramValue // only for operations whose gate looks at parameters
	slots     slots
	ignored   []string // names that are not parameters, where the adapter ignores them
	lost      *Error   // the failure of a request whose handler has ended its goroutine
}

// envelope is what surrounds the parameters of a request (MCP-AQL core §4.1).
type envelope struct {
	operation     string
	operationKind string // JSON kind of the operation member; empty: absent
	paramsKind    string // JSON kind of the params member; empty: absent
	item          bool   // the request is an item of a batch
	topLevel      bool   // there are parameters outside of params
	decoded       bool   // the params object was decoded while the envelope was read
	unroutable    *Error // why there is no operation to decode it for
}

// tokens are the confirmation and continuation tokens of a request. A confirmation token has two spellings.
type tokens struct {
	gate.Presented
	notText string // the parameter whose value is not a string; empty: none
	kind    string // the JSON kind of that value
}

// paramValue is a parameter with the JSON text of its value.
type paramValue struct{ name, text string }

// call takes in the parameters of one request. It is used once, by one goroutine. An operation of the registry has a
// *handled, a built-in one a builtInCall.
type call interface {
	// next moves r to the next member of an object and decodes its value into the request. known is false, with the value
	// not read, when the operation has no parameter of that name. A parameter that comes again is a fault of r.
	next(r *wire.Reader) (known, more bool)
	// member does the same for the member that r has reached.
	member(r *wire.Reader) (known bool)
	// keepFirst makes the parameters so far win over those that follow.
	keepFirst()
	// complete reports the required parameters that are absent and fills in the defaults of the others.
	complete(ctx context.Context, r *wire.Reader)
}

// slots is memory for the calls of one request, which so allocates none of its own.
type slots struct {
	handled    handled
	introspect introspectCall
}

// reset forgets everything but the memory of the values, which it clears.
func (m *message) reset() {
	values := m.values
	clear(values[:cap(values)])
	*m = message{}
	m.values = values[:0]
}
