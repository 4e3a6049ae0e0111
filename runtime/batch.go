package aql

import (
	"fmt"
	"strconv"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// batch is a request with several operations (MCP-AQL operations §7).
type batch struct {
	items     []*item
	malformed *Error // why none of them is to run
}

// item is one request of a batch.
type item struct {
	request
	text     string // of the item
	failed   *Error // why it cannot run
	requires *Error // the failure that requires its confirmation
}

// codeBatch is the failure of a batch as a whole (MCP-AQL operations §7.2).
const codeBatch Code = "BATCH_VALIDATION_ERROR"

// indexMember is the position that an item had in an earlier batch, which halted. Items may have it, so that they can
// be sent again as they were reported.
const indexMember = "index"

// readBatch reads the value of the operations member of a message. Parameters are decoded in passing, as those of a
// single request are.
func (d *decoder) readBatch(r *wire.Reader, m *message) {
	b := &batch{}
	m.batch = b
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
		d.readItem(r, b)
	}
	if len(b.items) == 0 && b.malformed == nil {
		b.malformed = failure(codeBatch, "Batch request must contain one or more operations")
	}
}

// refuse records the first item that makes a batch malformed.
func (b *batch) refuse(index int, why string) {
	if b.malformed == nil {
		b.malformed = failure(codeBatch, "Batch request is malformed: item "+strconv.Itoa(index)+" "+why+". Nothing was run.")
	}
}

// readItem reads an element of operations, which has the envelope of a single request.
func (d *decoder) readItem(r *wire.Reader, b *batch) {
	it := &item{request: request{envelope: envelope{item: true}}}
	start := r.Offset()
	r.Object()
	d.readEnvelope(r, &it.request, nil)
	it.text = r.Text(start, r.Offset())
	if e := &it.envelope; r.Fault() == nil {
		if e.operationKind != "string" || e.operation == "" {
			b.refuse(len(b.items), "does not name its operation")
		} else {
			it.failed = d.finish(r, &it.request, it.text)
		}
	}
	b.items = append(b.items, it)
}

// checkBatch reports a batch whose bytes are sound, but which is not one.
func (m *message) checkBatch() *Error {
	e := &m.envelope
	switch {
	case e.operationKind != "":
		return failure(codeBatch, "Request must hold either 'operation' or 'operations', not both")
	case e.paramsKind != "" || e.topLevel:
		return failure(codeBatch, "Batch request must hold nothing but 'operations': parameters belong into its items")
	}
	return m.batch.malformed
}

// ofBatch is the failure of a batch as a whole. It has no details: the message says where the fault is.
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
