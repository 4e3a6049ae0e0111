package scan

import (
	"fmt"
	"go/token"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/tagparse"
)

// foreignTag is what the struct tags of other libraries say about a field (design §3.2).
type foreignTag struct {
	rules       []foreignRule // of validate or binding
	schema      []schemaItem  // of jsonschema, as items
	description string        // of jsonschema, doc or description, in this order
	strength    int           // of the description
}

// foreignRule is a rule of go-playground/validator with its place.
type foreignRule struct {
	tagparse.Rule
	source
}

// schemaItem is an item of a jsonschema tag with its place.
type schemaItem struct {
	tagparse.SchemaItem
	source
}

// source is a rule of another library as it stands in a struct tag.
type source struct {
	tag  string // validate, binding or jsonschema
	text string // such as max=10
	at   span
}

func (s source) spelled() string { return s.tag + " rule " + s.text }

// read takes one pair of a struct tag if another library reads it.
func (t *foreignTag) read(pair tagparse.Pair, place func(int) token.Pos) (problems []tagparse.Problem) {
	sourceOf := func(offset, end int) source {
		return source{pair.Key, pair.Value[offset:end], span{place(offset), place(end)}}
	}
	switch pair.Key {
	case "validate", "binding":
		if pair.Value == "-" {
			return nil
		}
		var rules []tagparse.Rule
		rules, problems = tagparse.ParseValidate(pair.Value)
		for _, rule := range rules {
			t.rules = append(t.rules, foreignRule{rule, sourceOf(rule.Offset, rule.End)})
		}
	case "jsonschema":
		items, ok := tagparse.ParseSchema(pair.Value)
		if !ok {
			t.describe(pair.Value, 2)
			return nil
		}
		for _, item := range items {
			t.schema = append(t.schema, schemaItem{item, sourceOf(item.Offset, item.End)})
			if item.Key == "description" {
				t.describe(item.Value, 2)
			}
		}
	case "jsonschema_description":
		t.describe(pair.Value, 2)
	case "doc", "description":
		t.describe(pair.Value, 1)
	}
	return problems
}

func (t *foreignTag) describe(text string, strength int) {
	if strength > t.strength && text != "" {
		t.description, t.strength = text, strength
	}
}

// derived is what a rule of another library means in the words of the aql grammar.
type derived struct {
	placedItem
	depth   int // 0: the field, 1: its elements, …
	source  source
	implied bool // is not what the rule is about, so that it contradicts nothing
}

// deriver translates the tags of one field.
type deriver struct {
	*shaper
	field fieldSource
	shape *model.Shape // of the field
	out   []derived
}

// derive translates the tags of other libraries. What has no meaning here is a warning, never dropped in silence.
//
// Constraints are checked on the values that a request has. Two things are therefore not what validator does: a rule without
// omitempty that refuses the zero value does not make the parameter required, and behind omitempty a zero value that is
// given is checked like any other.
func (s *shaper) derive(f fieldSource, shape *model.Shape) []derived {
	if len(f.tag.foreign.rules) == 0 && len(f.tag.foreign.schema) == 0 {
		return nil
	}
	d := &deriver{shaper: s, field: f, shape: shape}
	for i := range f.tag.foreign.rules {
		d.rule(i)
	}
	for _, item := range f.tag.foreign.schema {
		d.schemaItem(item)
	}
	return d.out
}

// at is the shape that a depth speaks of; nil where there are no elements. direct: it is not behind a pointer.
func (d *deriver) at(depth int) (shape *model.Shape, direct bool) {
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

// hasItems reports whether values of a shape have elements that dive goes into.
func hasItems(shape *model.Shape) bool {
	return shape.Kind == model.ShapeSlice || shape.Kind == model.ShapeArray || shape.Kind == model.ShapeMap
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
func (s *shaper) settle(f *fieldSource, shape *model.Shape) map[int][]placedItem {
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
func (s *shaper) overruled(f fieldSource, own []placedItem, d derived) bool {
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
func (s *shaper) unite(f fieldSource, first, second derived) derived {
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
func (s *shaper) disagree(f fieldSource, severity Severity, at span, message, suggestion string, other *derived) {
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

// checkRanges reports bounds of which one comes from another library's tag and that no value can satisfy.
func (c constrainer) checkRanges() {
	for _, suffix := range []string{"", "len", "items"} {
		low, ok := c.field.tag.item("min" + suffix)
		high, both := c.field.tag.item("max" + suffix)
		if !ok || !both || low.origin == "" && high.origin == "" {
			continue
		}
		a, lowOK := parseNumber(low.Value)
		b, highOK := parseNumber(high.Value)
		if !lowOK || !highOK || a.Cmp(b) <= 0 {
			continue
		}
		at, other, severity := low, high, SeverityError
		switch {
		case low.origin != "" && high.origin != "":
			severity = SeverityWarning // as the service has it
		case low.origin != "":
			at, other = high, low
		}
		if !c.editable(c.field.v.Pkg()) {
			severity = SeverityNote
		}
		c.report(at.whole, Diagnostic{
			Severity: severity, Code: codeType, FieldPath: c.field.path, Actual: at.Value, Suggestion: "make the two agree, or remove one of them",
			Message: fmt.Sprintf("%s and %s contradict each other: no value can satisfy both", at.spelled(), other.spelled()),
			Related: []Related{c.related(other.whole.start, other.spelled()+" is here")},
		})
	}
}

// spelled is the item as it was written.
func (item placedItem) spelled() string {
	switch {
	case item.origin != "":
		return item.origin
	case item.Flag:
		return "aql " + item.Key
	}
	return "aql " + item.Key + "=" + item.Value
}

// applyElements takes the constraints on the elements of a field, on those of its elements, and so on.
func (s *shaper) applyElements(f fieldSource, shape *model.Shape, param *gen.Param, elements map[int][]placedItem) {
	shape = pointed(shape)
	for depth := 1; len(elements) > 0 && shape != nil && shape.Elem != nil; depth++ {
		shape = pointed(shape.Elem)
		param.Items = &gen.Param{}
		param = param.Items
		f.tag.items = elements[depth]
		c := constrainer{s, f, shape, param}
		for _, item := range elements[depth] {
			c.apply(item)
		}
		c.checkEnum()
		c.checkRanges()
		delete(elements, depth)
	}
}
