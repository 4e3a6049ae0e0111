package compat

import "strings"

// spellOut makes lists of the types of computed fields that are written as lists, such as integer[]. Introspection has
// no other place for their elements.
func spellOut(fields []*value) {
	for _, f := range fields {
		for v := f; v != nil; v = v.Items {
			if of, list := strings.CutSuffix(v.Type, "[]"); list {
				v.Type, v.Items = "array", &value{Type: of}
			}
		}
	}
}
