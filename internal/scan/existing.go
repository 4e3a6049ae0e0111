package scan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/tagparse"
)

// derived is what a rule of another library means in the words of the aql grammar.
type derived struct {
	placedItem
	depth   int // 0: the field, 1: its elements, …
	source  source
	implied bool // is not what the rule is about, so that it contradicts nothing
}

// deriver translates the tags of one field.
type deriver struct {
	*paramMaker
	field Declaration
	shape *Shape // of the field
	out   []derived
}

// derive translates the tags of other libraries. What has no meaning here is a warning, never dropped in silence.
//
// Constraints are checked on the values that a request has. Two things are therefore not what validator does: a rule without
// omitempty that refuses the zero value does not make the parameter required, and behind omitempty a zero value that is
// given is checked like any other.
func (s *paramMaker) derive(f Declaration, shape *Shape) []derived {
	if len(f.tag.foreign.rules) == 0 && len(f.tag.foreign.schema) == 0 {
		return nil
	}
	d := &deriver{paramMaker: s, field: f, shape: shape}
	for i := range f.tag.foreign.rules {
		d.rule(i)
	}
	for _, item := range f.tag.foreign.schema {
		d.schemaItem(item)
	}
	return d.out
}

// at is the shape that a depth speaks of; nil where there are no elements. direct: it is not behind a pointer.
func (d *deriver) at(depth int) (shape *Shape, direct bool) {
	whole := d.shape
	for range depth {
		shape = pointed(whole)
		if !hasItems(shape) {
			return nil, false
		}
		whole = shape.Elem
	}
	shape = pointed(whole)
	return shape, shape == whole
}

func (d *deriver) demand(from source, depth int, key, value string) {
	item := tagparse.Item{Key: key, Value: value, Flag: value == ""}
	d.out = append(d.out, derived{placedItem: placedItem{item, from.at, from.at, from.spelled()}, depth: depth, source: from})
}

func (d *deriver) demandList(from source, depth int, key string, values []string) {
	item := tagparse.Item{Key: key, Value: strings.Join(values, "|"), List: values}
	d.out = append(d.out, derived{placedItem: placedItem{item, from.at, from.at, from.spelled()}, depth: depth, source: from})
}

// meaningless warns of a rule that agents will not hear of. about says of what the rule is, where that is why.
func (d *deriver) meaningless(from source, name, about string) {
	message := fmt.Sprintf("%s rule %q", from.tag, name)
	if about != "" {
		message += " for " + about
	}
	d.remark(from, name, message+" has no meaning in MCP-AQL", "agents are not told; the handler still has to check it")
}

// remark reports something about a rule. Nobody here can edit the tags of another module, so there it is a note, and one
// for each rule of a type is enough.
func (d *deriver) remark(from source, name, message, suggestion string) {
	severity := SeverityWarning
	if !d.editable(d.field.v.Pkg()) {
		label, _, _ := strings.Cut(d.field.path, ".")
		key := foreignRemark{d.field.v.Pkg(), label, name}
		if first, ok := d.remarked[key]; ok && first != from.at.start {
			return
		}
		d.remarked[key], severity = from.at.start, SeverityNote
	}
	d.report(from.at, Diagnostic{
		Severity: severity, Code: codeType, FieldPath: d.field.path, Actual: from.text, Message: message, Suggestion: suggestion,
	})
}

// settle joins what the tags of other libraries mean to the items of the aql tag, which win. It reports the contradictions,
// and returns the items for the field's elements by their depth.
func (s *paramMaker) settle(f *Declaration, shape *Shape) map[int][]placedItem {
	all := s.derive(*f, shape)
	if len(all) == 0 {
		return nil
	}
	own := slices.Clip(slices.Clone(f.tag.items))
	var elements map[int][]placedItem
	var kept []derived
	for _, d := range all {
		if d.depth == 0 && s.overruled(*f, own, d) {
			continue
		}
		i := slices.IndexFunc(kept, func(k derived) bool { return k.depth == d.depth && k.Key == d.Key })
		if i < 0 {
			kept = append(kept, d)
			continue
		}
		kept[i] = s.unite(*f, kept[i], d)
	}
	demanded := slices.ContainsFunc(kept, func(k derived) bool { return k.Key == "required" && k.depth == 0 })
	f.tag.items = own
	for _, d := range kept {
		switch {
		case d.depth > 0:
			if elements == nil {
				elements = make(map[int][]placedItem)
			}
			elements[d.depth] = append(elements[d.depth], d.placedItem)
		case d.Key == "default" && demanded:
			s.disagree(*f, SeverityWarning, d.whole, fmt.Sprintf("%s has no effect: the field is required, and so never absent", d.source.spelled()), "remove one of them", nil)
		default:
			f.tag.items = append(f.tag.items, d.placedItem)
		}
	}
	return elements
}

