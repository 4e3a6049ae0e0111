package gen

import (
	"strings"
	"unicode"
)

// SnakeCase returns a Go name as a wire name: HTTPServer → http_server, UserIDs → user_ids.
func SnakeCase(name string) string {
	runes := []rune(name)
	var b strings.Builder
	for i, r := range runes {
		switch {
		case r == '_' || r == '-' || r == '.' || r == ' ':
			if b.Len() > 0 {
				b.WriteByte('_')
			}
			continue
		case unicode.IsUpper(r) && i > 0 && startsWord(runes, i):
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return strings.ReplaceAll(b.String(), "__", "_")
}

// startsWord reports whether the upper-case letter runes[i] begins a new word.
func startsWord(runes []rune, i int) bool {
	if !unicode.IsUpper(runes[i-1]) {
		return true
	}
	// Inside a run of capitals the last one begins a word when a small letter follows, unless that letter is the plural s.
	if i+1 >= len(runes) || !unicode.IsLower(runes[i+1]) {
		return false
	}
	plural := runes[i+1] == 's' && (i+2 >= len(runes) || unicode.IsUpper(runes[i+2]))
	return !plural
}

// IsName reports whether name matches ^[a-z][a-z0-9_]*$ (MCP-AQL core §4.3, §8.5.2).
func IsName(name string) bool {
	for i, r := range name {
		switch {
		case r >= 'a' && r <= 'z':
		case i > 0 && (r == '_' || r >= '0' && r <= '9'):
		default:
			return false
		}
	}
	return name != ""
}

// IsReservedField reports whether name is one of the names with an underscore in front that the protocol gives to
// fields of results.
func IsReservedField(name string) bool {
	return name == "_etag" || name == "_version" || name == "_computed"
}

// SuggestName returns the wire name nearest to name, empty if there is none.
func SuggestName(name string) string {
	var b strings.Builder
	for _, r := range SnakeCase(name) {
		if r == '_' || r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		}
	}
	suggestion := strings.Trim(b.String(), "_")
	if suggestion == "" {
		return ""
	}
	if suggestion[0] >= '0' && suggestion[0] <= '9' {
		suggestion = "n" + suggestion
	}
	return suggestion
}

// FieldName returns the wire name of a field whose name in the json tag, such as fooBar, is not valid. A name of which
// little would be left, such as "+1" or "@type", is replaced by the Go name.
func FieldName(name, goName string) string {
	if folded := SnakeCase(name); IsName(folded) {
		return folded
	}
	if own := SnakeCase(goName); IsName(own) {
		return own
	}
	return SuggestName(name)
}
