package jsonvalue

import (
	"fmt"
	"math/big"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/shapes"
)

// key checks the name of an entry of a map with integer keys.
func (c *checker) key(key *shapes.Shape, name, path string) {
	if key = shapes.KeyOf(key); key.Kind != shapes.Int && key.Kind != shapes.Uint {
		return
	}
	value, ok := new(big.Int).SetString(name, 10)
	if !ok || !plainInteger.MatchString(name) {
		c.add(path, diag.CodeType, fmt.Sprintf("the name %q is not an integer", name))
	} else if low, high := shapes.IntegerRange(key); value.Cmp(low) < 0 || value.Cmp(high) > 0 {
		c.add(path, diag.CodeType, fmt.Sprintf("the name %s is outside the range %s to %s", name, low, high))
	}
}
