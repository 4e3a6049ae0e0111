package table

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// itself stands for the Go field of a parameter that is the whole request.
const itself = "."

// The words for values that have elements: a list, and an object whose members all have one type.
const (
	listOf = "[]"
	mapOf  = "{}"
)

// Print spells a parameter or field as a row. enums lists the values of a wire type that is an enum, which a row does not
// repeat; nil if there are none.
func Print(p *gen.Param, enums func(name string) []string) Row {
	field := p.Go
	if field == "" {
		field = itself
	}
	text := field + " " + p.Name + " " + printType(p)
	if rules := printRules(p, enums); rules != "" {
		text += " " + rules
	}
	return Row{text, p.Description}
}

// printType spells a wire type: string, []Todo, {}integer.
func printType(p *gen.Param) string {
	switch {
	case p.Items != nil && p.Type == "array":
		return listOf + printType(p.Items)
	case p.Items != nil && p.Type == "object":
		return mapOf + printType(p.Items)
	default:
		return strings.ReplaceAll(p.Type, " | ", "|")
	}
}

// printRules spells what a row says beside name and type, as the items of an aql tag.
func printRules(p *gen.Param, enums func(name string) []string) string {
	var rules []string
	add := func(key string, values ...string) {
		for i, value := range values {
			values[i] = quote(value)
		}
		rules = append(rules, key+"="+strings.Join(values, "|"))
	}
	flag := func(key string, set bool) {
		if set {
			rules = append(rules, key)
		}
	}
	text := func(key, value string) {
		if value != "" {
			add(key, value)
		}
	}
	count := func(key string, n int) {
		if n != 0 {
			add(key, strconv.Itoa(n))
		}
	}
	flag("required", p.Required)
	text("default", p.Default)
	if len(p.Enum) > 0 && (enums == nil || !slices.Equal(enums(p.Type), p.Enum)) {
		add("enum", slices.Clone(p.Enum)...)
	}
	text("min", p.Minimum)
	text("max", p.Maximum)
	count("minlen", p.MinLength)
	count("maxlen", p.MaxLength)
	count("minitems", p.MinItems)
	count("maxitems", p.MaxItems)
	text("pattern", p.Pattern)
	text("format", p.Format)
	flag("sensitive", p.Sensitive)
	flag("readonly", p.ReadOnly)
	flag("appendonly", p.AppendOnly)
	flag("id", p.ID)
	if len(p.Presets) > 0 {
		add("preset", slices.Clone(p.Presets)...)
	}
	if len(p.Aliases) > 0 {
		add("alias", slices.Clone(p.Aliases)...)
	}
	text("deprecated", p.Deprecated)
	flag("omitempty", p.OmitEmpty)
	flag("omitzero", p.OmitZero)
	flag("string", p.Quoted)
	if p.Items != nil {
		text("items", printElement(p.Items, enums))
	}
	return strings.Join(rules, ",")
}

// printElement spells the rules of an element, which has no row whose second text could be its description.
func printElement(p *gen.Param, enums func(name string) []string) string {
	rules := printRules(p, enums)
	if p.Description == "" {
		return rules
	}
	return strings.TrimPrefix(rules+",desc="+quote(p.Description), ",")
}

// quote is a value as it stands in a tag.
func quote(value string) string {
	if value != "" && !strings.ContainsAny(value, ",|'") && strings.TrimSpace(value) == value {
		return value
	}
	return "'" + strings.ReplaceAll(value, "'", "''") + "'"
}

// Parse reads a row that Print wrote. Values of enum types are left to be filled in.
func Parse(row Row) (gen.Param, error) {
	p := gen.Param{Description: row[1]}
	field, rest, _ := strings.Cut(row[0], " ")
	name, rest, ok := strings.Cut(rest, " ")
	if !ok {
		return p, fmt.Errorf("row %q has no type", row[0])
	}
	typeName, rules, _ := strings.Cut(rest, " ")
	if field != itself {
		p.Go = field
	}
	p.Name = name
	parseType(&p, typeName)
	if err := parseRules(&p, rules); err != nil {
		return p, fmt.Errorf("row %q: %w", row[0], err)
	}
	return p, nil
}

func parseType(p *gen.Param, text string) {
	switch {
	case strings.HasPrefix(text, listOf):
		p.Type, p.Items = "array", new(gen.Param)
	case strings.HasPrefix(text, mapOf):
		p.Type, p.Items = "object", new(gen.Param)
	default:
		p.Type = strings.ReplaceAll(text, "|", " | ")
		return
	}
	parseType(p.Items, text[len(listOf):])
}

func parseRules(p *gen.Param, text string) error {
	for text != "" {
		end := strings.IndexAny(text, ",=")
		if end < 0 {
			end = len(text)
		}
		key := text[:end]
		var values []string
		text = text[end:]
		for text != "" && text[0] != ',' {
			var value string
			var err error
			if value, text, err = parseValue(text[1:]); err != nil {
				return fmt.Errorf("%s: %w", key, err)
			}
			values = append(values, value)
		}
		if text = strings.TrimPrefix(text, ","); len(values) == 0 {
			values = []string{""}
		}
		if err := setRule(p, key, values); err != nil {
			return fmt.Errorf("%s: %w", key, err)
		}
	}
	return nil
}

// parseValue reads one value, in quotes or not, and returns what follows it.
func parseValue(text string) (value, rest string, err error) {
	if !strings.HasPrefix(text, "'") {
		end := strings.IndexAny(text, ",|")
		if end < 0 {
			end = len(text)
		}
		return text[:end], text[end:], nil
	}
	for i := 1; i < len(text); i++ {
		if text[i] != '\'' {
			continue
		}
		if i+1 < len(text) && text[i+1] == '\'' {
			i++
			continue
		}
		return strings.ReplaceAll(text[1:i], "''", "'"), text[i+1:], nil
	}
	return "", "", fmt.Errorf("a quote is not closed")
}

func setRule(p *gen.Param, key string, values []string) error {
	value := values[0]
	var err error
	switch key {
	case "required":
		p.Required = true
	case "default":
		p.Default = value
	case "enum":
		p.Enum = values
	case "min":
		p.Minimum = value
	case "max":
		p.Maximum = value
	case "minlen":
		p.MinLength, err = strconv.Atoi(value)
	case "maxlen":
		p.MaxLength, err = strconv.Atoi(value)
	case "minitems":
		p.MinItems, err = strconv.Atoi(value)
	case "maxitems":
		p.MaxItems, err = strconv.Atoi(value)
	case "pattern":
		p.Pattern = value
	case "format":
		p.Format = value
	case "sensitive":
		p.Sensitive = true
	case "readonly":
		p.ReadOnly = true
	case "appendonly":
		p.AppendOnly = true
	case "id":
		p.ID = true
	case "preset":
		p.Presets = values
	case "alias":
		p.Aliases = values
	case "deprecated":
		p.Deprecated = value
	case "desc": // of an element
		p.Description = value
	case "omitempty":
		p.OmitEmpty = true
	case "omitzero":
		p.OmitZero = true
	case "string":
		p.Quoted = true
	case "items":
		if p.Items == nil {
			return fmt.Errorf("the type has no elements")
		}
		return parseRules(p.Items, value)
	default:
		return fmt.Errorf("there is no such rule")
	}
	return err
}
