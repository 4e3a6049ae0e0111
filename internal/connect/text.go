package connect

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
)

// jsonText returns a value as JSON whose lines but the first begin with an indentation.
func jsonText(value any, indent, unit, newline string) string {
	var s strings.Builder
	switch value := value.(type) {
	case []member:
		s.WriteString("{")
		for i, m := range value {
			if i > 0 {
				s.WriteString(",")
			}
			s.WriteString(newline + indent + unit + quote(m.name) + ": " + jsonText(m.value, indent+unit, unit, newline))
		}
		if len(value) > 0 {
			s.WriteString(newline + indent)
		}
		s.WriteString("}")
	case []any:
		s.WriteString("[")
		for i, each := range value {
			if i > 0 {
				s.WriteString(",")
			}
			s.WriteString(newline + indent + unit + jsonText(each, indent+unit, unit, newline))
		}
		s.WriteString(newline + indent + "]")
	case []string:
		quoted := make([]string, len(value))
		for i, each := range value {
			quoted[i] = quote(each)
		}
		s.WriteString("[" + strings.Join(quoted, ", ") + "]")
	case bool:
		if value {
			return "true"
		}
		return "false"
	case string:
		return quote(value)
	}
	return s.String()
}

// quote returns a text as JSON that is also a basic string of TOML.
func quote(text string) string {
	var s bytes.Buffer
	encoder := json.NewEncoder(&s)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		return `""` // a string can always be encoded
	}
	return strings.ReplaceAll(strings.TrimSuffix(s.String(), "\n"), "\x7f", `\u007f`)
}

var bareKey = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// tomlKey returns a key of TOML.
func tomlKey(name string) string {
	if bareKey.MatchString(name) {
		return name
	}
	return quote(name)
}

// tomlEntry returns the table of a server.
func tomlEntry(root, name string, entry []member) string {
	var s, tables strings.Builder
	header := root + "." + tomlKey(name)
	s.WriteString("[" + header + "]\n")
	for _, m := range entry {
		if inner, ok := m.value.([]member); ok {
			tables.WriteString("\n[" + header + "." + tomlKey(m.name) + "]\n")
			for _, each := range inner {
				tables.WriteString(tomlKey(each.name) + " = " + jsonText(each.value, "", "", "") + "\n")
			}
			continue
		}
		s.WriteString(tomlKey(m.name) + " = " + jsonText(m.value, "", "", "") + "\n")
	}
	return s.String() + tables.String()
}
