package conform

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"
	"regexp/syntax"
	"strconv"
	"strings"
)

// itemCount finds bounds of the number of items in a description. The protocol has no member for them.
var itemCount = regexp.MustCompile(
	`(?i)(up to|exactly|at most|max(?:imum)?(?: of)?) (\d+) items?|(\d+) (?:to \d+ )?items?(?: or more)?`)

// operatorNames finds the first of the operators that an object may have as its members in the description of a field
// of a filter, such as "Object with operators: gte, lte". The protocol has no member for them either.
var operatorNames = regexp.MustCompile(`(?i)\bobject with operators: ([a-z]+)`)

// itemBounds returns the numbers of items that a description allows; high is -1 without an upper bound.
func itemBounds(text string) (low, high int) {
	low, high = 0, -1
	m := itemCount.FindStringSubmatch(text)
	if m == nil {
		return low, high
	}
	if m[2] != "" {
		high, _ = strconv.Atoi(m[2])
		if strings.EqualFold(m[1], "exactly") {
			low = high
		}
		return low, high
	}
	low, _ = strconv.Atoi(m[3])
	return low, high
}

// alternatives returns the types of a union such as "string | string[]".
func alternatives(name string) []string {
	var all []string
	for alternative := range strings.SplitSeq(name, "|") {
		all = append(all, strings.TrimSpace(alternative))
	}
	return all
}

// Bounds of the values that a run makes, even if introspection requires larger ones.
const (
	maxDepth  = 8
	maxItems  = 1000
	maxLength = 1 << 18
)

// newValue makes a value that is valid by introspection; false: introspection does not say enough.
func (p *prober) newValue(d *param, depth int) (any, bool) {
	if depth > maxDepth {
		return nil, false
	}
	if len(d.Enum) > 0 {
		return d.Enum[p.random.IntN(len(d.Enum))], true
	}
	name := alternatives(d.Type)[0]
	if item, ok := strings.CutSuffix(name, "[]"); ok {
		value, ok := p.newValue(&param{Type: item}, depth+1)
		return []any{value}, ok
	}
	if t := p.types[name]; t != nil {
		switch t.Kind {
		case "enum":
			if len(t.Values) == 0 {
				return nil, false
			}
			return t.Values[p.random.IntN(len(t.Values))], true
		case "object":
			return p.newObject(t.Fields, depth)
		case "union":
			for _, member := range t.Members {
				if value, ok := p.newValue(&param{Type: member}, depth+1); ok {
					return value, true
				}
			}
		}
		return nil, false
	}
	switch name {
	case "boolean":
		return p.random.IntN(2) == 0, true
	case "integer", "number":
		return p.newNumber(d, name == "integer"), true
	case "string":
		return p.newText(d)
	case "array":
		low, high := itemBounds(d.Description)
		if d.Items == nil || low > maxItems {
			return []any{}, low == 0
		}
		length := low + 1 + p.random.IntN(2)
		if high >= 0 {
			length = min(length, high)
		}
		list := []any{}
		for range length {
			value, ok := p.newValue(d.Items, depth+1)
			if !ok {
				return list, low == 0
			}
			list = append(list, value)
		}
		return list, true
	case "object":
		if len(d.Fields) > 0 {
			return p.newObject(d.Fields, depth)
		}
		if m := operatorNames.FindStringSubmatch(d.Description); m != nil {
			if d.Items == nil {
				return nil, false
			}
			value, ok := p.newValue(d.Items, depth+1)
			return map[string]any{m[1]: value}, ok
		}
		object := map[string]any{}
		if d.Items != nil {
			if value, ok := p.newValue(d.Items, depth+1); ok {
				object[p.uniqueWord()] = value
			}
		}
		return object, true
	case "any":
		return p.uniqueWord(), true
	}
	return nil, false
}

// newObject makes an object with the required fields and, on the upper levels, the optional ones that can be written
// and made.
func (p *prober) newObject(fields []param, depth int) (any, bool) {
	object := map[string]any{}
	for _, f := range fields {
		if f.readOnly() && !f.Required || depth > 2 && !f.Required {
			continue
		}
		value, ok := p.newValue(&f, depth+1)
		if ok {
			object[f.Name] = value
		} else if f.Required {
			return nil, false
		}
	}
	return object, true
}

