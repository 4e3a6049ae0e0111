package tags

import (
	"go/token"
	"strings"

	"github.com/aqltag/aqltag/internal/scan/foreigntag"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/tagparse"
)

// Foreign is the struct tags of other libraries on a field.
type Foreign struct {
	Rules       []Rule       // of validate or binding
	Schema      []SchemaItem // of jsonschema, and of tags that are keywords of JSON Schema
	Description string       // of jsonschema, doc or description; the first of them wins
	Required    string       // of required, as huma has it: true or false; empty: there is none
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
	Tag  string // validate, binding, jsonschema, or a keyword such as minimum
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
	case "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "pattern",
		"minItems", "maxItems", "uniqueItems", "default":
		t.keyword(pair.Key, pair.Value, sourceOf(0, len(pair.Value)))
	case "required":
		t.Required = pair.Value
	case "enum", "enums":
		for offset := 0; offset <= len(pair.Value); {
			value, _, _ := strings.Cut(pair.Value[offset:], ",")
			t.keyword("enum", value, sourceOf(offset, offset+len(value)))
			offset += len(value) + 1
		}
	}
	return problems
}

// keyword adds a struct tag that is a keyword of JSON Schema, as huma and swag have them: it means what an item of a
// jsonschema tag does.
func (t *Foreign) keyword(name, value string, origin Origin) {
	t.Schema = append(t.Schema, SchemaItem{foreigntag.SchemaItem{Key: name, Value: value}, origin})
}

func (t *Foreign) describe(text string, strength int) {
	if strength > t.strength && text != "" {
		t.Description, t.strength = text, strength
	}
}
