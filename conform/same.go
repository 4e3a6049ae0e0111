package conform

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
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
	if strings.ContainsAny(string(a+b), "eE") { // a big.Rat of a large exponent takes too much memory
		x, err := a.Float64()
		y, fault := b.Float64()
		return err == nil && fault == nil && x == y
	}
	x, ok := new(big.Rat).SetString(string(a))
	y, also := new(big.Rat).SetString(string(b))
	return ok && also && x.Cmp(y) == 0
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
