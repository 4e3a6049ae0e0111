package conform

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"
)

// firstDifference returns the path of the first place where a value that was read lacks or changes something of the one
// that was sent; empty: there is none. Members that were not sent do not count, and numbers and times may be written in
// another way.
func firstDifference(sent, read any, path string) string {
	sent = normalized(sent)
	read = normalized(read)
	switch sent := sent.(type) {
	case map[string]any:
		object, ok := read.(map[string]any)
		if !ok && len(sent) > 0 {
			return path
		}
		for _, name := range slices.Sorted(maps.Keys(sent)) {
			if where := firstDifference(sent[name], object[name], strings.TrimPrefix(path+"."+name, ".")); where != "" {
				return where
			}
		}
		return ""
	case []any:
		list, ok := read.([]any)
		if len(list) != len(sent) || !ok && len(sent) > 0 {
			return path
		}
		for i := range sent {
			if where := firstDifference(sent[i], list[i], fmt.Sprintf("%s[%d]", path, i)); where != "" {
				return where
			}
		}
		return ""
	case json.Number:
		number, ok := read.(json.Number)
		if !ok || !sameNumber(sent, number) {
			return path
		}
		return ""
	case string:
		text, ok := read.(string)
		if ok && (text == sent || sameTime(text, sent)) {
			return ""
		}
		return path
	}
	if sent != read {
		return path
	}
	return ""
}

// normalized returns a value as parse would have read it.
func normalized(value any) any {
	switch value := value.(type) {
	case nil, bool, string, json.Number, map[string]any, []any:
		return value
	}
	text, err := json.Marshal(value)
	if err != nil {
		return value
	}
	read, err := parse(string(text))
	if err != nil {
		return value
	}
	return read
}

func sameNumber(a, b json.Number) bool {
	x, ok := rational(a)
	y, also := rational(b)
	if ok && also {
		return x.Cmp(y) == 0
	}
	return a == b
}

// rational returns the exact value of a number; false: its exponent is so large that the value takes too much memory.
func rational(number json.Number) (*big.Rat, bool) {
	_, exponent, has := strings.Cut(strings.ToLower(string(number)), "e")
	if n, err := strconv.Atoi(exponent); has && (err != nil || n > 400 || n < -400) {
		return nil, false
	}
	return new(big.Rat).SetString(string(number))
}

// decimal returns a value without an exponent, and without rounding if it has an end.
func decimal(n *big.Rat) json.Number {
	if n.IsInt() {
		return json.Number(n.Num().String())
	}
	digits, exact := n.FloatPrec()
	if !exact {
		digits = 20
	}
	return json.Number(n.FloatString(digits))
}

func sameTime(a, b string) bool {
	x, err := time.Parse(time.RFC3339Nano, a)
	if err != nil {
		return false
	}
	y, err := time.Parse(time.RFC3339Nano, b)
	return err == nil && x.Equal(y)
}

// equal reports whether two values are the same but for how numbers and times are written.
func equal(a, b any) bool {
	return firstDifference(a, b, ".") == "" && firstDifference(b, a, ".") == ""
}

// asJSON returns a value as JSON.
func asJSON(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		return "?"
	}
	return string(text)
}
