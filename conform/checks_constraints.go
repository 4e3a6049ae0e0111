package conform

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func constraintChecks() []check {
	return []check{
		{"params/enum", "a value that is none of the documented ones is refused", []string{"REQ-VO-06"}, Must, Parameters, 1, checkEnum},
		{"params/range", "a number beyond its documented bounds is refused", []string{"REQ-VO-07"}, Must, Parameters, 1, checkRange},
		{"params/pattern", "text that does not match its documented pattern is refused", []string{"REQ-VO-08"}, Must, Parameters, 1, checkPattern},
		{"params/length", "text that is shorter or longer than documented is refused", []string{"REQ-VO-09"}, Should, Parameters, 1, checkLength},
		{"params/items", "a list item of another type than documented is refused", []string{"REQ-VO-09"}, Should, Parameters, 1, checkItems},
		{"params/date-time", "a time that is not ISO 8601 is refused", []string{"REQ-DE-05"}, Must, Parameters, 1, checkDateTime},
		{"constraints/told", "a refusal says which parameter is meant and what would do", []string{"REQ-ER-07", "REQ-ER-09"}, Should, Constraints, 1, checkTold},
		{"constraints/documented", "no constraint is enforced that introspection keeps to itself", []string{"REQ-IN-18"}, Should, Constraints, 1, checkHidden},
		{"limits/depth", "the documented nesting limit holds", []string{"REQ-DE-10", "REQ-DE-14"}, Must, Parameters, 1, checkDepth},
	}
}

// violation is a value that breaks one constraint.
type violation struct {
	param *param
	path  string // of the value, as an error names it
	build func(value any) any
	value any
	what  string
	hint  string // what a refusal should mention
}

// violations are made of a parameter's own constraints, and of those of the fields one level in.
func (p *prober) violations(o *operation, breaks func(d *param) []violation) []violation {
	var all []violation
	for i := range o.Parameters {
		d := &o.Parameters[i]
		same := func(value any) any { return value }
		for _, each := range breaks(p.resolved(d)) {
			each.param, each.path, each.build = d, d.Name, same
			all = append(all, each)
		}
		t := p.types[d.Type]
		if t == nil || t.Kind != "object" {
			continue
		}
		for _, f := range t.Fields {
			if f.readOnly() {
				continue
			}
			whole, ok := p.object(requiredBut(t.Fields, f.Name), 1)
			if !ok {
				continue
			}
			if o.Category == "UPDATE" && d.Name == "input" {
				whole = map[string]any{}
			}
			build := func(value any) any { return with(whole.(map[string]any), f.Name, value) }
			for _, each := range breaks(p.resolved(&f)) {
				each.param, each.path, each.build = d, d.Name+"."+f.Name, build
				all = append(all, each)
			}
		}
	}
	return all
}

// requiredBut are the required fields but one.
func requiredBut(fields []param, name string) []param {
	var rest []param
	for _, f := range fields {
		if f.Required && f.Name != name {
			rest = append(rest, f)
		}
	}
	return rest
}

// resolved is a parameter with the values of its enum type.
func (p *prober) resolved(d *param) *param {
	t := p.types[d.Type]
	if len(d.Enum) > 0 || t == nil || t.Kind != "enum" {
		return d
	}
	changed := *d
	for _, value := range t.Values {
		changed.Enum = append(changed.Enum, value)
	}
	return &changed
}

// broken sends each violation; want is the code that fits best.
func (p *prober) broken(v *verdict, want string, breaks func(d *param) []violation) {
	p.each(v, func(o *operation, b *base) {
		for _, broken := range p.violations(o, breaks) {
			if p.claimed(o, b, broken.param) != nil {
				continue
			}
			x := p.send(o, with(p.fresh(o, b), broken.param.Name, broken.build(broken.value)))
			good := refused(x) || o.Name == "introspect" && x.answer.code == "INTROSPECTION_ERROR"
			if v.hold(good, x, "operation %s takes %s for '%s'", o.Name, broken.what, broken.path) {
				p.evidence.constraint(fmt.Sprintf("%s: %s for %s", o.Name, broken.what, broken.path), x)
				p.evidence.told = append(p.evidence.told, told{x, broken, want})
			}
		}
	})
}

func breakEnum(d *param) []violation {
	if len(d.Enum) == 0 || d.Name == "preset" {
		return nil
	}
	if _, ok := d.Enum[0].(string); !ok {
		return []violation{{value: -999_999, what: "a value that is none of the documented ones", hint: asJSON(d.Enum[0])}}
	}
	return []violation{{value: "no_such_value", what: "a value that is none of the documented ones", hint: fmt.Sprint(d.Enum[0])}}
}

func breakRange(d *param) []violation {
	var all []violation
	if names := alternatives(d.Type); !slices.Contains(names, "integer") && !slices.Contains(names, "number") {
		return nil // such as a number in quotes
	}
	add := func(limit *json.Number, step float64, what string) {
		if limit == nil {
			return
		}
		n, err := limit.Float64()
		if err != nil || math.Abs(n) > 1<<52 {
			return
		}
		all = append(all, violation{value: json.Number(strconv.FormatFloat(n+step, 'f', -1, 64)), what: what, hint: strconv.FormatFloat(n, 'f', -1, 64)})
	}
	add(d.Minimum, -1, "a number below its minimum")
	add(d.Maximum, 1, "a number above its maximum")
	return all
}

