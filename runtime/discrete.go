package aql

import "bytes"

// decodeParams reads a message that is nothing but the parameters of the operation that the tool stands for: see
// ModeDiscrete. A client may leave out arguments where there are none.
func (d *decoder) decodeParams(data []byte, m *message) *Error {
	q, r := &m.request, &d.reader
	q.operation = d.directory.operations[d.directory.discrete[d.tool]]
	if q.operation == nil {
		return unknownTool(d.tool)
	}
	if text := bytes.TrimSpace(data); len(text) == 0 || string(text) == "null" {
		data = []byte("{}")
	}
	q.envelope = envelope{
		operation: q.operation.definition.Name, operationKind: "string", paramsKind: "object", decoded: true,
	}
	r.ResetBytes(data, d.limits.wire())
	if kind := r.Kind(); kind != "object" {
		r.Skip()
		r.End()
		if fault := r.Fault(); fault != nil {
			return faultFailure(fault, d.limits, q.operation)
		}
		m.notAnObject = true
		return invalidType("params", "object", kind, "")
	}
	d.begin(q)
	d.readParams(r, q)
	r.End()
	if fault := r.Fault(); fault != nil {
		return faultFailure(fault, d.limits, q.operation)
	}
	return d.finish(r, q, "")
}
