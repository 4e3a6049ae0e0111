package golden_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
)

var (
	exactly = regexp.MustCompile(`Exactly (\d+) items?`)
	between = regexp.MustCompile(`(\d+) to (\d+) items`)
	atLeast = regexp.MustCompile(`(\d+) items? or more`)
	upTo    = regexp.MustCompile(`Up to (\d+) items?`)
)

// itemBounds reads how many items there may be, which the protocol has no member for, in a description; 0: no bound.
func itemBounds(description string) (low, high int) {
	number := func(text string) int { n, _ := strconv.Atoi(text); return n }
	if m := exactly.FindStringSubmatch(description); m != nil {
		return number(m[1]), number(m[1])
	}
	if m := between.FindStringSubmatch(description); m != nil {
		return number(m[1]), number(m[2])
	}
	if m := atLeast.FindStringSubmatch(description); m != nil {
		return number(m[1]), 0
	}
	if m := upTo.FindStringSubmatch(description); m != nil {
		return 0, number(m[1])
	}
	return 0, 0
}

// value is a random value with what introspection says about it.
type value struct {
	about   described
	plain   bool // all that there is to know about it is in its description
	raw     string
	members []member // of an object
	items   []*value // of an array
	object  bool
	array   bool
	known   bool // an object whose members are known
}

type member struct {
	name  string
	value *value
}

func (v *value) text() string {
	switch {
	case v.object:
		var members []string
		for _, m := range v.members {
			members = append(members, strconv.Quote(m.name)+":"+m.value.text())
		}
		return "{" + strings.Join(members, ",") + "}"
	case v.array:
		var items []string
		for _, item := range v.items {
			items = append(items, item.text())
		}
		return "[" + strings.Join(items, ",") + "]"
	default:
		return v.raw
	}
}

// valueMaker makes random requests to an operation from its introspection.
type valueMaker struct {
	random    *rand.Rand
	about     introspected
	operation describedOperation
	obscure   string // a parameter that introspection alone does not tell a value of
}

// isPlain reports whether values can be made from the description alone: not of types that read themselves, whose text
// only their examples show.
func (g *valueMaker) isPlain(d described, depth int) bool {
	if depth > 6 {
		return true // recursive types end there
	}
	if strings.Contains(d.Description, "as a string") || strings.Contains(d.Description, "the service checks") ||
		strings.Contains(d.Description, "have the format") || d.Format != "" && !strings.HasPrefix(d.Format, "date") ||
		d.Type == "string | string[]" {
		return false
	}
	switch t := g.about.types[d.Type]; {
	case t.Kind == "object":
		return !slices.ContainsFunc(t.Fields, func(f described) bool { return f.Required && !g.isPlain(f, depth+1) })
	case t.Kind == "enum":
		return true
	case t.Kind != "":
		return false
	}
	switch d.Type {
	case "string", "integer", "number", "boolean":
		return true
	case "array":
		return d.Items != nil && g.isPlain(*d.Items, depth+1)
	case "object":
		return d.Items != nil && g.isPlain(*d.Items, depth+1)
	}
	return false
}

// params makes the parameters of a request. It returns false where a required one has neither a plain description nor
// an example.
func (g *valueMaker) params() (*value, bool) {
	out := &value{object: true, known: true}
	pages := map[string]bool{}
	for _, d := range g.operation.Parameters {
		pages[d.Name] = true
	}
	for _, d := range g.operation.Parameters {
		if contradicts(pages, d.Name) {
			continue
		}
		if !d.Required && g.random.IntN(2) == 0 || describesNothing(d, out.members) {
			continue
		}
		if g.isPlain(d, 0) {
			out.members = append(out.members, member{d.Name, g.value(d, 0)})
			continue
		}
		var shown json.RawMessage
		for _, example := range g.operation.Examples {
			if text, ok := example.Request.Params[d.Name]; ok {
				shown = text
			}
		}
		switch {
		case shown != nil:
			out.members = append(out.members, member{d.Name, &value{about: d, raw: string(shown)}})
		case d.Required:
			g.obscure = d.Name
			return nil, false
		}
	}
	g.random.Shuffle(len(out.members), func(i, j int) { out.members[i], out.members[j] = out.members[j], out.members[i] })
	return out, true
}

