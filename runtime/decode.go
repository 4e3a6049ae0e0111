package aql

import (
	"bytes"
	"context"
	"strings"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// decoder is the first stage of a message: it turns bytes into requests whose parameters are decoded and valid.
type decoder struct {
	ctx         context.Context // of the message
	directory   *directory
	tool        string
	limits      Limits
	legacyCodes bool
	lenient     bool // unknown parameters are ignored

	reader   wire.Reader
	second   wire.Reader    // for a text that is read a second time
	searches int            // how many unknown names of operations were compared with those there are
	problems []wire.Problem // with the parameters of the request that is being read
	unknown  []string       // names in it that are not parameters
}

// reset forgets the message and keeps the memory.
func (d *decoder) reset() {
	d.reader.Reset("", wire.Limits{})
	if d.second.Offset() > 0 {
		d.second.Reset("", wire.Limits{})
	}
	clear(d.problems[:cap(d.problems)])
	clear(d.unknown[:cap(d.unknown)])
	d.ctx, d.directory, d.tool, d.searches = nil, nil, "", 0
	d.problems, d.unknown = d.problems[:0], d.unknown[:0]
}

// decode reads a message once, strictly: a fault of its bytes is found wherever it is, and is reported before anything
// else. Then come the envelope, the operation, its endpoint, and the parameters. Those are decoded in passing, if the
// request names its operation before them and has all of them in params. The items of a batch have failures of their
// own.
func (d *decoder) decode(data []byte, m *message) *Error {
	if limit := d.limits.RequestSize; len(data) > limit {
		return tooLarge("request_size", limit, len(data), "bytes")
	}
	m.size = len(data)
	if d.directory.discrete != nil {
		return d.decodeParams(data, m)
	}
	r := &d.reader
	r.ResetBytes(data, d.limits.wire())
	kind := r.Kind()
	if kind == "" && len(bytes.TrimLeft(data, " \t\r\n")) == 0 {
		kind = "nothing"
	}
	if kind != "object" {
		r.Skip()
		r.End()
		if fault := r.Fault(); fault != nil && kind != "nothing" {
			return faultFailure(fault, d.limits, nil)
		}
		m.notAnObject = true
		f := invalidType("request", "object", kind, "")
		return f.WithDetail("hint", `Send {"operation":…,"params":{…}}, or {"operations":[…]} for several`)
	}
	r.Object()
	d.readEnvelope(r, &m.request, m)
	r.End()
	if fault := r.Fault(); fault != nil {
		return faultFailure(fault, d.limits, m.operation)
	}
	if m.batch != nil {
		return m.checkBatch()
	}
	return d.finish(r, &m.request, r.Text(0, len(data)))
}

// readEnvelope reads the members of the object that r has begun, and the parameters where it can. whole is the message
// of which q is the single request, or nil where q is an item of a batch.
func (d *decoder) readEnvelope(r *wire.Reader, q *request, whole *message) {
	e := &q.envelope
	likely := `,"operation":`
	for {
		if _, more := r.NextExpected(likely); !more {
			return
		}
		switch name := r.Name(); {
		case name == "operation" && e.operationKind == "":
			e.operationKind, likely = r.Kind(), `,"params":`
			if e.operationKind == "string" {
				e.operation, _ = r.String()
				e.unroutable = d.route(q)
			} else {
				r.Skip()
			}
		case name == "params" && e.paramsKind == "":
			e.paramsKind, likely = r.Kind(), ""
			if e.paramsKind != "object" || q.operation == nil {
				r.Skip()
				continue
			}
			e.decoded = true
			d.begin(q)
			d.readParams(r, q)
		case name == "operation", name == "params":
			r.Duplicate(name)
		case !r.CheckDuplicate():
		case name == "operations" && !e.item:
			d.readBatch(r, whole)
		case name == indexMember && e.item:
			r.Skip()
		case name == "_request_id" && r.Kind() == "string":
			id, _ := r.String()
			if whole != nil { // the label of an item means nothing
				whole.id = id
			}
		case name == waitMember:
			q.readWait(r)
		default:
			e.topLevel = e.topLevel || name == underscoreToken || name == continuation || !strings.HasPrefix(name, "_")
			r.Skip()
		}
	}
}

// route finds the operation of a request, and refuses one that another tool reaches.
func (d *decoder) route(q *request) *Error {
	o, failed := d.directory.find(d.tool, q.envelope.operation, &d.searches)
	if failed != nil {
		q.misrouted = o
		return failed
	}
	q.operation = o
	return nil
}

// finish checks an envelope whose bytes are sound, decodes the parameters that were not decoded in passing, and reports
// what is wrong with them. data is the text of the envelope.
func (d *decoder) finish(r *wire.Reader, q *request, data string) *Error {
	e := &q.envelope
	if failed := e.check(); failed != nil {
		return failed
	}
	if e.unroutable != nil {
		return e.unroutable
	}
	if !e.decoded || e.topLevel {
		r = &d.second
		d.begin(q)
		d.readAgain(r, q, data)
	}
	q.call.complete(d.ctx, r)
	d.problems = r.TakeProblems(d.problems)
	if fault := r.Fault(); fault != nil { // a parameter under two of its names
		return faultFailure(fault, d.limits, q.operation)
	}
	if q.tokens.notText != "" {
		return invalidType(q.tokens.notText, "string", q.tokens.kind, "")
	}
	if failed := q.checkWait(); failed != nil {
		return failed
	}
	if len(d.unknown) > 0 && len(d.problems) == 0 && d.lenient {
		q.ignored = cloned(d.unknown)
		return nil
	}
	if len(d.problems) > 0 || len(d.unknown) > 0 {
		return (&invalid{q.operation, d.problems, d.unknown, d.legacyCodes, d.lenient, e.paramsKind == ""}).failure()
	}
	return nil
}

// readAgain decodes the parameters inside params, and then those at the top level: the former win.
func (d *decoder) readAgain(r *wire.Reader, q *request, data string) {
	e := &q.envelope
	r.Reset("{}", wire.Limits{})
	data = strings.Clone(data)
	if e.paramsKind == "object" {
		r.Reset(data, wire.Limits{})
		r.Object()
		for r.NextUnchecked() {
			if r.Name() == "params" {
				d.readParams(r, q)
			} else {
				r.Skip()
			}
		}
	}
	if e.topLevel {
		d.problems = r.TakeProblems(d.problems)
		q.call.keepFirst()
		r.Reset(data, wire.Limits{})
		r.Object()
		for r.NextUnchecked() {
			if name := r.Name(); name == "operation" || name == "params" || name == indexMember && e.item {
				r.Skip()
			} else {
				d.readTopLevel(r, q)
			}
		}
	}
}

// check reports an envelope that is not one of a request.
func (e *envelope) check() *Error {
	switch {
	case e.operationKind == "", e.operationKind == "null", e.operationKind == "string" && e.operation == "":
		return failure(CodeMissingParam, "Missing required parameter 'operation'. Expected: string "+
			"(the name of an operation; call 'introspect' with query 'operations' for the list)",
			detail{"param_name", "operation"})
	case e.operationKind != "string":
		return invalidType("operation", "string", e.operationKind, "")
	case e.paramsKind != "" && e.paramsKind != "null" && e.paramsKind != "object":
		return invalidType("params", "object", e.paramsKind, "")
	}
	return nil
}
