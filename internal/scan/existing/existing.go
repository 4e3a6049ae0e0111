// Package existing translates the struct tags of other libraries (go-playground/validator, invopop/jsonschema and
// google/jsonschema-go) to the grammar of aql tags, and reconciles the two where a field has both.
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

// Reconciler reconciles the tags of other libraries with the aql tags of the same fields.
type Reconciler struct {
	*source.Program
	own      *types.Package
	remarked map[foreignRemark]token.Pos // where rules of other modules were first remarked on
}

// foreignRemark is a remark on a rule in the tags of a type of another module.
type foreignRemark struct {
	pkg       *types.Package
	typ, rule string
}

func NewReconciler(p *source.Program, own *types.Package) *Reconciler {
	return &Reconciler{Program: p, own: own, remarked: make(map[foreignRemark]token.Pos)}
}

// text is a Go type as the user writes it.
func (r *Reconciler) text(t types.Type) string { return gotype.Text(t, r.own) }

// derived is what a rule of another library means in the words of the aql grammar.
type derived struct {
	tags.Item
	depth   int // 0: the field, 1: its elements, …
	source  tags.Origin
	implied bool // is not what the rule is about, so that it contradicts nothing
}

// deriver translates the tags of one field.
type deriver struct {
	*Reconciler
	field shapes.Declaration
	shape *shapes.Shape // of the field
	out   []derived
}

// derive translates the tags of other libraries. What has no meaning here is a warning, never dropped in silence.
//
// Constraints are checked on the values that a request has. Two things are therefore not what validator does: a rule
// without omitempty that refuses the zero value does not make the parameter required, and behind omitempty a zero value
// that is given is checked like any other.
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

// at is the shape that a depth speaks of; nil where there are no elements. direct: it is not behind a pointer.
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

func (d *deriver) demand(from tags.Origin, depth int, key, value string) {
	item := tagparse.Item{Key: key, Value: value, Flag: value == ""}
	d.out = append(d.out, derived{
		Item: tags.Item{Item: item, At: from.At, ValueAt: from.At, Origin: from.Spelled()}, depth: depth, source: from,
	})
}

func (d *deriver) demandList(from tags.Origin, depth int, key string, values []string) {
	item := tagparse.Item{Key: key, Value: strings.Join(values, "|"), List: values}
	d.out = append(d.out, derived{
		Item: tags.Item{Item: item, At: from.At, ValueAt: from.At, Origin: from.Spelled()}, depth: depth, source: from,
	})
}

// meaningless warns of a rule that agents will not hear of. about says of what the rule is, where that is why.
func (d *deriver) meaningless(from tags.Origin, name, about string) {
	message := fmt.Sprintf("%s rule %q", from.Tag, name)
	if about != "" {
		message += " for " + about
	}
	d.remark(from, name, message+" has no meaning in MCP-AQL", "agents are not told; the handler still has to check it")
}

// remark reports something about a rule. Nobody here can edit the tags of another module, so there it is a note, and
// one for each rule of a type is enough.
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
		Severity: severity, Code: diag.CodeType, FieldPath: d.field.Path, Actual: from.Text, Message: message,
		Suggestion: suggestion,
	})
}

// Reconcile joins the items of a field's aql tag, which win, with what the tags of other libraries mean. It returns the
// items for the field and, by their depth, for its elements, and reports contradictions.
func (r *Reconciler) Reconcile(
	f shapes.Declaration, shape *shapes.Shape,
) (items []tags.Item, elements map[int][]tags.Item) {
	all := r.derive(f, shape)
	if len(all) == 0 {
		return f.Tag.Items, nil
	}
	own := slices.Clip(slices.Clone(f.Tag.Items))
	var kept []derived
	for _, d := range all {
		if d.depth == 0 && r.overruled(f, own, d) {
			continue
		}
		i := slices.IndexFunc(kept, func(k derived) bool { return k.depth == d.depth && k.Key == d.Key })
		if i < 0 {
			kept = append(kept, d)
			continue
		}
		kept[i] = r.unite(f, kept[i], d)
	}
	demanded := slices.ContainsFunc(kept, func(k derived) bool { return k.Key == "required" && k.depth == 0 })
	items = own
	for _, d := range kept {
		switch {
		case d.depth > 0:
			if elements == nil {
				elements = make(map[int][]tags.Item)
			}
			elements[d.depth] = append(elements[d.depth], d.Item)
		case d.Key == "default" && demanded:
			r.disagree(f, diag.Warning, d.At,
				fmt.Sprintf("%s has no effect: the field is required, and so never absent", d.source.Spelled()),
				"remove one of them", nil)
		default:
			items = append(items, d.Item)
		}
	}
	return items, elements
}

// overruled reports whether the aql tag speaks of what d does, and reports it if the two contradict each other.
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
		// Both may hold: agents hear of the one that was written for them.
		severity, suggestion = diag.Warning, "agents are told of the aql key; the handler still has to check the other"
		message = fmt.Sprintf("aql %s stands in place of %s", d.Key, d.source.Spelled())
	case item.At.Start < f.Tag.TagAt.Start || item.At.Start >= f.Tag.TagAt.End:
		severity = diag.Warning // a directive says otherwise than the struct, perhaps on purpose
	}
	r.disagree(f, severity, item.At, message, suggestion, &d)
	return true
}

// unite makes one item of two that other libraries demand of a field. Bounds hold together: the tighter one says both.
func (r *Reconciler) unite(f shapes.Declaration, first, second derived) derived {
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
			r.disagree(f, diag.Warning, second.At,
				fmt.Sprintf("%s and %s do not agree; the tighter bound counts", second.source.Spelled(), first.source.Spelled()),
				"make the two agree", &first)
		}
		return tighter
	}
	r.disagree(f, diag.Warning, second.At, fmt.Sprintf("%s demands another %s than %s, which counts",
		second.source.Spelled(), first.Key, first.source.Spelled()),
		"agents are told of one; the handler still has to check the other", &first)
	return first
}

func isBound(key string) bool {
	return strings.HasPrefix(key, "min") || strings.HasPrefix(key, "max")
}

// disagree reports a contradiction of a field's tags. In other modules it is a note: nobody here can resolve it.
func (r *Reconciler) disagree(
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

// sameItem reports whether two items of one key say the same.
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
