package jsonschema

import (
	"math/big"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// propertyName returns the schema of the names of a map's entries. Names are strings, so it has no type.
func propertyName(keys *gen.Param, as use) *Schema {
	schema := &Schema{Format: keys.Format, Description: keys.Description}
	switch {
	case keys.Type == "integer" && as == output:
		schema.Pattern = gen.PatternInteger
	case keys.Type == "integer":
		schema.Pattern = integerPattern(keys.Minimum, keys.Maximum)
	case keys.Format == "":
		schema.Description = "In a form that the service checks."
	}
	return schema
}

// integerPattern returns the pattern of the integers from low to high, as text. Empty bounds are those of 64 bits. Of
// integers beyond 32 bits it only bounds the number of digits: an exact pattern would take hundreds of characters.
func integerPattern(low, high string) string {
	least, ok := new(big.Int).SetString(low, 10)
	if !ok {
		least = big.NewInt(-1 << 63)
	}
	most, ok := new(big.Int).SetString(high, 10)
	if !ok {
		most = big.NewInt(1<<63 - 1)
	}
	var parts []string
	if least.Sign() < 0 {
		from := big.NewInt(1)
		if most.Sign() < 0 {
			from.Neg(most)
		}
		parts = append(parts, "-"+alternatives(naturals(from, new(big.Int).Neg(least))))
	}
	if most.Sign() >= 0 {
		from := new(big.Int)
		if least.Sign() > 0 {
			from = least
		}
		parts = append(parts, naturals(from, most)...)
	}
	return "^" + alternatives(parts) + "$"
}

// naturals returns patterns of the integers from low to high, none of which is negative.
func naturals(low, high *big.Int) []string {
	var parts []string
	if high.BitLen() > 32 && low.BitLen() < 2 {
		if low.Sign() == 0 {
			parts = append(parts, "0")
		}
		return append(parts, "[1-9][0-9]{0,"+strconv.Itoa(len(high.String())-1)+"}")
	}
	return digits(low.String(), high.String())
}

// digits returns patterns of the integers from low to high, which have no sign: one for all lengths of which every
// integer is among them, and some for the others.
func digits(low, high string) []string {
	var parts []string
	if low == "0" {
		parts = append(parts, "0")
		if low = "1"; high == "0" {
			return parts
		}
	}
	if strings.Trim(low[1:], "0") != "" || low[0] != '1' { // not the first of its length
		end := strings.Repeat("9", len(low))
		if len(low) == len(high) {
			return append(parts, sameLength(low, high)...)
		}
		parts = append(parts, sameLength(low, end)...)
		low = "1" + strings.Repeat("0", len(low))
	}
	whole := len(high) - 1 // the largest length of which all are within
	if strings.Trim(high, "9") == "" {
		whole++
	}
	if whole >= len(low) {
		parts = append(parts, "[1-9]"+repeated(len(low)-1, whole-1))
	}
	if whole < len(high) {
		parts = append(parts, sameLength("1"+strings.Repeat("0", len(high)-1), high)...)
	}
	return parts
}

// sameLength returns patterns of the integers from low to high, which have as many digits.
func sameLength(low, high string) []string {
	same := 0
	for same < len(low) && low[same] == high[same] {
		same++
	}
	prefix, low, high := low[:same], low[same:], high[same:]
	if low == "" {
		return []string{prefix}
	}
	rest := len(low) - 1
	zeros, nines := strings.Repeat("0", rest), strings.Repeat("9", rest)
	from, to := low[0], high[0]
	var parts []string
	if low[1:] != zeros {
		parts = append(parts, within(prefix+low[:1], sameLength(low[1:], nines)))
		from++
	}
	if high[1:] != nines {
		to--
	}
	if from <= to {
		class := "[" + string(from) + "-" + string(to) + "]"
		if from == to {
			class = string(from)
		}
		parts = append(parts, prefix+class+repeated(rest, rest))
	}
	if high[1:] != nines {
		parts = append(parts, within(prefix+high[:1], sameLength(zeros, high[1:])))
	}
	return parts
}

func within(prefix string, parts []string) string {
	if len(parts) == 1 {
		return prefix + parts[0]
	}
	return prefix + alternatives(parts)
}

// repeated returns the pattern of low to high digits.
func repeated(low, high int) string {
	switch {
	case high == 0:
		return ""
	case low == high && low == 1:
		return "[0-9]"
	case low == high:
		return "[0-9]{" + strconv.Itoa(low) + "}"
	default:
		return "[0-9]{" + strconv.Itoa(low) + "," + strconv.Itoa(high) + "}"
	}
}
