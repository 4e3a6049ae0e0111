package scan

import (
	"fmt"
	"go/token"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aqltag/aqltag/model"
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
	tag string // validate or binding
	at  span
}

// schemaItem is an item of a jsonschema tag with its place.
type schemaItem struct {
	tagparse.SchemaItem
	at span
}

// readForeign reads one pair of a struct tag that another library reads too.
func (t *foreignTag) read(pair tagparse.Pair, place func(int) token.Pos) {
	switch pair.Key {
	case "validate", "binding":
		if pair.Value == "-" {
			return
		}
		for _, rule := range tagparse.ParseValidate(pair.Value) {
			t.rules = append(t.rules, foreignRule{rule, pair.Key, span{place(rule.Offset), place(rule.End)}})
		}
	case "jsonschema":
		items, ok := tagparse.ParseSchema(pair.Value)
		if !ok {
			t.describe(pair.Value, 2)
			return
		}
		for _, item := range items {
			t.schema = append(t.schema, schemaItem{item, span{place(item.Offset), place(item.End)}})
			if item.Key == "description" {
				t.describe(item.Value, 2)
			}
		}
	case "doc", "description":
		t.describe(pair.Value, 1)
	}
}

func (t *foreignTag) describe(text string, strength int) {
	if strength >= t.strength {
		t.description, t.strength = text, strength
	}
}

// derived is what the tags of other libraries mean in the words of the aql grammar.
type derived struct {
	placedItem
	depth int    // 0: the field, 1: its elements, …
	tag   string // that says so
}

// deriver translates the tags of one field.
type deriver struct {
	*shaper
	field fieldSource
	shape *model.Shape // of the field
	out   []derived
}

// derive translates the tags of other libraries. What has no meaning here is a warning, never dropped in silence.
func (s *shaper) derive(f fieldSource, shape *model.Shape) []derived {
	if len(f.tag.foreign.rules) == 0 && len(f.tag.foreign.schema) == 0 {
		return nil
	}
	d := &deriver{shaper: s, field: f, shape: shape}
	for _, rule := range f.tag.foreign.rules {
		d.rule(rule)
	}
	for _, item := range f.tag.foreign.schema {
		d.schemaItem(item)
	}
	return d.out
}

// at is the shape that a depth speaks of; nil where there are no elements.
func (d *deriver) at(depth int) *model.Shape {
	shape := pointed(d.shape)
	for range depth {
		if shape == nil || shape.Elem == nil {
			return nil
		}
		shape = pointed(shape.Elem)
	}
	return shape
}

func (d *deriver) add(tag string, at span, depth int, key, value string) {
	item := tagparse.Item{Key: key, Value: value, Flag: value == ""}
	d.out = append(d.out, derived{placedItem{item, at, at}, depth, tag})
}

func (d *deriver) addList(tag string, at span, depth int, key string, values []string) {
	item := tagparse.Item{Key: key, Value: strings.Join(values, "|"), List: values}
	d.out = append(d.out, derived{placedItem{item, at, at}, depth, tag})
}

// meaningless warns of a rule that agents will not hear of.
func (d *deriver) meaningless(tag, what string, at span) {
	severity := SeverityWarning
	if !inMainModule(d.packages[d.field.v.Pkg()]) {
		severity = SeverityNote
	}
	d.report(at, Diagnostic{
		Severity: severity, Code: codeType, FieldPath: d.field.path, Actual: what,
		Message:    fmt.Sprintf("%s rule %q has no meaning in MCP-AQL", tag, what),
		Suggestion: "agents are not told; the handler still has to check it",
	})
}

// rule translates a rule of go-playground/validator.
func (d *deriver) rule(r foreignRule) {
	shape := d.at(r.Depth)
	if r.Alternatives != nil || r.Key || shape == nil {
		d.meaningless(r.tag, d.spelled(r), r.at)
		return
	}
	add := func(key, value string) { d.add(r.tag, r.at, r.Depth, key, value) }
	kind := wireKind(shape)
	switch r.Name {
	case "omitempty", "omitnil", "omitzero", "structonly", "nostructlevel":
		// An optional parameter is checked only where it is given, which is what these ask for.
	case "required":
		if r.Depth == 0 {
			add("required", "")
		}
		d.demandContent(r, shape, kind)
	case "min", "gte":
		d.bound(r, shape, "min", 0, false)
	case "max", "lte":
		d.bound(r, shape, "max", 0, false)
	case "gt":
		d.bound(r, shape, "min", 1, true)
	case "lt":
		d.bound(r, shape, "max", -1, true)
	case "len":
		d.bound(r, shape, "min", 0, false)
		d.bound(r, shape, "max", 0, false)
	case "eq":
		if kind == "string" {
			d.addList(r.tag, r.at, r.Depth, "enum", []string{r.Param})
			return
		}
		d.bound(r, shape, "min", 0, false)
		d.bound(r, shape, "max", 0, false)
	case "oneof":
		if kind != "string" {
			d.meaningless(r.tag, d.spelled(r), r.at)
			return
		}
		d.addList(r.tag, r.at, r.Depth, "enum", tagparse.Words(r.Param))
	default:
		format, pattern := formatOf(r.Rule), patternOf(r.Rule)
		switch {
		case kind == "string" && format != "":
			add("format", format)
		case kind == "string" && pattern != "":
			add("pattern", pattern)
		case kind == "date-time" && format == "date-time":
		default:
			d.meaningless(r.tag, d.spelled(r), r.at)
		}
	}
}

