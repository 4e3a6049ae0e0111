// Package naming has the rules for names on the wire: their grammar, how Go names become wire names, and which category
// and danger level the name of an operation stands for. Those that the runtime needs, too, are in package gen.
package naming

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/aqltag/aqltag/runtime/gen"
)

// SnakeCase returns a Go name as a wire name: HTTPServer → http_server, UserIDs → user_ids.
func SnakeCase(name string) string { return gen.SnakeCase(name) }

// IsValid reports whether name matches ^[a-z][a-z0-9_]*$ (MCP-AQL core §4.3, §8.5.2).
func IsValid(name string) bool { return gen.IsName(name) }

// IsReservedField reports whether name is one of the names with an underscore in front that the protocol gives to
// fields of results.
func IsReservedField(name string) bool { return gen.IsReservedField(name) }

// Suggest returns the valid name nearest to name, empty if there is none.
func Suggest(name string) string { return gen.SuggestName(name) }

// ForField returns the wire name of a field whose name in the json tag, such as fooBar, is not valid. A name of which
// little would be left, such as "+1" or "@type", is replaced by the Go name.
func ForField(name, goName string) string { return gen.FieldName(name, goName) }

// IsAlias reports whether requests may use the name of a json tag, such as fooBar, in place of the wire name (MCP-AQL
// operations §4.1).
func IsAlias(name string) bool {
	for i, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z':
		case i > 0 && (r == '_' || r >= '0' && r <= '9'):
		default:
			return false
		}
	}
	return name != ""
}

// IsKept reports whether a name can stay as encoding/json writes it, where a package keeps names. It may not have dots,
// which part the names in a path, nor quotes, brackets, commas and blanks.
func IsKept(name string) bool {
	for _, r := range name {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("_-$@:+/#", r):
		default:
			return false
		}
	}
	return name != ""
}

// Exported returns s with a capital first letter.
func Exported(s string) string {
	for i, r := range s {
		return s[:i] + string(unicode.ToUpper(r)) + s[i+len(string(r)):]
	}
	return s
}

// Join returns a dotted path.
func Join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// Use returns the suggestion to use the valid name nearest to name, empty if there is none.
func Use(name string) string {
	if name = Suggest(name); name == "" {
		return ""
	}
	return fmt.Sprintf("use %q", name)
}

// IsOptions reports whether the name of an argument or a type, in snake_case, says that it may be left out.
func IsOptions(name string) bool {
	switch name[strings.LastIndexByte(name, '_')+1:] {
	case "opt", "opts", "option", "options":
		return true
	}
	return false
}

// IsPaging reports whether the name of a parameter, in snake_case, says that it cuts a part out of a list.
func IsPaging(name string) bool {
	switch name {
	case "first", "last", "after", "before", "max_results", "max_items", "next_token", "start_after":
		return true
	}
	for word := range strings.SplitSeq(name, "_") {
		switch word {
		case "limit", "offset", "page", "paging", "pagination", "cursor", "skip", "continuation":
			return true
		}
	}
	return false
}
