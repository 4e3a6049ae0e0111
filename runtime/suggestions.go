package aql

import (
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
	"github.com/aqltag/aqltag/runtime/words"
)

// mostSuggestions is how many unknown names are compared with those of parameters.
const mostSuggestions = 100

// suggestions maps unknown names to the parameters that were probably meant.
func (v *invalid) suggestions() []detail { return suggestions(v.unknown, v.operation.params) }

// isFieldName reports whether the value of a parameter names a field of a collection.
func isFieldName(path string) bool {
	return path == "sort.field" || strings.HasPrefix(path, "aggregate.")
}

// suggestions maps unknown names to the valid ones that were probably meant.
func suggestions(unknown, valid []string) []detail {
	w := wire.NewWriter(nil)
	w.BeginObject()
	found := false
	for _, name := range unknown[:min(len(unknown), mostSuggestions)] {
		if meant := likely(name, valid); meant != "" {
			found = true
			w.KeyEscaped(name)
			w.String(meant)
		}
	}
	w.EndObject()
	if !found {
		return nil
	}
	return []detail{{"suggestions", rawJSON(w.Bytes())}}
}

// likely returns the valid name that an unknown one probably stands for; empty: there is none. The name of a computed
// field may lack what says that it is one, and a path may lack its beginning or its end, or have one too many.
func likely(name string, valid []string) string {
	if computed := gen.ComputedPrefix + name; slices.Contains(valid, computed) {
		return computed
	}
	if name != "" {
		part := func(path string) bool {
			return strings.HasPrefix(path, name+".") || strings.HasSuffix(path, "."+name)
		}
		if at := slices.IndexFunc(valid, part); at >= 0 {
			return valid[at]
		}
	}
	if _, inner, within := strings.Cut(name, "."); within && slices.Contains(valid, inner) {
		return inner
	}
	for _, near := range words.Nearest(name, valid, 2) {
		combines := near == gen.FilterOr || near == gen.FilterNot
		if !combines || strings.Trim(strings.ToLower(name), "_$") == near[1:] {
			return near
		}
	}
	return ""
}
