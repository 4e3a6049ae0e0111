package existing

import (
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aqltag/aqltag/internal/scan/foreigntag"
	"github.com/aqltag/aqltag/internal/scan/gotype"
	"github.com/aqltag/aqltag/internal/scan/jsonvalue"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/tags"
)

// rule translates rule i of go-playground/validator. Such rules are about Go values, so they are translated only where
// JSON carries the Go value itself: not for times, nor for types that read themselves.
func (d *deriver) rule(i int) {
	r := d.field.Tag.Foreign.Rules[i]
	shape, direct := d.at(r.Depth)
	switch {
	case shape == nil:
		if r.Name == "dive" {
			d.remark(r.Origin, "dive",
				fmt.Sprintf("%s has no elements for dive to go into, at which validator panics", d.text(d.field.Var.Type())),
				"remove dive and the rules behind it")
		}
		return
	case r.Key:
		d.warnUntranslated(r.Origin, r.String(), "the keys of a map")
		return
	case r.Alternatives != nil:
		d.alternatives(r, shape)
		return
	}
	switch r.Name {
	case "dive", "omitempty", "omitnil", "omitzero":
		// Values are only checked if they are present, which is what omitempty asks for.
	case "required":
		d.required(i, shape, direct)
	case "min", "gte":
		d.bound(r, shape, "min", 0)
	case "max", "lte":
		d.bound(r, shape, "max", 0)
	case "gt":
		d.bound(r, shape, "min", 1)
	case "lt":
		d.bound(r, shape, "max", -1)
	case "len":
		d.exactly(r, shape)
	case "eq":
		if shape.Kind == shapes.String {
			d.emitList(r.Origin, r.Depth, "enum", []string{r.Param})
			return
		}
		d.exactly(r, shape)
	case "oneof":
		d.oneOf(r, shape)
	default:
		d.textRule(r, shape)
	}
}

// required adds presence, and for a string a minimum length of 1, because validator refuses an empty one. Validator
// refuses zero and false too, but no bound can express that, and most authors mean to allow them.
func (d *deriver) required(i int, shape *shapes.Shape, direct bool) {
	r := d.field.Tag.Foreign.Rules[i]
	if slices.ContainsFunc(d.field.Tag.Foreign.Rules[:i], func(other tags.Rule) bool {
		return other.Depth == r.Depth && !other.Key && (other.Name == "omitempty" || other.Name == "omitzero")
	}) {
		d.remark(r.Origin, r.Name, fmt.Sprintf("%s never refuses a value: omitempty stands before it", r.Spelled()),
			"remove one of them")
		return
	}
	switch {
	case r.Depth == 0:
		d.emit(r.Origin, 0, "required", "")
	case !direct, shape.Kind == shapes.Any:
		d.warnUntranslated(r.Origin, r.Name, "elements that may be null")
	}
	if shape.Kind == shapes.String && direct && len(shape.Enum) == 0 &&
		!slices.ContainsFunc(d.field.Tag.Foreign.Rules, func(other tags.Rule) bool {
			return other.Depth == r.Depth && (other.Name == "oneof" || other.Name == "eq")
		}) {
		d.emit(r.Origin, r.Depth, "minlen", "1")
		d.out[len(d.out)-1].implied = true
	}
}

func (d *deriver) exactly(r tags.Rule, shape *shapes.Shape) {
	before := len(d.out)
	if d.bound(r, shape, "min", 0) {
		if !d.bound(r, shape, "max", 0) {
			d.out = d.out[:before]
		}
	}
}

// bound adds a bound: of a number, of the length of a string, or of the number of elements. step turns an exclusive
// bound into an inclusive one. It reports whether the rule could be translated.
func (d *deriver) bound(r tags.Rule, shape *shapes.Shape, side string, step int64) bool {
	unreadable := func() bool {
		d.remark(r.Origin, r.Name, fmt.Sprintf("%s: validator cannot read %q as a number, and panics", r.Spelled(), r.Param),
			"correct the number")
		return false
	}
	key, low, high := side, big.NewInt(0), (*big.Int)(nil)
	switch {
	case shape.Kind == shapes.Int || shape.Kind == shapes.Uint:
		low, high = shapes.IntegerRange(shape)
	case shape.Kind == shapes.String:
		key += "len"
	case shapes.HasItems(shape):
		key += "items"
	case shape.Kind == shapes.Float && step == 0:
		value, err := strconv.ParseFloat(r.Param, max(shape.Bits, 32))
		text := strconv.FormatFloat(value, 'g', -1, max(shape.Bits, 32))
		if _, ok := jsonvalue.ParseNumber(text); err != nil || !ok {
			return unreadable()
		}
		if _, ok := jsonvalue.ParseNumber(r.Param); ok {
			text = r.Param
		}
		d.emit(r.Origin, r.Depth, key, text)
		return true
	default:
		about := ""
		if shape.Kind == shapes.Float {
			about = "numbers with fractions" // whose bounds are inclusive
		}
		d.warnUntranslated(r.Origin, r.Name, about)
		return false
	}
	value, ok := d.whole(r.Param, shape)
	if !ok {
		return unreadable()
	}
	value.Add(value, big.NewInt(step))
	counted := key != side
	switch {
	case side == "min" && value.Cmp(low) <= 0, side == "max" && high != nil && value.Cmp(high) >= 0:
		return true // every value is within it
	case side == "min" && high != nil && value.Cmp(high) > 0, side == "max" && value.Cmp(low) < 0:
		d.remark(r.Origin, r.Name, fmt.Sprintf("no value of type %s satisfies %s", d.text(shape.Type), r.Spelled()),
			"correct the number")
		return false
	case counted && (value.Sign() == 0 || !value.IsInt64()):
		d.warnUntranslated(r.Origin, r.Text, "") // a bound of 0 elements or characters cannot be expressed
		return false
	}
	d.emit(r.Origin, r.Depth, key, value.String())
	return true
}

