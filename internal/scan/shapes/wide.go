package shapes

import (
	"strings"

	"github.com/aqltag/aqltag/internal/scan/naming"
)

// IsWideIdentifier reports whether a field identifies something by a 64-bit integer, or by several, that travel as JSON
// numbers. Clients in JavaScript round those from 2^53 on (MCP-AQL core §4.7.3).
func (f *Field) IsWideIdentifier() bool {
	name := strings.TrimSuffix(naming.SnakeCase(f.Param.Name), "s")
	if !f.Param.ID && name != "id" && !strings.HasSuffix(name, "_id") {
		return false
	}
	shape := f.Shape
	for p := &f.Param; shape != nil; shape = shape.Elem {
		if p != nil && p.Quoted {
			return false
		}
		if shape = Indirect(shape); shape == nil || !HasItems(shape) {
			break
		}
		if p != nil {
			p = p.Items
		}
	}
	return shape != nil && (shape.Kind == Int || shape.Kind == Uint) && shape.Bits == 64
}
