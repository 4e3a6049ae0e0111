// Package existing translates the struct tags of other libraries (go-playground/validator, invopop/jsonschema and
// google/jsonschema-go) to items of aql tags, and reconciles them with the aql tag of the same field.
package existing

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/gotype"
	"github.com/aqltag/aqltag/internal/scan/jsonvalue"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/tagparse"
)

// Reconciler reconciles the tags of other libraries with aql tags.
type Reconciler struct {
	*source.Program
	own      *types.Package
	remarked map[foreignRemark]token.Pos // where a rule of another module was reported first
}

// foreignRemark identifies the remarks on one rule in the tags of a type of another module.
type foreignRemark struct {
	pkg       *types.Package
	typ, rule string
}

// NewReconciler makes a reconciler for the operations of package own.
func NewReconciler(p *source.Program, own *types.Package) *Reconciler {
	return &Reconciler{Program: p, own: own, remarked: make(map[foreignRemark]token.Pos)}
}

// text is a Go type as the user writes it.
func (r *Reconciler) text(t types.Type) string { return gotype.Text(t, r.own) }

// derived is an item of an aql tag that a rule of another library stands for.
type derived struct {
	tags.Item
	depth   int // 0: the field, 1: its elements, …
	source  tags.Origin
	implied bool // it only follows from the rule, so it contradicts nothing
}

// deriver translates the tags of one field.
type deriver struct {
	*Reconciler
	field shapes.Declaration
	shape *shapes.Shape // of the field
	out   []derived
}

// derive translates the tags of other libraries. A rule without a meaning here is a warning.
//
// Constraints apply to the values in a request, which differs from validator in two ways. A rule without omitempty that
// refuses the zero value does not make the parameter required. Behind omitempty, a zero value in the request is checked
// like any other.
func (r *Reconciler) derive(f shapes.Declaration, shape *shapes.Shape) []derived {
	if len(f.Tag.Foreign.Rules) == 0 && len(f.Tag.Foreign.Schema) == 0 {
		return nil
	}
	d := &deriver{Reconciler: r, field: f, shape: shape}
	for i := range f.Tag.Foreign.Rules {
		d.rule(i)
	}
	for _, item := range f.Tag.Foreign.Schema {
		d.schemaItem(item)
	}
	return d.out
}

// at returns the shape at a depth, nil if there are no elements. direct means that it is not behind a pointer.
func (d *deriver) at(depth int) (shape *shapes.Shape, direct bool) {
	whole := d.shape
	for range depth {
		shape = shapes.Indirect(whole)
		if !shapes.HasItems(shape) {
			return nil, false
		}
		whole = shape.Elem
	}
	shape = shapes.Indirect(whole)
	return shape, shape == whole
}

func (d *deriver) emit(from tags.Origin, depth int, key, value string) {
	item := tagparse.Item{Key: key, Value: value, Flag: value == ""}
	d.out = append(d.out, derived{
		Item: tags.Item{Item: item, At: from.At, ValueAt: from.At, Origin: from.Spelled()}, depth: depth, source: from,
	})
}

func (d *deriver) emitList(from tags.Origin, depth int, key string, values []string) {
	item := tagparse.Item{Key: key, Value: strings.Join(values, "|"), List: values}
	d.out = append(d.out, derived{
		Item: tags.Item{Item: item, At: from.At, ValueAt: from.At, Origin: from.Spelled()}, depth: depth, source: from,
	})
}

// warnUntranslated warns of a rule that has no meaning in MCP-AQL. about, if not empty, is the kind of value for which
// it has none.
func (d *deriver) warnUntranslated(from tags.Origin, name, about string) {
	message := fmt.Sprintf("%s rule %q", from.Tag, name)
	if about != "" {
		message += " for " + about
	}
	d.remark(from, name, message+" has no meaning in MCP-AQL", "agents are not told; the handler still has to check it")
}

// remark reports something about a rule. In other modules, where the user cannot edit tags, it is a note, reported once
// for each rule of a type.
func (d *deriver) remark(from tags.Origin, name, message, suggestion string) {
	severity := diag.Warning
	if !d.Editable(d.field.Var.Pkg()) {
		label, _, _ := strings.Cut(d.field.Path, ".")
		key := foreignRemark{d.field.Var.Pkg(), label, name}
		if first, ok := d.remarked[key]; ok && first != from.At.Start {
			return
		}
		d.remarked[key], severity = from.At.Start, diag.Note
	}
	d.Report(from.At, diag.Diagnostic{
		Severity: severity, Code: diag.CodeType, Kind: diag.KindRule, FieldPath: d.field.Path, Actual: from.Text,
		Message: message, Suggestion: suggestion,
	})
}

