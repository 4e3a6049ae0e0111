package emit

import (
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

// constants are the values of package gen's string types that have a name there.
var constants = map[any]string{
	gen.Create:             "Create",
	gen.Read:               "Read",
	gen.Update:             "Update",
	gen.Delete:             "Delete",
	gen.Execute:            "Execute",
	gen.Safe:               "Safe",
	gen.Reversible:         "Reversible",
	gen.Destructive:        "Destructive",
	gen.Dangerous:          "Dangerous",
	gen.Forbidden:          "Forbidden",
	gen.DangerFromTag:      "DangerFromTag",
	gen.DangerFromPattern:  "DangerFromPattern",
	gen.DangerFromCategory: "DangerFromCategory",
	gen.DangerFromInput:    "DangerFromInput",
	gen.KindEnum:           "KindEnum",
	gen.KindObject:         "KindObject",
	gen.KindScalar:         "KindScalar",
	gen.KindUnion:          "KindUnion",
}

// constant returns the literal of a value of one of package gen's string types.
func (g *generator) constant(value any, text string) string {
	if name, ok := constants[value]; ok {
		return g.gen(name)
	}
	if text == "" {
		return ""
	}
	return quote(text)
}

// gen returns the name of something in package gen.
func (g *generator) gen(name string) string { return g.names.use(pathGen, "gen") + "." + name }

// members are the keys and values of a composite literal that are set, in their order.
type members []string

func (m *members) add(key, value string) {
	if value != "" {
		*m = append(*m, key+": "+value)
	}
}

func (m *members) text(key, value string) {
	if value != "" {
		m.add(key, quote(value))
	}
}

func (m *members) flag(key string, set bool) {
	if set {
		m.add(key, "true")
	}
}

func (m members) String() string { return strings.Join(m, ", ") }

// field returns the literal of a parameter or field, without its type.
func (g *generator) field(p *gen.Param) string {
	m := make(members, 0, 8)
	m.text("Name", p.Name)
	m.text("Go", p.Go)
	m.text("Type", p.Type)
	if p.Items != nil {
		m.add("Items", "&"+g.gen("Field")+g.field(p.Items))
	}
	if p.Keys != nil {
		m.add("Keys", "&"+g.gen("Field")+g.field(p.Keys))
	}
	m.flag("Required", p.Required)
	m.flag("Nullable", p.Nullable)
	m.flag("Sensitive", p.Sensitive)
	m.flag("ReadOnly", p.ReadOnly)
	m.flag("AppendOnly", p.AppendOnly)
	m.flag("ID", p.ID)
	m.flag("OmitEmpty", p.OmitEmpty)
	m.flag("OmitZero", p.OmitZero)
	m.flag("Quoted", p.Quoted)
	if rules := g.rules(p); len(rules) > 0 {
		m.add("Rules", g.gen("Rules")+"{"+strings.Join(rules, ", ")+"}")
	}
	m.text("Description", p.Description)
	return "{" + m.String() + "}"
}

// rules returns the literals of the rules of a parameter or field.
func (g *generator) rules(p *gen.Param) []string {
	var rules []string
	text := func(name, value string) {
		if value != "" {
			rules = append(rules, g.gen(name)+"("+quote(value)+")")
		}
	}
	number := func(name string, value int) {
		if value != 0 {
			rules = append(rules, g.gen(name)+"("+strconv.Itoa(value)+")")
		}
	}
	list := func(name string, values []string) {
		if len(values) > 0 {
			rules = append(rules, g.gen(name)+"{"+quoteAll(values)+"}")
		}
	}
	text("Default", p.Default)
	text("Constant", p.Constant)
	if p.Constant == "" && !slices.Equal(p.Enum, g.enums[p.Type]) {
		list("Enum", p.Enum)
	}
	text("Min", p.Minimum)
	text("Max", p.Maximum)
	number("MinLen", p.MinLength)
	number("MaxLen", p.MaxLength)
	number("MinItems", p.MinItems)
	number("MaxItems", p.MaxItems)
	text("Pattern", p.Pattern)
	if p.FormatRule {
		text("FormatRule", p.Format)
	} else {
		text("Format", p.Format)
	}
	list("Presets", p.Presets)
	switch {
	case p.Filter == nil:
	case slices.Equal(p.Filter, gen.Operators(p)):
		rules = append(rules, g.gen("Filter")+"{}")
	default:
		list("Filter", p.Filter)
	}
	if p.Search {
		rules = append(rules, g.gen("Search")+"{}")
	}
	list("Aliases", p.Aliases)
	list("Excludes", p.Excludes)
	if p.DryRun {
		rules = append(rules, g.gen("DryRun")+"{}")
	}
	text("Deprecated", p.Deprecated)
	return rules
}

// wireTypes writes the types that the operations mention, a line for each field or value.
func (g *generator) wireTypes(p *printer) {
	if len(g.pkg.Types) == 0 {
		return
	}
	p.open("var ", g.typesName, " = []", g.gen("WireType"), "{")
	for i := range g.pkg.Types {
		g.wireType(p, &g.pkg.Types[i])
	}
	p.shut("}")
}

func (g *generator) wireType(p *printer, t *gen.Type) {
	var m members
	m.text("Name", t.Name)
	m.add("Kind", g.constant(t.Kind, string(t.Kind)))
	if t.Filters == "" {
		m.text("Description", t.Description)
	}
	m.text("Changes", t.Changes)
	m.text("Filters", t.Filters)
	if t.Items != nil {
		m.add("Items", "&"+g.gen("Field")+g.field(t.Items))
	}
	if len(t.Members) > 0 {
		m.add("Members", stringsLiteral(t.Members))
	}
	if len(t.Withheld) > 0 {
		m.add("Withheld", stringsLiteral(t.Withheld))
	}
	fields := t.Fields
	if t.Filters != "" { // the others are those of the elements
		fields = nestedFields(fields)
	}
	switch {
	case len(t.Values) > 0:
		p.open("{", m.String(), ", Values: []", g.gen("EnumValue"), "{")
		for _, value := range t.Values {
			p.line(g.enumValue(t.Name, value), ",")
		}
		p.shut("}},")
	case len(fields) > 0 && t.Changes == "":
		p.open("{", m.String(), ", Fields: []", g.gen("Field"), "{")
		for i := range fields {
			p.line(g.field(&fields[i]), ",")
		}
		if computed := g.computedFields(t, p.indent-1); computed != nil {
			p.shut("}, ", computed.String(), "},")
			return
		}
		p.shut("}},")
	default:
		p.line("{", m.String(), "},")
	}
}

// nestedFields returns the fields of a filter that are in structs of the elements.
func nestedFields(fields []gen.Param) (nested []gen.Param) {
	for _, f := range fields {
		if strings.Contains(f.Name, ".") {
			f.Description = ""
			nested = append(nested, f)
		}
	}
	return nested
}

// enumValue returns the literal of a value of an enum type. It mentions the constant of the value, so that the build
// breaks when that is removed.
func (g *generator) enumValue(typeName string, value gen.EnumValue) string {
	text := quote(value.Value)
	if constant, ok := g.pkg.Constants[model.EnumConstant{Type: typeName, Value: value.Value}]; ok {
		text = "string(" + g.goType(constant) + ")"
	}
	m := members{"Value: " + text}
	m.text("Description", value.Description)
	return "{" + m.String() + "}"
}

// collectEnums finds the values of the wire types that are enums.
func (g *generator) collectEnums() {
	g.enums = make(map[string][]string)
	for i := range g.pkg.Types {
		for _, value := range g.pkg.Types[i].Values {
			g.enums[g.pkg.Types[i].Name] = append(g.enums[g.pkg.Types[i].Name], value.Value)
		}
	}
}

// quote returns the Go literal of a string: between backquotes where that spares escapes.
func quote(s string) string {
	plain := !strings.ContainsFunc(s, func(r rune) bool {
		return r == '`' || r == unicode.ReplacementChar || !unicode.IsPrint(r)
	})
	if plain && strings.ContainsAny(s, "\"\\") {
		return "`" + s + "`"
	}
	return strconv.Quote(s)
}

func quoteAll(list []string) string {
	quoted := make([]string, len(list))
	for i, s := range list {
		quoted[i] = quote(s)
	}
	return strings.Join(quoted, ", ")
}

func stringsLiteral(list []string) string { return "[]string{" + quoteAll(list) + "}" }

// duration returns the Go expression of a duration, empty for zero.
func (g *generator) duration(d time.Duration) string {
	units := []struct {
		unit time.Duration
		name string
	}{
		{time.Hour, "Hour"}, {time.Minute, "Minute"}, {time.Second, "Second"}, {time.Millisecond, "Millisecond"},
		{time.Nanosecond, "Nanosecond"},
	}
	for _, u := range units {
		if d%u.unit == 0 && d != 0 {
			return strconv.FormatInt(int64(d/u.unit), 10) + " * " + g.names.use(pathTime, "time") + "." + u.name
		}
	}
	return ""
}
