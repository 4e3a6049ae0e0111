package jsonvalue

import (
	"encoding/json"
	"fmt"
	"math/big"
	"regexp"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/runtime/gen"
)

// plainInteger is an integer in its one spelling.
var plainInteger = regexp.MustCompile(gen.PatternInteger)

// quoted checks a value that travels in a string. An integer may be a number too, up to the largest that every client
// holds exactly.
func (c *checker) quoted(shape *shapes.Shape, param gen.Param, value any, path string) {
	integer := shape.Kind == shapes.Int || shape.Kind == shapes.Uint
	switch value := value.(type) {
	case string:
		if integer && !plainInteger.MatchString(value) {
			c.add(path, diag.CodeType, fmt.Sprintf("%q is not an integer", value))
		} else if integer {
			c.number(shape, param, json.Number(value), path)
		}
	case json.Number:
		exact, ok := ParseNumber(value.String())
		if !integer || !ok || new(big.Int).Abs(exact.Num()).BitLen() > 53 {
			c.add(path, diag.CodeType, "expected string, not number")
			return
		}
		c.number(shape, param, value, path)
	default:
		c.add(path, diag.CodeType, "expected string, not "+KindOf(value))
	}
}
