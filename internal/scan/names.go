package scan

import (
	"fmt"
	"strings"
	"unicode"
)

// snakeCase is a Go name as a wire name: HTTPServer → http_server, UserIDs → user_ids.
func snakeCase(name string) string {
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

// isWireName reports whether name fits ^[a-z][a-z0-9_]*$ (REQ-NM-01, REQ-RF-07).
func isWireName(name string) bool {
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

// isReservedPayload reports whether a result field may have a name that begins with an underscore (T-14).
func isReservedPayload(name string) bool {
	return name == "_etag" || name == "_version" || name == "_computed"
}

// wireSuggestion is the wire name that name should probably have.
func wireSuggestion(name string) string {
	var b strings.Builder
	for _, r := range snakeCase(name) {
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

// foreignName is the wire name of a field of another module whose own name, such as fooBar, the protocol does not allow. Where
// little would be left of it, as of "+1" and "@type", the field goes by its Go name.
func foreignName(name, goName string) string {
	if folded := snakeCase(name); isWireName(folded) {
		return folded
	}
	if own := snakeCase(goName); isWireName(own) {
		return own
	}
	return wireSuggestion(name)
}

// exported is s with a capital first letter.
func exported(s string) string {
	for i, r := range s {
		return s[:i] + string(unicode.ToUpper(r)) + s[i+len(string(r)):]
	}
	return s
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// useName is the suggestion to use the wire name that name should probably have, empty if there is none.
func useName(name string) string {
	if name = wireSuggestion(name); name == "" {
		return ""
	}
	return fmt.Sprintf("use %q", name)
}
