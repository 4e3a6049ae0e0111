package tagparse

import "strings"

// SchemaItem is one item of a jsonschema tag.
type SchemaItem struct {
	Key         string
	Value       string // without the backslashes that protect commas
	Flag        bool   // has no value
	Offset, End int    // in bytes of the tag's value
}

// schemaKeys are the words of invopop/jsonschema, by which its tags are told from those of the Go MCP SDK, whose whole text
// is a description.
var schemaKeys = []string{
	"title", "description", "type", "anchor", "required", "nullable", "enum", "default", "example", "minLength", "maxLength", "pattern",
	"format", "readOnly", "writeOnly", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems",
	"uniqueItems", "oneof_required", "anyof_required", "oneof_ref", "anyof_ref", "oneof_type", "anyof_type", "-",
}

// ParseSchema reads the value of a jsonschema tag in either of its two styles: items such as required,minLength=1
// (invopop/jsonschema), or a description (the Go MCP SDK, whose descriptions must not begin like an item: WORD=). Not ok: it
// is a description.
func ParseSchema(text string) (items []SchemaItem, ok bool) {
	start, known := 0, 0
	for start <= len(text) {
		end := start
		for end < len(text) && text[end] != ',' {
			if text[end] == '\\' {
				end++
			}
			end++
		}
		end = min(end, len(text))
		part := text[start:end]
		key, value, valued := strings.Cut(part, "=")
		items = append(items, SchemaItem{
			Key: key, Value: strings.ReplaceAll(value, `\,`, ","), Flag: !valued, Offset: start, End: end,
		})
		if isSchemaKey(key) {
			known++
		}
		start = end + 1
	}
	first := items[0]
	if known == len(items) || !first.Flag && isWord(first.Key) {
		return items, true
	}
	return nil, false
}

func isSchemaKey(key string) bool {
	for _, known := range schemaKeys {
		if key == known {
			return true
		}
	}
	return false
}

// isWord reports whether a text could be a key.
func isWord(text string) bool {
	for _, r := range text {
		if (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && r != '_' {
			return false
		}
	}
	return text != ""
}