// contradicts reports whether a parameter of pages is left out, of an operation with these: its cursors are none of the
// service's, and no description tells which of the parameters contradict each other.
func contradicts(params map[string]bool, name string) bool {
	return params["first"] && params["after"] && slices.Contains([]string{"after", "last", "before"}, name)
}

// isSummary reports whether an object with these fields is a summary of a collection, which has one function or more.
func isSummary(fields []described) bool {
	return slices.ContainsFunc(fields, func(f described) bool { return f.Name == "count" && f.Type == "boolean" }) &&
		slices.ContainsFunc(fields, func(f described) bool { return f.Name == "max" && f.Enum != nil })
}

// describesNothing reports whether a value says how binary data is encoded, and the data is not among the members. It
// comes back with its data only.
func describesNothing(d described, members []member) bool {
	var of string
	for _, start := range []string{"Encoding of ", "Media type of "} {
		if rest, ok := strings.CutPrefix(d.Description, start); ok && len(d.Enum) == 1 {
			of, _, _ = strings.Cut(rest, ".")
		}
	}
	return of != "" && !slices.ContainsFunc(members, func(m member) bool { return m.name == of })
}

func (g *valueMaker) value(d described, depth int) *value {
	v := &value{about: d, plain: true}
	t := g.about.types[d.Type]
	switch {
	case len(d.Enum) > 0:
		v.raw = strconv.Quote(d.Enum[g.random.IntN(len(d.Enum))])
	case t.Kind == "enum":
		v.raw = strconv.Quote(t.Values[g.random.IntN(len(t.Values))])
	case t.Kind == "object":
		v.object, v.known = true, true
		for _, f := range t.Fields {
			if isSummary(t.Fields) && f.Name == "count" {
				v.members = append(v.members, member{f.Name, &value{about: f, plain: true, raw: "true"}})
				continue
			}
			if f.Required || depth < 3 && g.random.IntN(3) == 0 && g.isPlain(f, depth) && !describesNothing(f, v.members) {
				v.members = append(v.members, member{f.Name, g.value(f, depth+1)})
			}
		}
	case d.Type == "array":
		v.array = true
		for range g.length(d.Description, depth) {
			v.items = append(v.items, g.value(*d.Items, depth+1))
		}
	case d.Type == "object":
		v.object = true
		if names, operators := strings.CutPrefix(d.Description, "Object with operators: "); operators {
			name, _, _ := strings.Cut(names, ",")
			v.members = []member{{name, g.value(*d.Items, depth+1)}}
			break
		}
		for i := range g.length(d.Description, depth) {
			v.members = append(v.members, member{strconv.Itoa(i + 1), g.value(*d.Items, depth+1)})
		}
	case d.Type == "boolean":
		v.raw = []string{"true", "false"}[g.random.IntN(2)]
	case d.Type == "integer":
		low, high := bounds(d)
		v.raw = strconv.FormatInt(low+g.random.Int64N(high-low+1), 10)
	case d.Type == "number":
		low, high := bounds(d)
		v.raw = strconv.FormatFloat(float64(low)+g.random.Float64()*float64(high-low), 'f', 2, 64)
		if float64(low) == float64(high) {
			v.raw = strconv.FormatInt(low, 10)
		}
	case d.Format == "date-time":
		v.raw = fmt.Sprintf(`"20%02d-0%d-1%dT0%d:00:00Z"`, g.random.IntN(90)+10, 1+g.random.IntN(9), g.random.IntN(9),
			g.random.IntN(9))
	case d.Format == "date":
		v.raw = fmt.Sprintf(`"20%02d-0%d-1%d"`, g.random.IntN(90)+10, 1+g.random.IntN(9), g.random.IntN(9))
	default:
		v.raw = strconv.Quote(g.string(d))
	}
	return v
}

func (g *valueMaker) length(description string, depth int) int {
	low, high := itemBounds(description)
	if high == 0 {
		high = low + 3
	}
	if depth > 3 {
		return low
	}
	return low + g.random.IntN(min(high-low, 3)+1)
}