func breakPattern(d *param) []violation {
	if d.Pattern == "" {
		return nil
	}
	re, err := regexp.Compile(d.Pattern)
	if err != nil {
		return nil
	}
	for _, text := range []string{"☃", "no match!", " ", strings.Repeat("☃ ", max(1, min(d.MinLength, longest)/2))} {
		n := len([]rune(text))
		if !re.MatchString(text) && n >= d.MinLength && (d.MaxLength == nil || n <= *d.MaxLength) {
			return []violation{{value: text, what: "text that does not match its pattern"}}
		}
	}
	return nil
}

func breakLength(d *param) []violation {
	var all []violation
	if d.MinLength > 0 && d.MinLength < longest && d.Pattern == "" {
		all = append(all, violation{value: strings.Repeat("x", d.MinLength-1), what: "text that is too short", hint: strconv.Itoa(d.MinLength)})
	}
	if d.MaxLength != nil && *d.MaxLength >= 0 && *d.MaxLength < longest && d.Pattern == "" && d.Format == "" {
		all = append(all, violation{value: strings.Repeat("x", *d.MaxLength+1), what: "text that is too long", hint: strconv.Itoa(*d.MaxLength)})
	}
	return all
}

func checkEnum(p *prober, v *verdict)    { p.broken(v, "VALIDATION_INVALID_ENUM", breakEnum) }
func checkRange(p *prober, v *verdict)   { p.broken(v, "VALIDATION_OUT_OF_RANGE", breakRange) }
func checkPattern(p *prober, v *verdict) { p.broken(v, "VALIDATION_PATTERN_MISMATCH", breakPattern) }
func checkLength(p *prober, v *verdict)  { p.broken(v, "VALIDATION_OUT_OF_RANGE", breakLength) }

func checkItems(p *prober, v *verdict) {
	p.broken(v, "VALIDATION_INVALID_TYPE", func(d *param) []violation {
		if d.Type != "array" || d.Items == nil {
			return nil
		}
		var all []violation
		for _, other := range p.otherwise(d.Items) {
			all = append(all, violation{value: []any{other}, what: "a list with " + written(other)})
		}
		return all[:min(len(all), 1)]
	})
}

func checkDateTime(p *prober, v *verdict) {
	p.broken(v, "VALIDATION_INVALID_TYPE", func(d *param) []violation {
		if d.Format != "date-time" && d.Format != "date" {
			return nil
		}
		return []violation{{value: "yesterday", what: "text that is no time"}, {value: "03/01/2030", what: "a day in another notation"}}
	})
}

// told is a refusal and what it should say.
type told struct {
	exchange  *exchange
	violation violation
	code      string
}

func checkTold(p *prober, v *verdict) {
	for _, t := range p.evidence.told {
		x := t.exchange
		if x.introspection {
			continue
		}
		last := t.violation.path[strings.LastIndex(t.violation.path, ".")+1:]
		v.hold(x.answer.code == t.code || x.answer.code == "VALIDATION_INVALID_TYPE", x, "%s should be refused with %s, not with %s", t.violation.what, t.code, x.answer.code)
		name, _ := x.answer.details["param_name"].(string)
		v.hold(strings.Contains(x.answer.message, last) || strings.Contains(name, last), x, "the refusal does not name '%s'", t.violation.path)
		v.hold(strings.Contains(x.reply.Text, t.violation.hint), x, "the refusal does not mention what would do, such as '%s'", t.violation.hint)
	}
}

// checkHidden looks for sound requests that were refused for something else than names, types and what is required.
func checkHidden(p *prober, v *verdict) {
	for _, o := range p.runnable() {
		b := p.base(o)
		all := b.refused
		if b.params != nil {
			v.ok(b.exchange)
			all = append(all, p.variations(o, b)...)
		}
		for _, x := range all {
			hidden := refused(x) && !contradicts(x) && x.answer.code != "VALIDATION_UNKNOWN_PARAM"
			v.hold(!hidden, x, "operation %s refuses a request for a reason that introspection does not tell: %s", o.Name, x.answer.message)
		}
	}
}

func checkDepth(p *prober, v *verdict) {
	limits, _ := p.protocol["limits"].(map[string]any)
	number, ok := limits["max_nesting_depth"].(json.Number)
	limit, err := number.Int64()
	if !ok || err != nil || limit > 1000 {
		v.skip("no nesting limit is documented")
		return
	}
	var deep any = map[string]any{}
	for range limit {
		deep = map[string]any{"a": deep}
	}
	x := p.ask(p.asked, map[string]any{"query": "operations", "_probe": deep})
	v.hold(x.answer.code == "VALIDATION_PAYLOAD_TOO_LARGE", x, "a request deeper than the documented %d levels must fail with VALIDATION_PAYLOAD_TOO_LARGE", limit)
}
