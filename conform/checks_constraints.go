package conform

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// violation is a value that breaks one constraint.
type violation struct {
	param   *param
	path    string // of the value, such as input.title
	replace func(value any) any
	value   any
	what    string
	hint    string // what the message should mention
}

// violations makes violations of the constraints of parameters and of the fields one level below them. violate makes
// those of one parameter or field.
func (p *prober) violations(o *operation, violate func(d *param) []violation) []violation {
	var all []violation
	for i := range o.Parameters {
		d := &o.Parameters[i]
		same := func(value any) any { return value }
		for _, each := range violate(p.withEnumValues(d)) {
			each.param, each.path, each.replace = d, d.Name, same
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
			object, ok := p.newObject(requiredExcept(t.Fields, f.Name), 1)
			if !ok {
				continue
			}
			replaced := func(value any) any { return with(object.(map[string]any), f.Name, value) }
			for _, each := range violate(p.withEnumValues(&f)) {
				each.param, each.path, each.replace = d, d.Name+"."+f.Name, replaced
				all = append(all, each)
			}
		}
	}
	return all
}

// requiredExcept returns the required fields other than one.
func requiredExcept(fields []param, name string) []param {
	var rest []param
	for _, f := range fields {
		if f.Required && f.Name != name {
			rest = append(rest, f)
		}
	}
	return rest
}

