package aql

import (
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/gate"
)

// operation is an operation with what requests to it need.
type operation struct {
	definition  gen.Operation
	types       map[string]*gen.Type // of the adapter
	newCall     func(*slots) call
	family      string
	tool        string
	params      []string          // names of the valid parameters
	aliases     map[string]string // other names to those of parameters
	gate        *gate.Operation   // nil: the operation is built in and not gated
	confirmable bool              // the gate may require confirmation
	keepsValues bool              // the gate looks at parameters
	deprecated  []int             // the parameters that are
	sensitive   bool              // something in the parameters is
	smaller     []string          // the parameters that make an answer smaller
}

func newOperation(
	definition gen.Operation, types map[string]*gen.Type, surface *describe.Surface,
	newCall func(*slots) call, gated *gate.Operation,
) *operation {
	o := &operation{definition: definition, types: types, newCall: newCall, gate: gated, params: []string{}}
	o.smaller = smaller(&o.definition)
	o.family, o.tool = surface.Family(&o.definition), surface.Tool(&o.definition)
	if gated != nil {
		o.confirmable = gated.MayConfirm() && definition.TypeToConfirm == "" // by a token
		o.keepsValues = gated.NeedsParams()
	}
	o.keepsValues = o.keepsValues || definition.Lifecycle != nil // an execution begins with them
	for i := range o.definition.Params {
		param := &o.definition.Params[i]
		if param.Deprecated != "" {
			o.deprecated = append(o.deprecated, i)
		}
		o.params = append(o.params, param.Name)
		o.sensitive = o.sensitive || o.isSensitive(param)
		for _, alias := range param.Aliases {
			if o.aliases == nil {
				o.aliases = make(map[string]string)
			}
			o.aliases[alias] = param.Name
		}
	}
	if o.confirmable && !slices.Contains(o.params, tokenParam) {
		o.params = append(o.params, tokenParam)
	}
	return o
}

// param finds the definition of what a path such as "tags[2]" or "page.limit" names; a zero Param where there is none.
// It is sensitive when any part of the path is.
func (o *operation) param(path string) gen.Param {
	fields := o.definition.Params
	var found gen.Param
	sensitive := false
	for path != "" {
		name, rest := path, ""
		if end := strings.IndexAny(path, ".["); end >= 0 {
			name, rest = path[:end], path[end:]
		}
		at := slices.IndexFunc(fields, func(p gen.Param) bool { return p.Name == name || slices.Contains(p.Aliases, name) })
		if at >= 0 {
			found = fields[at]
		} else if found.Items != nil { // the member of a map
			found = *found.Items
		} else {
			return gen.Param{Sensitive: sensitive}
		}
		sensitive = sensitive || found.Sensitive
		for strings.HasPrefix(rest, "[") {
			_, rest, _ = strings.Cut(rest, "]")
			if found.Items != nil {
				found = *found.Items
			}
		}
		path, fields = strings.TrimPrefix(rest, "."), nil
		if t := o.types[found.Type]; t != nil {
			fields = t.Fields
		}
	}
	found.Sensitive = sensitive
	return found
}

// rank is the position in the definition of the parameter that a path begins with. What is about several parameters is
// behind all.
func (o *operation) rank(path string) int {
	name := path
	if end := strings.IndexAny(path, ".["); end >= 0 {
		name = path[:end]
	}
	if original, ok := o.aliases[name]; ok {
		name = original
	}
	if rank := slices.Index(o.params, name); rank >= 0 {
		return rank
	}
	return len(o.params)
}

// isSensitive reports whether a parameter, or something in it, is sensitive.
func (o *operation) isSensitive(p *gen.Param) bool {
	var seen []string
	return sensitive(p, o.types, &seen)
}

// sensitive is isSensitive, but for the types that it has seen.
func sensitive(p *gen.Param, types map[string]*gen.Type, seen *[]string) bool {
	if p.Sensitive || p.Items != nil && sensitive(p.Items, types, seen) {
		return true
	}
	t := types[p.Type]
	if t == nil || slices.Contains(*seen, p.Type) {
		return false
	}
	*seen = append(*seen, p.Type)
	for i := range t.Fields {
		if sensitive(&t.Fields[i], types, seen) {
			return true
		}
	}
	return false
}