// bounds are the whole numbers that a number may be, within a thousand of each other where there is no bound.
func bounds(d described) (low, high int64) {
	number := func(n *json.Number) int64 { return int64(float64Of(n)) }
	switch {
	case d.Minimum != nil && d.Maximum != nil:
		low, high = number(d.Minimum), number(d.Maximum)
	case d.Minimum != nil:
		low = number(d.Minimum)
		high = low + 100
	case d.Maximum != nil:
		high = number(d.Maximum)
		low = high - 100
	default:
		low, high = -100, 100
	}
	if d.Minimum != nil && strings.Contains(string(*d.Minimum), ".") && low >= 0 {
		low++
	}
	if low < -1000 {
		low = max(low, min(high, 0)-100)
	}
	if high-low > 1000 {
		high = low + 1000
	}
	return low, max(low, high)
}

func float64Of(n *json.Number) float64 {
	f, _ := n.Float64()
	return f
}

func (g *valueMaker) string(d described) string {
	if d.Pattern != "" {
		if parsed, err := syntax.Parse(d.Pattern, syntax.Perl); err == nil {
			for range 50 {
				s := g.matching(parsed.Simplify())
				if missing := d.MinLength - len([]rune(s)); missing > 0 && !strings.HasSuffix(d.Pattern, "$") {
					s += strings.Repeat("a", missing)
				}
				if n := len([]rune(s)); n >= d.MinLength && (d.MaxLength == 0 || n <= d.MaxLength) &&
					regexp.MustCompile(d.Pattern).MatchString(s) {
					return s
				}
			}
		}
	}
	length := d.MinLength + g.random.IntN(4)
	if d.MaxLength > 0 {
		length = min(length, d.MaxLength)
	}
	var s strings.Builder
	for range length {
		s.WriteString([]string{"a", "é", "日", "Z", " ", "7"}[g.random.IntN(6)])
	}
	return s.String()
}

// matching makes a string that an expression matches, mostly.
func (g *valueMaker) matching(re *syntax.Regexp) string {
	var s strings.Builder
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		for range 20 {
			pair := 2 * g.random.IntN(len(re.Rune)/2)
			if r := re.Rune[pair] + rune(g.random.IntN(int(min(re.Rune[pair+1]-re.Rune[pair], 20))+1)); r >= ' ' && r != '"' &&
				r != '\\' && r != 0x7f {
				return string(r)
			}
		}
		return "a"
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "x"
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			s.WriteString(g.matching(sub))
		}
	case syntax.OpAlternate:
		return g.matching(re.Sub[g.random.IntN(len(re.Sub))])
	case syntax.OpStar, syntax.OpPlus, syntax.OpQuest, syntax.OpRepeat:
		low, high := re.Min, re.Max
		switch re.Op {
		case syntax.OpStar:
			low, high = 0, 3
		case syntax.OpPlus:
			low, high = 1, 3
		case syntax.OpQuest:
			low, high = 0, 1
		}
		if high < low {
			high = low + 3
		}
		for range low + g.random.IntN(min(high-low, 3)+1) {
			s.WriteString(g.matching(re.Sub[0]))
		}
	}
	return s.String()
}

// mutation is a request that is wrong in one way.
type mutation struct {
	what, text  string
	code, param string // param empty: the answer names none
	bytes       bool   // what is wrong is not a matter of values
}

// mutations breaks a sound request in one way each, at one random place for every kind of mistake.
func (g *valueMaker) mutations(params *value) []mutation {
	var all []mutation
	text := params.text()
	all = append(all,
		mutation{"bytes behind the value", text + "}", "VALIDATION_MALFORMED_JSON", "", true},
		mutation{"broken UTF-8", strings.Replace(text, "{", "{\"x\":\"\xff\",", 1), "VALIDATION_INVALID_ENCODING", "", true},
		mutation{"an unknown parameter", g.with(params, params, "no_such_parameter", "1"), "VALIDATION_UNKNOWN_PARAM", "",
			false},
	)
	if len(params.members) > 0 {
		first := params.members[0]
		all = append(all,
			mutation{"a name twice", strings.Replace(text, "{", "{"+strconv.Quote(first.name)+":"+first.value.text()+",", 1),
				"VALIDATION_DUPLICATE_PARAM", first.name, true})
	}
	for _, d := range g.operation.Parameters {
		if d.Required {
			all = append(all,
				mutation{"a required parameter that is missing", g.without(params, d.Name), "VALIDATION_MISSING_PARAM", d.Name,
					false})
			break
		}
	}
	places := g.places(params, "")
	g.random.Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	for _, p := range places[:min(len(places), 6)] {
		all = append(all, g.broken(params, p)...)
	}
	return slices.DeleteFunc(all, func(m mutation) bool { return m.text == "" })
}

