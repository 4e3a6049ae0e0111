package aql

import (
	"strings"

	"github.com/aqltag/aqltag/runtime/wire"
)

// envelope is what stands around the parameters of a request (MCP-AQL core §4.1).
type envelope struct {
	operation     string
	operationKind string // JSON kind of the operation member; empty: absent
	params        string // text of the params object; empty: absent or null
	paramsKind    string
	requestID     string
	beside        bool // parameters stand beside params
}

// readEnvelope reads the whole request once, strictly: what is wrong with its bytes is found here, wherever it is, and
// the later stages read text that is known to be sound.
func (x *exchange) readEnvelope(data string) *Error {
	r := &x.reader
	r.Reset(data, x.adapter.options.Limits.wire())
	kind := "nothing"
	if strings.TrimLeft(data, " \t\r\n") != "" {
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
	e := &x.envelope
	r.Object()
	for r.Next() {
		switch name := r.Name(); {
		case name == "operation":
			e.operationKind = r.Kind()
			if e.operationKind == "string" {
				e.operation, _ = r.String()
			} else {
				r.Skip()
			}
		case name == "params":
			e.paramsKind = r.Kind()
			e.params = r.Raw()
		case name == "_request_id" && r.Kind() == "string":
			e.requestID, _ = r.String()
		default:
			e.beside = true
			r.Skip()
		}
	}
	r.End()
	if fault := r.Fault(); fault != nil {
		return x.faultFailure(fault)
	}
	return e.check()
}

func (e *envelope) check() *Error {
	switch {
	case e.operationKind == "", e.operationKind == "null", e.operationKind == "string" && e.operation == "":
		return failure("VALIDATION_MISSING_PARAM",
			"Missing required parameter 'operation'. Expected: string (the name of an operation; call 'introspect' with query 'operations' for the list)",
			detail{"param_name", "operation"})
	case e.operationKind != "string":
		return invalidType("operation", "string", e.operationKind, "")
	case e.paramsKind == "null":
		e.params, e.paramsKind = "", ""
	case e.paramsKind != "" && e.paramsKind != "object":
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
	operation, known := x.adapter.operations[x.envelope.operation]
	if !known {
		name := strings.Clone(x.envelope.operation)
		return failure("NOT_FOUND_OPERATION", "Unknown operation: '"+name+"'",
			detail{"operation", name}, detail{"available", x.adapter.closest(name)})
	}
	if family != "" && family != operation.family {
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
		return failure("VALIDATION_DUPLICATE_PARAM", "Duplicate parameter '"+name+"' in request. Send each name once.",
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