// whole reads a whole number as validator does: in the bases of Go, and as a duration for a field that is one.
func (d *deriver) whole(param string, shape *shapes.Shape) (*big.Int, bool) {
	if gotype.Is(shape.Type, "time", "Duration") {
		if duration, err := time.ParseDuration(param); err == nil {
			return big.NewInt(int64(duration)), true
		}
	}
	if shape.Kind == shapes.Uint {
		value, err := strconv.ParseUint(param, 0, 64)
		return new(big.Int).SetUint64(value), err == nil
	}
	value, err := strconv.ParseInt(param, 0, 64)
	return big.NewInt(value), err == nil
}

// oneOf adds the values of a string as an enum. Numbers have no enum: consecutive ones become a range, and others at
// least have bounds.
func (d *deriver) oneOf(r tags.Rule, shape *shapes.Shape) {
	words := foreigntag.Words(r.Param)
	switch {
	case shape.Kind == shapes.String && len(words) > 0:
		d.emitList(r.Origin, r.Depth, "enum", words)
		return
	case shape.Kind != shapes.Int && shape.Kind != shapes.Uint:
		d.warnUntranslated(r.Origin, r.Name, "")
		return
	}
	low, high := shapes.IntegerRange(shape)
	var values []*big.Int
	for _, word := range words {
		value, ok := new(big.Int).SetString(word, 10)
		if ok && value.String() == word && value.Cmp(low) >= 0 && value.Cmp(high) <= 0 {
			values = append(values, value)
		}
	}
	slices.SortFunc(values, (*big.Int).Cmp)
	values = slices.CompactFunc(values, func(a, b *big.Int) bool { return a.Cmp(b) == 0 })
	if len(values) == 0 {
		d.warnUntranslated(r.Origin, r.Name, "")
		return
	}
	first, last := values[0], values[len(values)-1]
	d.emit(r.Origin, r.Depth, "min", first.String())
	d.emit(r.Origin, r.Depth, "max", last.String())
	if gaps := new(big.Int).Sub(last, first); gaps.Cmp(big.NewInt(int64(len(values)-1))) != 0 {
		d.remark(r.Origin, r.Name, fmt.Sprintf("MCP-AQL has no enum of numbers: of %s only the bounds are told", r.Spelled()),
			"agents are not told of the gaps; the handler still has to check them")
	}
}

// alternatives translates a|b if it is one enum or one pattern.
func (d *deriver) alternatives(r tags.Rule, shape *shapes.Shape) {
	var values, patterns []string
	for _, a := range r.Alternatives {
		switch a.Name {
		case "eq":
			values = append(values, a.Param)
		case "oneof":
			values = append(values, foreigntag.Words(a.Param)...)
		default:
			if pattern := patternOf(a); pattern != "" {
				patterns = append(patterns, "(?:"+pattern+")")
			}
		}
	}
	switch {
	case shape.Kind == shapes.String && len(patterns) == len(r.Alternatives):
		d.emit(r.Origin, r.Depth, "pattern", strings.Join(patterns, "|"))
	case shape.Kind == shapes.String && len(patterns) == 0 && len(values) > 0 &&
		!slices.ContainsFunc(r.Alternatives, func(a foreigntag.Rule) bool {
			return a.Name != "eq" && a.Name != "oneof"
		}):
		slices.Sort(values)
		d.emitList(r.Origin, r.Depth, "enum", slices.Compact(values))
	default:
		d.warnUntranslated(r.Origin, r.String(), "")
	}
}

// textRule translates a rule about the form of a text, or about what a number is.
func (d *deriver) textRule(r tags.Rule, shape *shapes.Shape) {
	format, pattern := formatOf(r.Rule), patternOf(r.Rule)
	number := shape.Kind == shapes.Int || shape.Kind == shapes.Uint || shape.Kind == shapes.Float
	between := func(low, high string) {
		for _, bound := range [][2]string{{"min", low}, {"max", high}} {
			value, _ := jsonvalue.ParseNumber(bound[1])
			if jsonvalue.OutOfRange(shape, "", bound[1], value) == "" { // otherwise every value of the type is within it
				d.emit(r.Origin, r.Depth, bound[0], bound[1])
			}
		}
	}
	switch {
	case number && (r.Name == "numeric" || r.Name == "number"), shape.Kind == shapes.Bool && r.Name == "boolean":
		// Every value is one.
	case number && r.Name == "latitude":
		between("-90", "90")
	case number && r.Name == "longitude":
		between("-180", "180")
	case number && r.Name == "port" && shape.Kind != shapes.Float:
		between("1", "65535")
	case format != "" && (shape.Kind == shapes.String || shape.Kind == shapes.Text):
		d.emit(r.Origin, r.Depth, "format", format)
	case pattern != "" && shape.Kind == shapes.String:
		d.emit(r.Origin, r.Depth, "pattern", pattern)
	default:
		d.warnUntranslated(r.Origin, r.Name, "")
	}
}