func (d *deriver) spelled(r foreignRule) string {
	if r.Alternatives != nil {
		names := make([]string, len(r.Alternatives))
		for i, alternative := range r.Alternatives {
			names[i] = alternative.Name
		}
		return strings.Join(names, "|")
	}
	return r.Name
}

// demandContent adds what validator's required means beside presence: no zero value. A number or a boolean may well be
// zero on purpose, so for those only presence is asked for.
func (d *deriver) demandContent(r foreignRule, shape *model.Shape, kind string) {
	direct := r.Depth > 0 || d.shape.Kind != model.ShapePointer && d.shape.Kind != model.ShapeOptional
	if !direct || slices.ContainsFunc(d.field.tag.foreign.rules, func(other foreignRule) bool {
		return other.Depth == r.Depth && slices.Contains([]string{"min", "gte", "gt", "len", "eq", "oneof"}, other.Name)
	}) {
		return
	}
	switch {
	case kind == "string" && len(shape.Enum) == 0:
		d.add(r.tag, r.at, r.Depth, "minlen", "1")
	case shape.Kind == model.ShapeSlice || shape.Kind == model.ShapeMap:
		d.add(r.tag, r.at, r.Depth, "minitems", "1")
	}
}

// bound adds a bound: of the value of a number, the length of a string, the number of elements. step turns an exclusive
// bound into an inclusive one, where that is possible.
func (d *deriver) bound(r foreignRule, shape *model.Shape, side string, step int64, exclusive bool) {
	text := r.Param
	if duration, err := time.ParseDuration(text); err == nil && isNamed(d.goTypes[shape], "time", "Duration") {
		text = strconv.FormatInt(int64(duration), 10)
	}
	value, ok := parseNumber(text)
	kind := wireKind(shape)
	suffix := ""
	switch {
	case !ok:
		d.meaningless(r.tag, d.spelled(r), r.at)
		return
	case kind == "number" && exclusive:
		d.meaningless(r.tag, d.spelled(r), r.at)
		return
	case kind == "integer" || kind == "number":
	case kind == "string":
		suffix = "len"
	case shape.Kind == model.ShapeSlice || shape.Kind == model.ShapeMap || shape.Kind == model.ShapeArray:
		suffix = "items"
	default:
		d.meaningless(r.tag, d.spelled(r), r.at)
		return
	}
	if step != 0 && value.IsInt() {
		text = new(big.Int).Add(value.Num(), big.NewInt(step)).String()
	}
	if kind == "integer" {
		c := constrainer{d.shaper, d.field, shape, &model.Param{}}
		if exact, ok := parseNumber(text); ok && c.outOfType(text, exact) != "" {
			return // every value of the type is within the bound, or the service never accepts one
		}
	}
	if suffix != "" && strings.HasPrefix(text, "-") || side == "min" && suffix != "" && text == "0" {
		return
	}
	d.add(r.tag, r.at, r.Depth, side+suffix, text)
}

// formatOf is the format that a rule demands, empty if it demands none. Formats are hints: the handler, which validates
// with the rule, still decides.
func formatOf(r tagparse.Rule) string {
	switch r.Name {
	case "email", "hostname", "ipv4", "ipv6", "cidr", "mac":
		return r.Name
	case "ip", "ip_addr":
		return "ip"
	case "url", "uri", "http_url", "https_url":
		return "uri"
	case "uuid", "uuid3", "uuid4", "uuid5", "uuid_rfc4122", "uuid3_rfc4122", "uuid4_rfc4122", "uuid5_rfc4122":
		return "uuid"
	case "hostname_rfc1123", "fqdn":
		return "hostname"
	case "datetime":
		switch r.Param {
		case time.DateOnly:
			return "date"
		case time.RFC3339, time.RFC3339Nano:
			return "date-time"
		}
	}
	return ""
}

// patternOf is the regular expression that means exactly what a rule does, empty if there is none.
func patternOf(r tagparse.Rule) string {
	switch r.Name {
	case "alpha":
		return `^[a-zA-Z]+$`
	case "alphanum":
		return `^[a-zA-Z0-9]+$`
	case "numeric":
		return `^[-+]?[0-9]+(?:\.[0-9]+)?$`
	case "number":
		return `^[0-9]+$`
	case "hexadecimal":
		return `^(0[xX])?[0-9a-fA-F]+$`
	case "hexcolor":
		return `^#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$`
	case "e164":
		return `^\+[1-9]?[0-9]{7,14}$`
	case "ascii":
		return `^[\x00-\x7F]*$`
	case "printascii":
		return `^[\x20-\x7E]*$`
	case "startswith":
		return "^" + regexp.QuoteMeta(r.Param)
	case "endswith":
		return regexp.QuoteMeta(r.Param) + "$"
	case "contains":
		return regexp.QuoteMeta(r.Param)
	}
	return ""
}