// overruled reports whether the aql tag speaks of what d does, and reports it if the two contradict each other.
func (s *paramMaker) overruled(f Declaration, own []placedItem, d derived) bool {
	opposite := map[string]string{"required": "default", "default": "required"}[d.Key]
	item, contradicts := findItem(own, opposite)
	message := fmt.Sprintf("aql %s contradicts %s: a required parameter is never absent", opposite, d.source.spelled())
	if same, ok := findItem(own, d.Key); ok {
		if d.implied || d.Key == "desc" || sameItem(same, d.placedItem) {
			return true
		}
		item, contradicts = same, true
		message = fmt.Sprintf("%s=%s contradicts %s", same.Key, same.Value, d.source.spelled())
	}
	if !contradicts {
		return false
	}
	severity, suggestion := SeverityError, "make the two agree, or remove one of them"
	if item.Key == opposite {
		suggestion = "remove one of them"
	}
	switch {
	case d.Key == "pattern" && d.source.tag != "jsonschema" || d.Key == "format":
		// Both may hold: agents hear of the one that was written for them.
		severity, suggestion = SeverityWarning, "agents are told of the aql key; the handler still has to check the other"
		message = fmt.Sprintf("aql %s stands in place of %s", d.Key, d.source.spelled())
	case item.whole.start < f.tag.tagAt.start || item.whole.start >= f.tag.tagAt.end:
		severity = SeverityWarning // a directive says otherwise than the struct, perhaps on purpose
	}
	s.disagree(f, severity, item.whole, message, suggestion, &d)
	return true
}

// unite makes one item of two that other libraries demand of a field. Bounds hold together: the tighter one says both.
func (s *paramMaker) unite(f Declaration, first, second derived) derived {
	if sameItem(first.placedItem, second.placedItem) || second.implied && !isBound(second.Key) {
		return first
	}
	if a, ok := parseNumber(first.Value); ok && isBound(first.Key) {
		b, _ := parseNumber(second.Value)
		tighter := first
		if b != nil && (a.Cmp(b) < 0) == strings.HasPrefix(first.Key, "min") {
			tighter = second
		}
		if (first.source.tag == "jsonschema") != (second.source.tag == "jsonschema") && !first.implied && !second.implied {
			s.disagree(f, SeverityWarning, second.whole, fmt.Sprintf("%s and %s do not agree; the tighter bound counts", second.source.spelled(), first.source.spelled()), "make the two agree", &first)
		}
		return tighter
	}
	s.disagree(f, SeverityWarning, second.whole, fmt.Sprintf("%s demands another %s than %s, which counts", second.source.spelled(), first.Key, first.source.spelled()),
		"agents are told of one; the handler still has to check the other", &first)
	return first
}

func isBound(key string) bool {
	return strings.HasPrefix(key, "min") || strings.HasPrefix(key, "max")
}

// disagree reports a contradiction of a field's tags. In other modules it is a note: nobody here can resolve it.
func (s *paramMaker) disagree(f Declaration, severity Severity, at span, message, suggestion string, other *derived) {
	d := Diagnostic{Severity: severity, Code: codeType, FieldPath: f.path, Message: message, Suggestion: suggestion}
	if !s.editable(f.v.Pkg()) {
		d.Severity = SeverityNote
	}
	if other != nil {
		d.Expected = other.source.text
		d.Related = []Related{s.related(other.whole.start, other.source.spelled()+" is here")}
	}
	s.report(at, d)
}

// sameItem reports whether two items of one key say the same.
func sameItem(a, b placedItem) bool {
	if a.List != nil || b.List != nil {
		x, y := slices.Sorted(slices.Values(a.List)), slices.Sorted(slices.Values(b.List))
		return slices.Equal(slices.Compact(x), slices.Compact(y))
	}
	if x, ok := parseNumber(a.Value); ok {
		if y, ok := parseNumber(b.Value); ok {
			return x.Cmp(y) == 0
		}
	}
	return a.Value == b.Value
}
