package aql

import (
	"bytes"
	"strings"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// envelope is what stands around the parameters of a request (MCP-AQL core §4.1).
type envelope struct {
	operation     string
	operationKind string // JSON kind of the operation member; empty: absent
	paramsKind    string // JSON kind of the params member; empty: absent
	requestID     string
	beside        bool   // parameters stand beside params
	read          bool   // the params object was decoded in passing
	misplaced     *Error // why there is no operation to decode it for
}

// read reads a request once, strictly: what is wrong with its bytes is found wherever it is, and comes before anything
// else that is wrong. Parameters are decoded in passing, so long as the request names its operation before them and
// gives none beside params.
func (x *exchange) read(request []byte) *Error {
	r := &x.reader
	r.ResetBytes(request, x.adapter.options.Limits.wire())
	kind := "nothing"
	if len(bytes.TrimLeft(request, " \t\r\n")) > 0 {
		kind = r.Kind()
	}
	if kind != "object" {
		r.Skip()
		r.End()
		if fault := r.Fault(); fault != nil && kind != "nothing" {
			return x.faultFailure(fault)
		}
		return failure("VALIDATION_INVALID_TYPE", "Parameter 'request' expected 'object', got '"+kind+"'",
			detail{"param_name", "request"}, detail{"expected_type", "object"}, detail{"actual_type", kind})
	}
	r.Object()
	x.readEnvelope(r)
	r.End()
	if fault := r.Fault(); fault != nil {
		return x.faultFailure(fault)
	}
	if x.batch != nil {
		return x.checkBatch()
	}
	return x.readRest(r, r.Text(0, len(request)))
}

// readEnvelope reads the members of the object that r has begun, and the parameters where it can.
func (x *exchange) readEnvelope(r *wire.Reader) {
	e := &x.envelope
	for r.Next() {
		switch name := r.Name(); {
		case name == "operation":
			e.operationKind = r.Kind()
			if e.operationKind == "string" {
				e.operation, _ = r.String()
				e.misplaced = x.route()
			} else {
				r.Skip()
			}
		case name == "params":
			e.paramsKind = r.Kind()
			if e.paramsKind != "object" || x.operation == nil {
				r.Skip()
				continue
			}
			e.read = true
			x.begin()
			x.readParams(r)
		case name == "operations" && x.room == nil:
			x.readBatch(r)
		case name == indexMember && x.room != nil:
			r.Skip()
		case name == "_request_id" && r.Kind() == "string":
			e.requestID, _ = r.String()
		default:
			e.beside = e.beside || name == underscoreToken || name == continuation || !strings.HasPrefix(name, "_")
			r.Skip()
		}
	}
}

// readRest says what is wrong with an envelope whose bytes are sound, and decodes the parameters that were not decoded in
// passing. data is the text of the envelope.
func (x *exchange) readRest(r *wire.Reader, data string) *Error {
	e := &x.envelope
	if failed := e.check(); failed != nil {
		return failed
	}
	if e.misplaced != nil {
		return e.misplaced
	}
	if !e.read || e.beside {
		r = &x.again
		x.begin()
		x.readAgain(r, data)
	}
	x.call.complete(r)
	x.problems = r.TakeProblems(x.problems)
	if fault := r.Fault(); fault != nil { // a parameter under two of its names
		return x.faultFailure(fault)
	}
	return x.judge()
}

// readAgain decodes the parameters inside params, and then those beside it: the former win (requirements REQ-RF-05).
func (x *exchange) readAgain(r *wire.Reader, data string) {
	r.Reset("{}", wire.Limits{})
	data = strings.Clone(data)
	if x.envelope.paramsKind == "object" {
		r.Reset(data, wire.Limits{})
		r.Object()
		for r.NextField() {
			if r.Name() == "params" {
				x.readParams(r)
			} else {
				r.Skip()
			}
		}
	}
	if x.envelope.beside {
		x.problems = r.TakeProblems(x.problems)
		x.call.outweigh()
		r.Reset(data, wire.Limits{})
		r.Object()
		for r.NextField() {
			if name := r.Name(); name == "operation" || name == "params" || name == indexMember && x.room != nil {
				r.Skip()
			} else {
				x.readBeside(r)
			}
		}
	}
}

func (e *envelope) check() *Error {
	switch {
	case e.operationKind == "", e.operationKind == "null", e.operationKind == "string" && e.operation == "":
		return failure("VALIDATION_MISSING_PARAM",
			"Missing required parameter 'operation'. Expected: string (the name of an operation; call 'introspect' with query 'operations' for the list)",
			detail{"param_name", "operation"})
	case e.operationKind != "string":
		return invalidType("operation", "string", e.operationKind, "")
	case e.paramsKind != "" && e.paramsKind != "null" && e.paramsKind != "object":
		return invalidType("params", "object", e.paramsKind, "")
	}
	return nil
}

// route finds the operation and refuses one that belongs to another endpoint family.
func (x *exchange) route() *Error {
	family, known := x.adapter.families[x.tool]
	if !known {
		return failure("NOT_FOUND_OPERATION", "Unknown tool: '"+x.tool+"'", detail{"tool", x.tool})
	}
	operation, known := x.view.operations[x.envelope.operation]
	if !known {
		name := strings.Clone(x.envelope.operation)
		return failure("NOT_FOUND_OPERATION", "Unknown operation: '"+name+"'",
			detail{"operation", name}, detail{"available", x.closest(name)})
	}
	if family != "" && family != operation.family {
		x.elsewhere = operation
		return x.endpointMismatch(operation, family)
	}
	x.operation = operation
	return nil
}

// endpointMismatch names both tools, so that a client can retry without thinking (requirements T-03).
func (x *exchange) endpointMismatch(o *operation, family string) *Error {
	expected, actual := o.family, family
	if x.adapter.surface.Profile.Name == "crude" {
		expected, actual = strings.ToUpper(expected), strings.ToUpper(actual)
	}
	name := o.definition.Name
	return failure("VALIDATION_ENDPOINT_MISMATCH",
		"Operation '"+name+"' must use "+expected+" endpoint, not "+actual,
		detail{"operation", name}, detail{"expected_endpoint", expected}, detail{"actual_endpoint", actual},
		detail{"expected_tool", o.tool}, detail{"actual_tool", x.tool})
}

// faultFailure is the failure for bytes that no operation can be read from.
func (x *exchange) faultFailure(f *wire.Fault) *Error {
	limits := x.adapter.options.Limits
	var located []detail
	if f.Location != "" {
		located = append(located, detail{"location", f.Location})
	}
	located = append(located, detail{"byte_offset", f.Offset})
	switch f.Kind {
	case wire.InvalidUTF8, wire.NUL:
		return failure("VALIDATION_INVALID_ENCODING", "Invalid character encoding in request", located...)
	case wire.TooDeep:
		return tooLarge("nesting_depth", limits.NestingDepth, f.Actual, "levels")
	case wire.StringTooLong:
		return tooLarge("string_length", limits.StringLength, f.Actual, "bytes")
	case wire.TooManyElements:
		return tooLarge("array_elements", limits.ArrayElements, f.Actual, "elements")
	case wire.DuplicateName:
		const longest = 128
		name := strings.ToValidUTF8(f.Name[:min(len(f.Name), longest)], "")
		advice := "Send each name once."
		if x.operation != nil && len(x.param(name).Aliases) > 0 {
			advice = "Send it once, under one of its names."
		}
		return failure("VALIDATION_DUPLICATE_PARAM", "Duplicate parameter '"+name+"' in request. "+advice,
			append([]detail{{"param_name", name}}, located...)...)
	default:
		return failure(codeMalformed, "Malformed JSON in request: '"+f.Detail+"'", located...)
	}
}

// codeMalformed is the one validation code that is not recoverable by calling again with other parameters: what arrived
// was no request (requirements T-34).
const codeMalformed = "VALIDATION_MALFORMED_JSON"

func tooLarge(kind string, limit, actual int, unit string) *Error {
	return failure("VALIDATION_PAYLOAD_TOO_LARGE", "Payload exceeds "+kind+" limit of "+decimal(limit),
		detail{"limit_type", kind}, detail{"limit_value", limit}, detail{"actual_value", actual}, detail{"unit", unit})
}

func invalidType(param, expected, actual, value string) *Error {
	details := []detail{{"param_name", param}, {"expected_type", expected}, {"actual_type", actual}}
	if value != "" {
		details = append(details, detail{"value", rawJSON(value)})
	}
	return failure("VALIDATION_INVALID_TYPE", "Parameter '"+param+"' expected '"+expected+"', got '"+actual+"'", details...)
}
