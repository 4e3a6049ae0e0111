package aql

import (
	"cmp"
	"encoding"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/words"
)

// ofTarget returns a failure that is about what the request identifies, and a NOT_FOUND_RESOURCE that names it (MCP-AQL
// error codes §4.9). Where the request identifies nothing, the failure is about something that is not known.
func (p reporter) ofTarget(f *Error) *Error {
	named := *f
	named.template = f.Message
	if p.request == nil || p.request.operation == nil || !isAboutTarget(&p.request.operation.definition) {
		named.Message = cmp.Or(f.general, f.Message)
		named.template = named.Message
		return &named
	}
	if f.Code != CodeResourceNotFound {
		return &named
	}
	kind, id := p.request.target()
	details := f.details
	if id != "" {
		details = append([]detail{{"resource_id", id}}, details...)
	}
	if kind != "" {
		details = append([]detail{{"resource_type", kind}}, details...)
	}
	switch {
	case kind == "":
		return &named
	case id == "":
		named.Message = "Resource '" + kind + "' not found"
	default:
		named.Message = NotFound(kind, id).Message
	}
	named.template, named.details = named.Message, details
	return &named
}

// isAboutTarget reports whether what an operation cannot find is what its request identifies. An operation that creates
// or executes something may need other resources, and so may one without an identifier.
func isAboutTarget(o *gen.Operation) bool {
	return o.Category != gen.Create && o.Category != gen.Execute && identifiers(o) != nil
}

// target returns the type of the resource that a request is about, such as todo for get_todo, and its identifiers in
// the request, with a slash between them. Either is empty where there is none. Sensitive values are left out.
func (q *request) target() (resourceType, id string) {
	definition := &q.operation.definition
	_, resourceType, _ = strings.Cut(definition.Name, "_")
	if q.slots.handled.bound == nil { // the operation is built in
		return resourceType, ""
	}
	var parts []string
	for _, param := range identifiers(definition) {
		i := slices.IndexFunc(definition.Params, func(p gen.Param) bool { return p.Name == param.Name })
		text := identifierText(q.slots.handled.decoder.At(i, q.slots.handled.place))
		if text == "" || q.operation.isSensitive(param) {
			return resourceType, ""
		}
		parts = append(parts, words.Clip(text, maxShown))
	}
	return resourceType, strings.Join(parts, "/")
}

// identifiers returns the parameters of an operation that identify its resource: those that are marked as identifiers,
// else those named like one, else the required ones that are a text or an integer.
func identifiers(o *gen.Operation) []*gen.Param {
	scalar := func(p *gen.Param) bool { return p.Type == "string" || p.Type == "integer" }
	for _, identifies := range []func(p *gen.Param) bool{
		func(p *gen.Param) bool { return p.ID },
		func(p *gen.Param) bool { return p.Required && (p.Name == "id" || strings.HasSuffix(p.Name, "_id")) },
		func(p *gen.Param) bool { return p.Required && o.Category != gen.Create },
	} {
		var found []*gen.Param
		for i := range o.Params {
			if p := &o.Params[i]; scalar(p) && identifies(p) {
				found = append(found, p)
			}
		}
		if found != nil {
			return found
		}
	}
	return nil
}

// identifierText returns the value of a parameter, or of what it points to, as text; empty where it is none.
func identifierText(v reflect.Value) (text string) {
	defer func() {
		if recover() != nil { // in a method of the field's type
			text = ""
		}
	}()
	for v.IsValid() && v.Kind() == reflect.Pointer {
		v = v.Elem()
	}
	if !v.IsValid() {
		return ""
	}
	if m, ok := v.Interface().(encoding.TextMarshaler); ok {
		written, err := m.MarshalText()
		if err != nil {
			return ""
		}
		return string(written)
	}
	switch {
	case v.Kind() == reflect.String:
		return strings.Clone(v.String())
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10)
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10)
	}
	return ""
}
