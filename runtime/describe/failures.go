package describe

import (
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Failure is an error code with which an operation can fail, and a sentence about the reason.
type Failure struct{ Code, When string }

// CommonFailures returns the failures that are possible for every operation (MCP-AQL structured error codes §4).
func CommonFailures() []Failure {
	return []Failure{
		{"VALIDATION_MALFORMED_JSON", "The request is not JSON."},
		{"VALIDATION_INVALID_ENCODING", "The request is not UTF-8."},
		{"VALIDATION_PAYLOAD_TOO_LARGE", "The request or the answer exceeds a limit that introspection lists."},
		{"VALIDATION_UNKNOWN_PARAM", "A parameter is none of those listed; details suggest what was meant."},
		{"VALIDATION_DUPLICATE_PARAM", "A parameter is given twice, or under two of its names."},
		{"VALIDATION_ENDPOINT_MISMATCH", "The operation belongs to another tool; details name it."},
		{"NOT_FOUND_OPERATION", "There is no operation of that name."},
		{"PERMISSION_DENIED", "The caller may not do this; a policy or the service itself says so."},
		{"RATE_LIMIT_EXCEEDED", "Too many requests; details tell when to try again."},
		{"INTERNAL_ERROR", "Something failed that only the log tells about; details hold a request_id to ask for."},
	}
}

// Failures returns the failures of an operation that follow from its definition: from its parameters and its category,
// and from whether it may require confirmation. A handler can fail with other codes in addition (MCP-AQL structured
// error codes §4).
func Failures(a *gen.Definitions, o *gen.Operation, confirms bool) []Failure {
	in := rulesOf(a, o)
	identifies := slices.ContainsFunc(o.Params, func(p gen.Param) bool { return p.Required && isIdentifier(&p) })
	creates := o.Category == gen.Create
	_, conditional := o.Param("if_match")
	var list []Failure
	for _, f := range []struct {
		possible   bool
		code, when string
	}{
		{in.required, "VALIDATION_MISSING_PARAM", "A required parameter is absent or null."},
		{len(o.Params) > 0, "VALIDATION_INVALID_TYPE", "A value has another type than its parameter."},
		{in.objects, "VALIDATION_UNKNOWN_FIELD",
			"An object has a field that its type does not have, or fields names one."},
		{in.enums, "VALIDATION_INVALID_ENUM", "A value is none of those allowed; details list them."},
		{in.ranges, "VALIDATION_OUT_OF_RANGE", "A number, a length or a number of items is out of bounds."},
		{in.patterns, "VALIDATION_PATTERN_MISMATCH", "A text does not match its pattern."},
		{in.readOnly, "VALIDATION_READ_ONLY_FIELD", "The changes name a field that only the service sets."},
		{in.appendOnly, "VALIDATION_APPEND_ONLY", "The changes replace a field that can only grow."},
		{identifies && !creates, "NOT_FOUND_RESOURCE", "What the identifier names does not exist."},
		{creates, "CONFLICT_ALREADY_EXISTS", "The same exists already, where the service refuses duplicates."},
		{conditional, "CONFLICT_VERSION_MISMATCH", "if_match is not the current version."},
		{confirms, "CONFIRMATION_REQUIRED",
			"Nothing was done yet; send the same request again, with the token if the details have one."},
		{confirms, "TOKEN_INVALID", "The confirmation token is unknown, or for another request."},
		{confirms, "TOKEN_EXPIRED", "The confirmation came too late; ask again."},
	} {
		if f.possible {
			list = append(list, Failure{f.code, f.when})
		}
	}
	return list
}

// isIdentifier reports whether a parameter identifies a resource.
func isIdentifier(p *gen.Param) bool {
	return p.ID || p.Name == "id" || strings.HasSuffix(p.Name, "_id")
}

// rules lists the kinds of rules that the parameters of an operation have, at any depth.
type rules struct{ required, objects, enums, ranges, patterns, readOnly, appendOnly bool }

func rulesOf(a *gen.Definitions, o *gen.Operation) rules {
	var found rules
	seen := make(map[string]bool)
	var visit func(p *gen.Param)
	visit = func(p *gen.Param) {
		t, named := a.Type(p.Type)
		selects := p.Type == gen.TypeSelection
		found.required = found.required || p.Required
		found.objects = found.objects || selects || named && t.Kind == gen.KindObject
		found.enums = found.enums || selects || len(p.Enum) > 0 || named && t.Kind == gen.KindEnum
		found.ranges = found.ranges || p.Type == "integer" || p.Minimum != "" || p.Maximum != "" ||
			p.MinLength+p.MaxLength+p.MinItems+p.MaxItems > 0
		found.patterns = found.patterns || p.Pattern != "" || selects
		if p.Items != nil {
			visit(p.Items)
		}
		if !named || seen[t.Name] {
			return
		}
		seen[t.Name] = true
		fields := t.Fields
		if resource, ok := a.Type(t.Changes); ok {
			for i := range resource.Fields {
				found.readOnly = found.readOnly || resource.Fields[i].ReadOnly
				found.appendOnly = found.appendOnly || resource.Fields[i].AppendOnly
			}
		}
		for i := range fields {
			visit(&fields[i])
		}
		if t.Items != nil {
			visit(t.Items)
		}
	}
	for i := range o.Params {
		visit(&o.Params[i])
	}
	return found
}
