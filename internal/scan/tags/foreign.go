package tags

import (
	"go/token"

	"github.com/aqltag/aqltag/internal/scan/foreigntag"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/tagparse"
)

// Foreign is the struct tags of other libraries on a field.
type Foreign struct {
	Rules       []Rule       // of validate or binding
	Schema      []SchemaItem // of jsonschema, as items
	Description string       // of jsonschema, doc or description; the first of them wins
	strength    int          // of the description
}

// Rule is a rule of go-playground/validator with its place.
type Rule struct {
	foreigntag.Rule
	Origin
}

// SchemaItem is an item of a jsonschema tag with its place.
type SchemaItem struct {
	foreigntag.SchemaItem
	Origin
}

// Origin is a rule of another library in a struct tag.
type Origin struct {
	Tag  string // validate, binding or jsonschema
	Text string // such as max=10
	At   source.Span
}

// Spelled is the rule as messages name it.
func (s Origin) Spelled() string { return s.Tag + " rule " + s.Text }

// read reads one pair of a struct tag, if another library reads it.
func (t *Foreign) read(pair tagparse.Pair, place func(int) token.Pos) (problems []tagparse.Problem) {
	sourceOf := func(offset, end int) Origin {
		return Origin{pair.Key, pair.Value[offset:end], source.Span{Start: place(offset), End: place(end)}}
	}
	switch pair.Key {
	case "validate", "binding":
		if pair.Value == "-" {
			return nil
		}
		var rules []foreigntag.Rule
		rules, problems = foreigntag.ParseValidate(pair.Value)
		for _, rule := range rules {
			t.Rules = append(t.Rules, Rule{rule, sourceOf(rule.Offset, rule.End)})
		}
	case "jsonschema":
		items, ok := foreigntag.ParseSchema(pair.Value)
		if !ok {
			t.describe(pair.Value, 2)
			return nil
		}
		for _, item := range items {
			t.Schema = append(t.Schema, SchemaItem{item, sourceOf(item.Offset, item.End)})
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

func (t *Foreign) describe(text string, strength int) {
	if strength > t.strength && text != "" {
		t.Description, t.strength = text, strength
	}
}