// schemaItem translates an item of a jsonschema tag.
func (d *deriver) schemaItem(item schemaItem) {
	const tag = "jsonschema"
	shape := d.at(0)
	kind := wireKind(shape)
	add := func(key string) { d.add(tag, item.at, 0, key, item.Value) }
	number := kind == "integer" || kind == "number"
	switch {
	case item.Key == "description":
	case item.Key == "title":
		if d.field.tag.foreign.description == "" && (d.field.tag.field == nil || d.field.tag.field.Doc == nil && d.field.tag.field.Comment == nil) {
			add("desc")
		}
	case item.Key == "required":
		d.add(tag, item.at, 0, "required", "")
	case item.Key == "minLength" && kind == "string":
		add("minlen")
	case item.Key == "maxLength" && kind == "string":
		add("maxlen")
	case item.Key == "minimum" && number:
		add("min")
	case item.Key == "maximum" && number:
		add("max")
	case (item.Key == "exclusiveMinimum" || item.Key == "exclusiveMaximum") && kind == "integer":
		side, step := "min", int64(1)
		if item.Key == "exclusiveMaximum" {
			side, step = "max", -1
		}
		rule := tagparse.Rule{Name: item.Key, Param: item.Value}
		d.bound(foreignRule{rule, tag, item.at}, shape, side, step, true)
	case item.Key == "minItems" && kind == "array":
		add("minitems")
	case item.Key == "maxItems" && kind == "array":
		add("maxitems")
	case item.Key == "pattern" && kind == "string", item.Key == "format" && kind == "string", item.Key == "default":
		add(item.Key)
	case item.Key == "enum" && kind == "string":
		for i := range d.out {
			if d.out[i].tag == tag && d.out[i].Key == "enum" {
				d.out[i].List = append(d.out[i].List, item.Value)
				d.out[i].Value += "|" + item.Value
				return
			}
		}
		d.addList(tag, item.at, 0, "enum", []string{item.Value})
	default:
		d.meaningless(tag, item.Key, item.at)
	}
}

// settle joins what the tags of other libraries mean to the items of the aql tag, which win. It reports the contradictions,
// and returns the items for the field's elements by their depth.
func (s *shaper) settle(f *fieldSource, shape *model.Shape) map[int][]placedItem {
	all := s.derive(*f, shape)
	if len(all) == 0 {
		return nil
	}
	f.tag.items = slices.Clone(f.tag.items)
	own := len(f.tag.items)
	var elements map[int][]placedItem
	origin := make(map[string]derived)
	for _, d := range all {
		if d.depth > 0 {
			if elements == nil {
				elements = make(map[int][]placedItem)
			}
			elements[d.depth] = append(elements[d.depth], d.placedItem)
			continue
		}
		if item, ok := findItem(f.tag.items[:own], d.Key); ok {
			if d.Key != "desc" && d.Key != "format" && !sameItem(item, d.placedItem) {
				s.report(item.whole, Diagnostic{
					Code: codeType, FieldPath: f.path, Expected: d.Value, Actual: item.Value,
					Message:    fmt.Sprintf("%s=%s contradicts the %s tag, which says %s", item.Key, item.Value, d.tag, d.Value),
					Suggestion: "make the two agree, or remove one of them",
					Related:    []Related{s.related(d.whole.start, "the "+d.tag+" tag is here")},
				})
			}
			continue
		}
		if first, ok := origin[d.Key]; ok {
			if !sameItem(first.placedItem, d.placedItem) {
				s.report(d.whole, Diagnostic{
					Severity: SeverityWarning, Code: codeType, FieldPath: f.path, Actual: d.Value,
					Message:    fmt.Sprintf("this says another %s than the rule before, which counts", d.Key),
					Suggestion: "agents hear of one; the handler still has to check the other",
					Related:    []Related{s.related(first.whole.start, "the first rule is here")},
				})
			}
			continue
		}
		origin[d.Key] = d
		f.tag.items = append(f.tag.items, d.placedItem)
	}
	return elements
}

// sameItem reports whether two items of one key say the same.
func sameItem(a, b placedItem) bool {
	if a.List != nil || b.List != nil {
		x, y := slices.Sorted(slices.Values(a.List)), slices.Sorted(slices.Values(b.List))
		return slices.Equal(x, y)
	}
	if x, ok := parseNumber(a.Value); ok {
		if y, ok := parseNumber(b.Value); ok {
			return x.Cmp(y) == 0
		}
	}
	return a.Value == b.Value
}

// applyElements takes the constraints on the elements of a field, on those of its elements, and so on.
func (s *shaper) applyElements(f fieldSource, shape *model.Shape, param *model.Param, elements map[int][]placedItem) {
	shape = pointed(shape)
	for depth := 1; len(elements) > 0 && shape != nil && shape.Elem != nil; depth++ {
		shape = pointed(shape.Elem)
		param.Items = &model.Param{}
		param = param.Items
		c := constrainer{s, f, shape, param}
		for _, item := range elements[depth] {
			c.apply(item)
		}
		delete(elements, depth)
	}
}