// place is a value in a request, with its path.
type place struct {
	value *value
	path  string
}

// places lists the plain values of a request that are not inside of something obscure.
func (g *valueMaker) places(v *value, path string) []place {
	var all []place
	for i, item := range v.items {
		all = append(all, g.places(item, fmt.Sprintf("%s[%d]", path, i))...)
	}
	for _, m := range v.members {
		inner := m.name
		if path != "" {
			inner = path + "." + m.name
		}
		all = append(all, g.places(m.value, inner)...)
	}
	if path != "" && v.plain {
		all = append(all, place{v, path})
	}
	return all
}

func (g *valueMaker) with(params, at *value, name, text string) string {
	at.members = append(at.members, member{name, &value{raw: text}})
	defer func() { at.members = at.members[:len(at.members)-1] }()
	return params.text()
}

func (g *valueMaker) without(params *value, name string) string {
	kept := params.members
	defer func() { params.members = kept }()
	params.members = slices.DeleteFunc(slices.Clone(kept), func(m member) bool { return m.name == name })
	return params.text()
}

// broken makes requests in which the value at one place is wrong.
func (g *valueMaker) broken(params *value, p place) []mutation {
	var all []mutation
	d := p.value.about
	replaced := func(text string) string {
		kept := *p.value
		*p.value = value{raw: text}
		defer func() { *p.value = kept }()
		return params.text()
	}
	add := func(what, text, code string) { all = append(all, mutation{what, replaced(text), code, p.path, false}) }
	outOfRange := func(what, text string) { add(what, text, "VALIDATION_OUT_OF_RANGE") }
	const typeError = "VALIDATION_INVALID_TYPE"
	switch t := g.about.types[d.Type]; {
	case p.value.known:
		add("text for an object", `"x"`, typeError)
		all = append(all,
			mutation{"an unknown field", g.with(params, p.value, "no_such_field", "1"), "VALIDATION_UNKNOWN_FIELD", p.path,
				false})
	case p.value.object:
		add("a list for an object", `[]`, typeError)
	case p.value.array:
		add("a number for a list", `1`, typeError)
		if _, high := itemBounds(d.Description); high > 0 && len(p.value.items) > 0 {
			items := slices.Repeat([]string{p.value.items[0].text()}, high+1)
			outOfRange("too many items", "["+strings.Join(items, ",")+"]")
		}
		if low, _ := itemBounds(d.Description); low > 0 {
			outOfRange("too few items", "[]")
		}
	case len(d.Enum) > 0, t.Kind == "enum":
		add("none of the values", `"no such value"`, "VALIDATION_INVALID_ENUM")
	case d.Type == "boolean":
		add("text for a boolean", `"true"`, typeError)
	case d.Type == "integer", d.Type == "number":
		add("text for a number", `"1"`, typeError)
		if d.Type == "integer" {
			add("a fraction for an integer", `1.5`, typeError)
		}
		const exact = 1 << 52 // one more is another number
		if d.Minimum != nil && math.Abs(float64Of(d.Minimum)) < exact {
			outOfRange("too small", strconv.FormatFloat(float64Of(d.Minimum)-1, 'f', -1, 64))
		}
		if d.Maximum != nil && math.Abs(float64Of(d.Maximum)) < exact {
			outOfRange("too large", strconv.FormatFloat(float64Of(d.Maximum)+1, 'f', -1, 64))
		}
	case d.Format == "date-time":
		add("a day for a date-time", `"2026-03-01"`, typeError)
	case d.Format == "date":
		add("a day that no month has for a date", `"2026-02-30"`, typeError)
	case d.Type == "string":
		add("an object for text", `{}`, typeError)
		if d.MinLength > 0 {
			outOfRange("too short", strconv.Quote(strings.Repeat("é", d.MinLength-1)))
		}
		if d.MaxLength > 0 {
			outOfRange("too long", strconv.Quote(strings.Repeat("é", d.MaxLength+1)))
		}
		if strings.HasPrefix(d.Pattern, "^") && d.MaxLength == 0 && d.MinLength == 0 &&
			!regexp.MustCompile(d.Pattern).MatchString("\u2603") {
			add("text without the pattern", `"☃"`, "VALIDATION_PATTERN_MISMATCH")
		}
	}
	return all
}
