package gen

import "strings"

// Names says in words which names the entries of a map have; empty: every text is one.
func (p *Param) Names() string {
	k := p.Keys
	switch {
	case k == nil:
		return ""
	case k.Type == "integer":
		return "Names are integers" + k.Range() + inBrackets(k.Description)
	case k.Format != "":
		return "Names have the format " + k.Format
	default:
		return "Names are in a form that the service checks"
	}
}

// Range says in words which bounds a number has: " from 0 to 9"; empty: none.
func (p *Param) Range() string {
	switch {
	case p.Minimum != "" && p.Maximum != "":
		return " from " + p.Minimum + " to " + p.Maximum
	case p.Minimum != "":
		return ", " + p.Minimum + " or more"
	case p.Maximum != "":
		return ", " + p.Maximum + " or less"
	default:
		return ""
	}
}

// inBrackets returns sentences as a part of another one.
func inBrackets(text string) string {
	text = strings.TrimSuffix(text, ".")
	if text == "" {
		return ""
	}
	if 'A' <= text[0] && text[0] <= 'Z' {
		text = strings.ToLower(text[:1]) + text[1:]
	}
	return " (" + text + ")"
}