// withEnumValues returns a parameter with the values of its enum type.
func (p *prober) withEnumValues(d *param) *param {
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

// expectRefusals sends each violation and expects that it is refused; want is the code that fits best.
func (p *prober) expectRefusals(rec *recorder, want string, violate func(d *param) []violation) {
	broken := map[*operation][]violation{}
	for _, o := range p.operations {
		broken[o] = p.violations(o, violate)
	}
	applies := func(o *operation) bool { return len(broken[o]) > 0 }
	p.eachCallableWith(rec, applies, func(o *operation, b *baseline) {
		for _, broken := range broken[o] {
			if p.rejectedSample(o, b, broken.param) != nil {
				rec.unjudged("operation %s refuses even a valid value of '%s'", o.Name, broken.param.Name)
				continue // params/valid reports it
			}
			x := p.send(o, with(p.freshParams(o, b), broken.param.Name, broken.replace(broken.value)))
			if p.expectRefused(rec, o, b, x, "operation %s with %s for '%s'", o.Name, broken.what, broken.path) {
				p.evidence.addConstraint(fmt.Sprintf("%s: %s for %s", o.Name, broken.what, broken.path), x)
				p.evidence.refusals = append(p.evidence.refusals, refusedViolation{x, broken, want})
			}
		}
	})
	rec.skip("no operation documents such a constraint")
}

func breakEnum(d *param) []violation {
	if len(d.Enum) == 0 || d.Name == "preset" {
		return nil
	}
	const what = "a value that is none of the documented ones"
	if _, ok := d.Enum[0].(string); !ok {
		return []violation{{value: -999_999, what: what, hint: asJSON(d.Enum[0])}}
	}
	return []violation{{value: "no_such_value", what: what, hint: fmt.Sprint(d.Enum[0])}}
}

func breakRange(d *param) []violation {
	var all []violation
	if names := alternatives(d.Type); !slices.Contains(names, "integer") && !slices.Contains(names, "number") {
		return nil // the bounds are of something else, such as a number in quotes
	}
	add := func(limit *json.Number, step int64, what string) {
		if limit == nil {
			return
		}
		if n, ok := rational(*limit); ok {
			beyond := new(big.Rat).Add(n, big.NewRat(step, 1))
			all = append(all, violation{value: decimal(beyond), what: what, hint: string(decimal(n))})
		}
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
	for _, text := range []string{"☃", "no match!", " ", strings.Repeat("☃ ", max(1, min(d.MinLength, maxLength)/2))} {
		n := len([]rune(text))
		if !re.MatchString(text) && n >= d.MinLength && (d.MaxLength == nil || n <= *d.MaxLength) {
			return []violation{{value: text, what: "text that does not match its pattern"}}
		}
	}
	return nil
}

func breakLength(d *param) []violation {
	var all []violation
	if d.MinLength > 0 && d.MinLength < maxLength && d.Pattern == "" {
		short := strings.Repeat("x", d.MinLength-1)
		all = append(all, violation{value: short, what: "text that is too short", hint: strconv.Itoa(d.MinLength)})
	}
	if d.MaxLength != nil && *d.MaxLength >= 0 && *d.MaxLength < maxLength && d.Pattern == "" && d.Format == "" {
		long := strings.Repeat("x", *d.MaxLength+1)
		all = append(all, violation{value: long, what: "text that is too long", hint: strconv.Itoa(*d.MaxLength)})
	}
	return all
}

func checkEnum(p *prober, rec *recorder) { p.expectRefusals(rec, "VALIDATION_INVALID_ENUM", breakEnum) }
func checkRange(p *prober, rec *recorder) {
	p.expectRefusals(rec, "VALIDATION_OUT_OF_RANGE", breakRange)
}
func checkPattern(p *prober, rec *recorder) {
	p.expectRefusals(rec, "VALIDATION_PATTERN_MISMATCH", breakPattern)
}
func checkLength(p *prober, rec *recorder) {
	p.expectRefusals(rec, "VALIDATION_OUT_OF_RANGE", breakLength)
}

func checkItems(p *prober, rec *recorder) {
	p.expectRefusals(rec, "VALIDATION_INVALID_TYPE", func(d *param) []violation {
		if d.Type != "array" || d.Items == nil {
			return nil
		}
		var all []violation
		for _, other := range p.valuesOfOtherTypes(d.Items) {
			all = append(all, violation{value: []any{other}, what: "a list with " + describeValue(other)})
		}
		return all[:min(len(all), 1)]
	})
}

func checkDateTime(p *prober, rec *recorder) {
	p.expectRefusals(rec, "VALIDATION_INVALID_TYPE", func(d *param) []violation {
		if d.Format != "date-time" && d.Format != "date" {
			return nil
		}
		return []violation{
			{value: "yesterday", what: "text that is no time"}, {value: "03/01/2030", what: "a day in another notation"},
		}
	})
}

// refusedViolation is the answer to a violation.
type refusedViolation struct {
	exchange  *exchange
	violation violation
	code      string
}

func checkRefusals(p *prober, rec *recorder) {
	for _, t := range p.evidence.refusals {
		x := t.exchange
		if x.introspection {
			continue
		}
		last := t.violation.path[strings.LastIndex(t.violation.path, ".")+1:]
		if x.uncoded() {
			rec.unjudged("refusals have no code that says what is wrong")
		} else {
			rec.expect(x.answer.code == t.code || x.answer.code == "VALIDATION_INVALID_TYPE", x,
				"%s should be refused with %s, not with %s", t.violation.what, t.code, x.answer.code)
		}
		name, _ := x.answer.details["param_name"].(string)
		rec.expect(strings.Contains(x.answer.message, last) || strings.Contains(name, last), x,
			"the refusal does not name '%s'", t.violation.path)
		rec.expect(strings.Contains(x.reply.Text, t.violation.hint), x,
			"the refusal does not mention what would do, such as '%s'", t.violation.hint)
	}
	rec.skip("no value that breaks a constraint of another operation than introspect was refused")
}

// checkUndocumentedRules looks for valid requests that were refused for another reason than names, types and missing
// parameters.
func checkUndocumentedRules(p *prober, rec *recorder) {
	for _, o := range p.callable() {
		b := p.baseline(o)
		all := b.rejected
		if b.params != nil {
			rec.pass(b.exchange)
			all = append(all, p.sendVariations(o, b)...)
		} else if b.exchange == nil {
			rec.unjudged("%s", noRequest(o, b))
		}
		for _, x := range all {
			switch refusalOf(x) {
			case accepted:
				rec.pass(x)
			case refused:
				if !contradictsIntrospection(x) && x.answer.code != "VALIDATION_UNKNOWN_PARAM" {
					rec.fail(exchanges(x), "operation %s refuses a request for a reason that introspection does not tell: %s", o.Name,
						clip(x.answer.message, 200))
				}
			case perhaps:
				rec.unjudged("operation %s fails%s on a request that is valid by introspection, and no code says whether "+
					"it refuses the request", o.Name, because(x))
			default:
				rec.unjudged("the answer of operation %s can be read neither as success nor as failure", o.Name)
			}
		}
	}
	for _, name := range p.unread {
		rec.unjudged("the details of operation %s cannot be read", name)
	}
}

func checkDepth(p *prober, rec *recorder) {
	limits, _ := p.protocol["limits"].(map[string]any)
	number, ok := limits["max_nesting_depth"].(json.Number)
	limit, err := number.Int64()
	if !ok || err != nil || limit > 1000 {
		rec.skip("no nesting limit is documented")
		return
	}
	var deep any = map[string]any{}
	for range limit {
		deep = map[string]any{"a": deep}
	}
	x := p.introspectWith(p.introspectTool, map[string]any{"query": "operations", "_probe": deep})
	rec.expectCode(x, "VALIDATION_PAYLOAD_TOO_LARGE", "a request deeper than the documented %d levels", limit)
}
