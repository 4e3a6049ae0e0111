package scan

import (
	"go/token"

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
