package aql

import (
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// codeMalformed is the one validation code from which a call with other parameters does not recover: what arrived was
// not a request.
const codeMalformed Code = "VALIDATION_MALFORMED_JSON"

// faultFailure is the failure for bytes that are not a sound request. o is the operation whose parameters were being
// read; nil: none.
func faultFailure(f *wire.Fault, limits Limits, o *operation) *Error {
	var located []detail
	if f.Location != "" {
		located = append(located, detail{"location", f.Location})
	}
	located = append(located, detail{"byte_offset", f.Offset})
	switch f.Kind {
	case wire.InvalidUTF8, wire.NUL:
		return failure("VALIDATION_INVALID_ENCODING", "Invalid character encoding in request: '"+f.Detail+"'", located...)
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
		if o != nil && len(o.param(name).Aliases) > 0 {
			advice = "Send it once, under one of its names."
		}
		return failure("VALIDATION_DUPLICATE_PARAM", "Duplicate parameter '"+name+"' in request. "+advice,
			append([]detail{{"param_name", name}}, located...)...)
	default:
		return failure(codeMalformed, "Malformed JSON in request: '"+f.Detail+"'", located...)
	}
}

func tooLarge(kind string, limit, actual int, unit string) *Error {
	return failure("VALIDATION_PAYLOAD_TOO_LARGE", "Payload exceeds "+kind+" limit of "+strconv.Itoa(limit),
		detail{"limit_type", kind}, detail{"limit_value", limit}, detail{"actual_value", actual}, detail{"unit", unit})
}

// hasRun adds to a failure that the operation has run: it is only the answer that cannot be given, for a reason.
func hasRun(f *Error, q *request, reason string) *Error {
	f.Message += ": the result of '" + q.operation.definition.Name + "' " + reason + ". The operation has run."
	if q.operation.definition.Category != gen.Read {
		f.Message += " Do not send it again to see the result."
	}
	return f
}

// invalidType is the failure for a value of the wrong JSON kind. value is its JSON text; empty: it is not repeated.
func invalidType(param, expected, actual, value string) *Error {
	details := []detail{{"param_name", param}, {"expected_type", expected}, {"actual_type", actual}}
	if value != "" {
		details = append(details, detail{"value", rawJSON(value)})
	}
	return failure(CodeInvalidType, "Parameter '"+param+"' expected '"+expected+"', got '"+actual+"'", details...)
}
