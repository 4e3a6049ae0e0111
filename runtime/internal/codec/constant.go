package codec

import (
	"reflect"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// constantDecoder compiles the decoder of a constant, which reads its value and stores nothing.
func constantDecoder(p *gen.Param) *decoder {
	return &decoder{
		kind: kindConstant, goType: reflect.TypeFor[struct{}](), expected: "string",
		constraints: &constraints{enum: []string{p.Constant}},
	}
}

// addConstants adds the constants that describe the field with index at to a subset that has that field. They follow
// the field that they describe.
func (c *structEncoder) addConstants(to *Subset, at int) {
	if c.fields[at].value.kind == kindConstant {
		return
	}
	for at++; at < len(c.fields) && c.fields[at].value.kind == kindConstant; at++ {
		to.field(at).whole = true
	}
}

// IsConstant reports whether a path in the patch leads to a constant, which the resource does not store.
func (p *Patch) IsConstant(path string) bool {
	n := p.target
	for path != "" {
		for n.kind == kindPointer || n.kind == kindOptional || n.kind == kindSQLNull || n.kind == kindMessage {
			n = n.elem
		}
		var name string
		name, path, _ = strings.Cut(path, ".")
		switch n.kind {
		case kindStruct:
			at := n.object.index.find(name)
			if at < 0 {
				return false
			}
			n = n.object.fields[at].value
		case kindMap:
			n = n.elem
		default:
			return false
		}
	}
	return n.kind == kindConstant
}
