package codec

import (
	"reflect"
	"strings"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// Selection is the part of aql.Fields that a request fills in: which fields of the result it asks for (MCP-AQL field
// selection §2).
type Selection struct {
	Preset string   // empty: none
	Paths  []string // such as metadata.color
}

var selectionType = reflect.TypeFor[Selection]()

// isSelection recognises aql.Selection, which is a Selection and nothing else.
func isSelection(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() == 1 && t.Field(0).Type == selectionType
}

// selectionDecoder compiles the decoder of an aql.Selection.
func (s *Set) selectionDecoder(n *decoder, t reflect.Type, p *gen.Param) error {
	n.kind, n.expected, n.presets = kindSelection, gen.TypeSelection, p.Presets
	return s.fits(t, p, gen.TypeSelection)
}

// pathPattern is the grammar of paths (MCP-AQL field selection §2.1). A path may also name a computed field, which no
// resource has yet, and go on with the name of a map's entry, which is data and has a grammar of its own.
const pathPattern = `^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$`

// readSelection reads a preset or a list of paths.
func (n *decoder) readSelection(r *wire.Reader, p unsafe.Pointer) {
	selection := (*Selection)(p)
	switch r.Kind() {
	case "string":
		if s, ok := r.String(); ok && r.Enum(s, n.presets) {
			selection.Preset = s
		} else if ok {
			r.Hint(`Name fields in a list, such as ["a","b.c"]`)
		}
	case "array":
		r.Array()
		count := 0
		for ; r.NextElement(); count++ {
			if s, ok := r.String(); ok && r.Pattern(n.otherNames && s != "" || isPath(s), pathPattern) {
				selection.Paths = append(selection.Paths, s)
			}
		}
		r.MinItems(count, 1)
	default:
		r.Raw()
		r.Mismatch(n.expected)
	}
}

// isVersion reports whether a field has the version of a resource (MCP-AQL core §9.3.2).
func isVersion(name string) bool { return name == "_etag" || name == "_version" }

// isPath reports whether s follows pathPattern, in which a version is a name too, or names a computed field.
func isPath(s string) bool {
	s, computed := strings.CutPrefix(s, "_computed.")
	if computed && strings.Contains(s, ".") {
		return false
	}
	for segment := range strings.SplitSeq(s, ".") {
		if isVersion(segment) {
			continue
		}
		if segment == "" || segment[0] < 'a' || segment[0] > 'z' {
			return false
		}
		for i := range len(segment) {
			if c := segment[i]; c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
				return false
			}
		}
	}
	return true
}