// newNumber makes a number within the bounds and near to one of them, or between 1 and 9. It does not round.
func (p *prober) newNumber(d *param, integer bool) json.Number {
	bound := func(limit *json.Number) *big.Rat {
		if limit == nil {
			return nil
		}
		n, _ := rational(*limit)
		return n
	}
	low, high := bound(d.Minimum), bound(d.Maximum)
	switch {
	case low == nil && high == nil:
		low, high = big.NewRat(1, 1), big.NewRat(9, 1)
	case low == nil:
		low = new(big.Rat).Sub(high, big.NewRat(9, 1))
	}
	if integer && !low.IsInt() {
		low = new(big.Rat).SetInt(new(big.Int).Add(floor(low), big.NewInt(1)))
	}
	span := int64(9)
	if high != nil {
		if most := floor(new(big.Rat).Sub(high, low)); most.IsInt64() {
			span = max(0, min(span, most.Int64()))
		}
	}
	return decimal(new(big.Rat).Add(low, big.NewRat(int64(p.random.IntN(int(span)+1)), 1)))
}

// floor returns the greatest whole number that is not greater than n.
func floor(n *big.Rat) *big.Int {
	return new(big.Int).Div(n.Num(), n.Denom()) // Euclidean, and denominators are positive
}

// uniqueWord makes a word that this run has not used.
func (p *prober) uniqueWord() string {
	p.serial++
	return fmt.Sprintf("probe%d%c%c", p.serial, 'a'+rune(p.random.IntN(26)), 'a'+rune(p.random.IntN(26)))
}

// newText makes a string that keeps to length, pattern and format; false: it cannot.
func (p *prober) newText(d *param) (any, bool) {
	switch d.Format {
	case "date-time":
		year, month, day, hour := 30+p.random.IntN(9), 1+p.random.IntN(9), 10+p.random.IntN(9), 1+p.random.IntN(9)
		return fmt.Sprintf("20%02d-%02d-%02dT%02d:30:00Z", year, month, day, hour), true
	case "date":
		return fmt.Sprintf("20%02d-%02d-%02d", 30+p.random.IntN(9), 1+p.random.IntN(9), 10+p.random.IntN(9)), true
	case "email":
		return p.uniqueWord() + "@example.com", true
	case "uri", "url":
		return "https://example.com/" + p.uniqueWord(), true
	case "uuid":
		return fmt.Sprintf("%08x-%04x-4%03x-8%03x-%012x", p.random.Uint32(), p.random.IntN(1<<16), p.random.IntN(1<<12),
			p.random.IntN(1<<12), p.random.Int64N(1<<48)), true
	case "":
	default:
		return nil, false
	}
	most := maxLength
	if d.MaxLength != nil {
		most = min(most, max(0, *d.MaxLength))
	}
	if d.MinLength > most {
		return nil, false
	}
	fits := func(s string) bool {
		n := len([]rune(s))
		return n >= d.MinLength && n <= most
	}
	if d.Pattern != "" {
		parsed, err := syntax.Parse(d.Pattern, syntax.Perl)
		if err != nil {
			return nil, false
		}
		re, err := regexp.Compile(d.Pattern)
		if err != nil {
			return nil, false
		}
		for range 50 {
			if s := p.matchingText(parsed.Simplify()); fits(s) && re.MatchString(s) {
				return s, true
			}
		}
		return nil, false
	}
	s := p.uniqueWord()
	for _, more := range []string{" blåbær", strings.Repeat("x", max(0, d.MinLength-len(s)))} {
		if fits(s+more) || !fits(s) && len(s+more) <= most {
			s += more
		}
	}
	if n := len([]rune(s)); n > most {
		s = string([]rune(s)[n-most:])
	}
	return s, fits(s)
}

// matchingText makes a string that an expression probably matches: it ignores anchors.
func (p *prober) matchingText(re *syntax.Regexp) string {
	var s strings.Builder
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		for range 20 {
			pair := 2 * p.random.IntN(len(re.Rune)/2)
			span := min(re.Rune[pair+1]-re.Rune[pair], 25)
			if r := re.Rune[pair] + rune(p.random.IntN(int(span)+1)); r > ' ' && r != '"' && r != '\\' && r < 0x7f {
				return string(r)
			}
		}
		return "a"
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "x"
	case syntax.OpConcat, syntax.OpCapture:
		for _, sub := range re.Sub {
			s.WriteString(p.matchingText(sub))
		}
	case syntax.OpAlternate:
		return p.matchingText(re.Sub[p.random.IntN(len(re.Sub))])
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
		for range low + p.random.IntN(high-low+1) {
			s.WriteString(p.matchingText(re.Sub[0]))
		}
	}
	return s.String()
}
