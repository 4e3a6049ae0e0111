package aql

import (
	"fmt"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// batch is a request with several operations (MCP-AQL operations §7).
type batch struct {
	items     []*item
	malformed *Error // why none of them is to run
}

// item is one operation of a batch, read and not yet run.
type item struct {
	asked
	slots  slots
	name   string // of the operation
	text   string // of the item
	failed *Error // why it cannot run
	asking *Error // what asks for its confirmation
}

// codeBatch is the failure of a batch as a whole (requirements REQ-BA-13).
const codeBatch = "BATCH_VALIDATION_ERROR"

// indexMember is the place that an operation had in an earlier batch, which halted. Items may keep it, so that they can be
// sent again as they were reported (requirements REQ-BA-10).
const indexMember = "index"

// readBatch reads the value of the operations member. Parameters are decoded in passing, as those of a single operation are.
func (x *exchange) readBatch(r *wire.Reader) {
	b := &batch{}
	x.batch = b
	if r.Kind() != "array" {
		b.malformed = failure(codeBatch, "Batch request must hold a list of operations")
		r.Skip()
		return
	}
	r.Array()
	for r.NextElement() {
		if kind := r.Kind(); kind != "object" {
			b.refuse(len(b.items), "is no object")
			r.Skip()
			continue
		}
		x.readItem(r)
	}
	if len(b.items) == 0 && b.malformed == nil {
		b.malformed = failure(codeBatch, "Batch request must contain one or more operations")
	}
}

// refuse takes note of the first item that makes a batch malformed.
func (b *batch) refuse(index int, why string) {
	if b.malformed == nil {
		b.malformed = failure(codeBatch, "Batch request is malformed: item "+decimal(index)+" "+why+". Nothing was run.")
	}
}

// readItem reads an element of operations as the envelope of a single operation.
func (x *exchange) readItem(r *wire.Reader) {
	outer := x.envelope
	it := &item{}
	x.envelope, x.asked, x.room = envelope{requestID: outer.requestID}, asked{}, &it.slots
	start := r.Offset()
	r.Object()
	x.readEnvelope(r)
	it.text = r.Text(start, r.Offset())
	if e := &x.envelope; r.Fault() == nil {
		if e.operationKind != "string" || e.operation == "" {
			x.batch.refuse(len(x.batch.items), "does not name its operation")
		} else {
			it.failed = x.readRest(r, it.text)
		}
	}
	it.asked, it.name = x.asked, x.envelope.operation
	x.batch.items = append(x.batch.items, it)
	x.envelope, x.asked, x.room = outer, asked{}, nil
}

// checkBatch says why a batch whose bytes are sound is not one.
func (x *exchange) checkBatch() *Error {
	e := &x.envelope
	switch {
	case e.operationKind != "":
		return failure(codeBatch, "Request must hold either 'operation' or 'operations', not both")
	case e.paramsKind != "" || e.beside:
		return failure(codeBatch, "Batch request must hold nothing but 'operations': parameters belong into its items")
	}
	return x.batch.malformed
}

// ofBatch is the failure of a batch as a whole, which has no details (requirements T-47): the message says where.
func (e *Error) ofBatch() *Error {
	message := e.Message
	for _, d := range e.details {
		switch d.name {
		case "location":
			message += fmt.Sprintf(" In %v.", d.value)
		case "byte_offset":
			message += fmt.Sprintf(" Byte %v.", d.value)
		}
	}
	return failure(e.Code, message)
}

// writePendingParams writes the parameters of an operation that did not run, so that a client can send them again: what
// stands beside params is folded into them, and what is sensitive is left out (requirements REQ-BA-10, T-49).
func (x *exchange) writePendingParams(w *wire.Writer, it *item) {
	x.asked = it.asked
	given := make(map[string]bool)
	w.BeginObject()
	r := &x.again
	for _, inside := range []bool{true, false} {
		r.Reset(it.text, wire.Limits{})
		r.Object()
		for r.NextField() {
			name := r.Name()
			switch {
			case inside && name == "params" && r.Kind() == "object":
				r.Object()
				for r.NextField() {
					x.writePendingMember(w, r, given)
				}
			case inside, name == "operation", name == "params", name == indexMember, strings.HasPrefix(name, "_"):
				r.Skip()
			default:
				x.writePendingMember(w, r, given)
			}
		}
	}
	w.EndObject()
}

func (x *exchange) writePendingMember(w *wire.Writer, r *wire.Reader, given map[string]bool) {
	name := r.Name()
	var param gen.Param
	if x.operation != nil {
		param = x.param(name)
	}
	text := r.Raw()
	if given[name] || param.Sensitive {
		return
	}
	given[name] = true
	w.KeyEscaped(name)
	if x.operation != nil && x.operation.secretive {
		x.writeShown(w, text, name)
		return
	}
	w.Raw(text)
}

// anyEntry stands in a path for the name of a map's entry that is written like a path itself.
const anyEntry = "*"

// writeShown writes the value at a path without the sensitive members in it.
func (x *exchange) writeShown(w *wire.Writer, text, path string) {
	r := wire.NewReader(text, wire.Limits{})
	switch r.Kind() {
	case "object":
		r.Object()
		w.BeginObject()
		for r.NextField() {
			name := r.Name()
			member := path + "." + name
			if name == "" || strings.ContainsAny(name, ".[") { // the entry of a map: no field is called that
				member = path + "." + anyEntry
			}
			value := r.Raw()
			if x.param(member).Sensitive {
				continue
			}
			w.KeyEscaped(name)
			x.writeShown(w, value, member)
		}
		w.EndObject()
	case "array":
		r.Array()
		w.BeginArray()
		for r.NextElement() {
			w.Element()
			x.writeShown(w, r.Raw(), path+"[0]")
		}
		w.EndArray()
	default:
		w.Raw(text)
	}
}
