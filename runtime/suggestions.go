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
func (v *invalid) suggestions() []detail {
	valid := v.operation.params
	if v.unwrapped {
		valid = append(slices.Clip(valid), "params")
	}
	return suggestions(v.unknown, valid)
}

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
	if other := synonym(name, valid); other != "" {
		return other
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

// synonyms are names under which agents send what other parameters of a page, or the parameters themselves, are called
// here, the more likely ones first.
var synonyms = map[string][]string{
	"limit": {"first", "page_size"}, "page_size": {"first", "limit"}, "per_page": {"page_size", "first", "limit"},
	"page": {"after", "offset"}, "offset": {"after", "page"}, "cursor": {"after"}, "page_token": {"after"},
	"parameters": {"params"}, "arguments": {"params"}, "args": {"params"},
}

// synonym returns the valid name of what agents also call otherwise: one of synonyms, or the only one that begins or
// ends with the name as a word of its own, such as execution_id for id and wait_ms for wait; empty: there is none.
func synonym(name string, valid []string) string {
	if slices.Contains(valid, name) || name == "" {
		return ""
	}
	for _, other := range synonyms[name] {
		if slices.Contains(valid, other) {
			return other
		}
	}
	longer := ""
	for _, other := range valid {
		if !strings.HasPrefix(other, name+"_") && !strings.HasSuffix(other, "_"+name) {
			continue
		}
		if longer != "" {
			return ""
		}
		longer = other
	}
	return longer
}
