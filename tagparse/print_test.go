package tagparse

import "strings"

// printItems spells items as a tag, quoting only what needs it.
func printItems(items []Item) string {
	var out strings.Builder
	for i, item := range items {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(item.Key)
		if item.Flag {
			continue
		}
		out.WriteByte('=')
		elements := item.List
		if elements == nil {
			elements = []string{item.Value}
		}
		for j, element := range elements {
			if j > 0 {
				out.WriteByte('|')
			}
			out.WriteString(quote(element))
		}
	}
	return out.String()
}

func quote(value string) string {
	if value != "" && !strings.ContainsAny(value, ",|") && !strings.HasPrefix(value, "'") &&
		strings.Trim(value, " \t") == value {
		return value
	}
	return "'" + strings.ReplaceAll(value, "'", "''") + "'"
}