// Reconcile returns the items of a field's aql tag with those that the tags of other libraries stand for, and by their
// depth the items for its elements. The aql tag wins. Contradictions are reported.
func (r *Reconciler) Reconcile(
	f shapes.Declaration, shape *shapes.Shape,
) (items []tags.Item, elements map[int][]tags.Item) {
	all := r.derive(f, shape)
	if len(all) == 0 {
		return f.Tag.Items, nil
	}
	own := slices.Clip(slices.Clone(f.Tag.Items))
	var joined []derived
	for _, d := range all {
		if d.depth == 0 && r.overruled(f, own, d) {
			continue
		}
		i := slices.IndexFunc(joined, func(k derived) bool { return k.depth == d.depth && k.Key == d.Key })
		if i < 0 {
			joined = append(joined, d)
			continue
		}
		joined[i] = r.combine(f, joined[i], d)
	}
	required := slices.ContainsFunc(joined, func(k derived) bool { return k.Key == "required" && k.depth == 0 })
	items = own
	for _, d := range joined {
		switch {
		case d.depth > 0:
			if elements == nil {
				elements = make(map[int][]tags.Item)
			}
			elements[d.depth] = append(elements[d.depth], d.Item)
		case d.Key == "default" && required:
			r.reportConflict(f, diag.Warning, d.At,
				fmt.Sprintf("%s has no effect: the field is required, and so never absent", d.source.Spelled()),
				"remove one of them", nil)
		default:
			items = append(items, d.Item)
		}
	}
	return items, elements
}

// overruled reports whether the aql tag has an item for what d is about. A contradiction is reported.
func (r *Reconciler) overruled(f shapes.Declaration, own []tags.Item, d derived) bool {
	opposite := map[string]string{"required": "default", "default": "required"}[d.Key]
	item, contradicts := tags.Find(own, opposite)
	message := fmt.Sprintf("aql %s contradicts %s: a required parameter is never absent", opposite, d.source.Spelled())
	if same, ok := tags.Find(own, d.Key); ok {
		if d.implied || d.Key == "desc" || sameItem(same, d.Item) {
			return true
		}
		item, contradicts = same, true
		message = fmt.Sprintf("%s=%s contradicts %s", same.Key, same.Value, d.source.Spelled())
	}
	if !contradicts {
		return false
	}
	severity, suggestion := diag.Error, "make the two agree, or remove one of them"
	if item.Key == opposite {
		suggestion = "remove one of them"
	}
	switch {
	case d.Key == "pattern" && d.source.Tag != "jsonschema" || d.Key == "format":
		// Both may hold. Agents see the one in the aql tag.
		severity, suggestion = diag.Warning, "agents are told of the aql key; the handler still has to check the other"
		message = fmt.Sprintf("aql %s stands in place of %s", d.Key, d.source.Spelled())
	case item.At.Start < f.Tag.TagAt.Start || item.At.Start >= f.Tag.TagAt.End:
		severity = diag.Warning // a directive may differ from the struct on purpose
	}
	r.reportConflict(f, severity, item.At, message, suggestion, &d)
	return true
}

// combine makes one item of two that other libraries ask of a field. Of two bounds it takes the tighter one.
func (r *Reconciler) combine(f shapes.Declaration, first, second derived) derived {
	if sameItem(first.Item, second.Item) || second.implied && !isBound(second.Key) {
		return first
	}
	if a, ok := jsonvalue.ParseNumber(first.Value); ok && isBound(first.Key) {
		b, _ := jsonvalue.ParseNumber(second.Value)
		tighter := first
		if b != nil && (a.Cmp(b) < 0) == strings.HasPrefix(first.Key, "min") {
			tighter = second
		}
		if (first.source.Tag == "jsonschema") != (second.source.Tag == "jsonschema") && !first.implied && !second.implied {
			r.reportConflict(f, diag.Warning, second.At,
				fmt.Sprintf("%s and %s do not agree; the tighter bound counts", second.source.Spelled(), first.source.Spelled()),
				"make the two agree", &first)
		}
		return tighter
	}
	r.reportConflict(f, diag.Warning, second.At, fmt.Sprintf("%s demands another %s than %s, which counts",
		second.source.Spelled(), first.Key, first.source.Spelled()),
		"agents are told of one; the handler still has to check the other", &first)
	return first
}

func isBound(key string) bool {
	return strings.HasPrefix(key, "min") || strings.HasPrefix(key, "max")
}

// reportConflict reports a contradiction in the tags of a field. In other modules it is a note.
func (r *Reconciler) reportConflict(
	f shapes.Declaration, severity diag.Severity, at source.Span, message, suggestion string, other *derived,
) {
	d := diag.Diagnostic{
		Severity: severity, Code: diag.CodeType, FieldPath: f.Path, Message: message, Suggestion: suggestion,
	}
	if !r.Editable(f.Var.Pkg()) {
		d.Severity = diag.Note
	}
	if other != nil {
		d.Expected = other.source.Text
		d.Related = []diag.Related{r.Related(other.At.Start, other.source.Spelled()+" is here")}
	}
	r.Report(at, d)
}

// sameItem reports whether two items of one key mean the same.
func sameItem(a, b tags.Item) bool {
	if a.List != nil || b.List != nil {
		x, y := slices.Sorted(slices.Values(a.List)), slices.Sorted(slices.Values(b.List))
		return slices.Equal(slices.Compact(x), slices.Compact(y))
	}
	if x, ok := jsonvalue.ParseNumber(a.Value); ok {
		if y, ok := jsonvalue.ParseNumber(b.Value); ok {
			return x.Cmp(y) == 0
		}
	}
	return a.Value == b.Value
}
