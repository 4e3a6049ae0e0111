package foreigntag

import (
	"slices"
	"strings"
)

// SchemaItem is one item of a jsonschema tag in the style of invopop/jsonschema.
type SchemaItem struct {
	Key         string
	Value       string // without the backslashes that protect commas
	Flag        bool   // has no value
	Offset, End int    // in bytes of the tag's value
}

// schemaFlags are the items that have no value.
var schemaFlags = []string{"required", "nullable", "-"}

// ParseSchema reads the value of a jsonschema tag in one of its two styles: items such as required,minLength=1
// (invopop/jsonschema), or a description (google/jsonschema-go, which the Go MCP SDK uses). ok is false for a
// description. A text has items if it begins with WORD=, which the second style refuses, or if it has only flags.
func ParseSchema(text string) (items []SchemaItem, ok bool) {
	for start := 0; start <= len(text); {
		item := SchemaItem{Offset: start}
		var value strings.Builder
		end := start
		for ; end < len(text) && text[end] != ','; end++ {
			if text[end] == '\\' && end+1 < len(text) && text[end+1] == ',' {
				end++
			}
			value.WriteByte(text[end])
		}
		key, rest, valued := strings.Cut(value.String(), "=")
		item.Key, item.Value, item.Flag, item.End = key, rest, !valued, end
		items = append(items, item)
		start = end + 1
	}
	word, _, _ := strings.Cut(strings.Map(spaces, text), " ")
	if strings.Contains(word, "=") ||
		!slices.ContainsFunc(items,
			func(item SchemaItem) bool { return !item.Flag || !slices.Contains(schemaFlags, item.Key) }) {
		return items, true
	}
	return nil, false
}

// spaces replaces white space by spaces, as jsonschema-go does.
func spaces(r rune) rune {
	if r == '\t' || r == '\n' {
		return ' '
	}
	return r
}
