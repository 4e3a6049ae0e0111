// Package fingerprint identifies definitions by a hash. The generator writes the fingerprint of a package into the
// header of the generated file, and a running adapter computes it from the definitions that it uses. If the two are
// equal, the adapter runs the code of that package.
//
//	fingerprint.Of(definitions) // "sha256:4f1c…"
package fingerprint

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Of returns the fingerprint of definitions: "sha256:" and the hash of their canonical text in hexadecimal digits.
func Of(a *gen.Definitions) string {
	sum := sha256.Sum256(canonical(a))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// canonical returns the text of which a fingerprint is the hash: what the service is, the operations and relations in
// their order and the types by name, as JSON in the form of RFC 8785. It contains all that agents can see and all that
// requests are checked against. It leaves out the name and the version of the service, names and places in Go source,
// and the source of danger levels.
func canonical(a *gen.Definitions) []byte {
	w := writer{text: make([]byte, 0, 512*(len(a.Operations)+len(a.Types)+1))}
	types := make([]*gen.Type, len(a.Types))
	for i := range a.Types {
		types[i] = &a.Types[i]
	}
	slices.SortStableFunc(types, func(a, b *gen.Type) int { return cmp.Compare(a.Name, b.Name) })
	w.object(func() {
		w.textMember("description", a.Description)
		list(&w, "operations", a.Operations, w.operation)
		list(&w, "relations", a.Relations, w.relation)
		list(&w, "types", types, func(t **gen.Type) { w.typ(*t) })
	})
	return w.text
}

// The members of every object have the order of their names. Those without a value are left out.

func (w *writer) operation(o *gen.Operation) {
	w.object(func() {
		w.textMember("category", string(o.Category))
		w.textMember("confirm", o.Confirm)
		w.textMember("danger", string(o.Danger))
		w.textMember("deprecated", o.Deprecated)
		w.textMember("description", o.Description)
		list(w, "examples", o.Examples, func(e *gen.Example) {
			w.object(func() {
				w.textMember("description", e.Description)
				w.textMember("params", e.Params)
			})
		})
		w.textMember("family", o.Family)
		if l := o.Lifecycle; l != nil {
			w.key("lifecycle")
			w.object(func() {
				w.flag("asks", l.Asks)
				w.flag("durable", l.Durable)
				if l.Keep != 0 {
					w.textMember("keep", l.Keep.String())
				}
				w.textMember("once", l.Once)
				w.number("retry", l.Retry)
			})
		}
		w.textMember("name", o.Name)
		list(w, "params", o.Params, w.param)
		w.texts("reasons", o.Reasons)
		w.textMember("replacement", o.Replacement)
		if o.Returns != (gen.Returns{}) {
			w.key("returns")
			w.object(func() {
				w.textMember("description", o.Returns.Description)
				w.textMember("kind", string(o.Returns.Kind))
				w.textMember("name", o.Returns.Name)
				w.flag("nullable", o.Returns.Nullable)
			})
		}
		if o.Timeout != 0 {
			w.textMember("timeout", o.Timeout.String())
		}
	})
}

// param writes a parameter, a field or an element. JSON literals are text here, because agents see how they are
// written.
func (w *writer) param(p *gen.Param) {
	w.object(func() {
		w.texts("aliases", p.Aliases)
		w.flag("appendOnly", p.AppendOnly)
		w.textMember("constant", p.Constant)
		w.textMember("default", p.Default)
		w.textMember("deprecated", p.Deprecated)
		w.textMember("description", p.Description)
		w.flag("dryRun", p.DryRun)
		w.texts("enum", p.Enum)
		w.texts("excludes", p.Excludes)
		w.texts("filter", p.Filter)
		w.textMember("format", p.Format)
		w.flag("formatRule", p.FormatRule)
		w.flag("id", p.ID)
		if p.Items != nil {
			w.key("items")
			w.param(p.Items)
		}
		if p.Keys != nil {
			w.key("keys")
			w.param(p.Keys)
		}
		w.number("maxItems", p.MaxItems)
		w.number("maxLength", p.MaxLength)
		w.textMember("maximum", p.Maximum)
		w.number("minItems", p.MinItems)
		w.number("minLength", p.MinLength)
		w.textMember("minimum", p.Minimum)
		w.textMember("name", p.Name)
		w.flag("nullable", p.Nullable)
		w.flag("omitEmpty", p.OmitEmpty) // these three decide how results look
		w.flag("omitZero", p.OmitZero)
		w.textMember("pattern", p.Pattern)
		w.texts("presets", p.Presets)
		w.flag("quoted", p.Quoted)
		w.flag("readOnly", p.ReadOnly)
		w.flag("required", p.Required)
		w.flag("search", p.Search)
		w.flag("sensitive", p.Sensitive)
		w.textMember("type", p.Type)
	})
}

func (w *writer) relation(r *gen.Relation) {
	w.object(func() {
		w.textMember("by", r.By)
		w.textMember("description", r.Description)
		w.textMember("inverse", r.Inverse)
		w.flag("many", r.Many)
		w.textMember("name", r.Name)
		w.textMember("of", r.Of)
		w.flag("opaque", r.Opaque)
		w.textMember("param", r.Param)
		w.texts("presets", r.Presets)
		w.textMember("target", r.Target)
		w.textMember("to", r.To)
		w.textMember("type", r.Type)
	})
}

func (w *writer) typ(t *gen.Type) {
	w.object(func() {
		w.textMember("changes", t.Changes)
		list(w, "computed", t.Computed, w.param)
		w.textMember("description", t.Description)
		list(w, "fields", t.Fields, w.param)
		w.textMember("filters", t.Filters)
		if t.Items != nil {
			w.key("items")
			w.param(t.Items)
		}
		w.textMember("kind", string(t.Kind))
		w.texts("members", t.Members)
		w.textMember("name", t.Name)
		list(w, "values", t.Values, func(v *gen.EnumValue) {
			w.object(func() {
				w.textMember("description", v.Description)
				w.textMember("value", v.Value)
			})
		})
		w.texts("withheld", t.Withheld)
	})
}
