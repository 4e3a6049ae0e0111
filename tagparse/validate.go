package tagparse

import "strings"

// Rule is one rule of a validate or binding tag, in the grammar of go-playground/validator.
type Rule struct {
	Name         string
	Param        string // behind the equals sign, with 0x2C and 0x7C as the comma and the bar they stand for
	Offset, End  int    // of the rule, in bytes of the tag's value
	Alternatives []Rule // of a|b: all of them, the first one included
	Depth        int    // how many times dive stands before it: 0 the field, 1 its elements, 2 the elements of those
	Key          bool   // it is about the keys of a map: between keys and endkeys
}

// ParseValidate splits the value of a validate or binding tag into its rules, dive, keys and endkeys applied. Rules without
// a name, at which validator panics, are left out.
func ParseValidate(text string) []Rule {
	var rules []Rule
	depth, inKeys, start := 0, false, 0
	for start <= len(text) {
		end := len(text)
		if comma := strings.IndexByte(text[start:], ','); comma >= 0 {
			end = start + comma
		}
		switch part := text[start:end]; part {
		case "":
		case "dive":
			depth, inKeys = depth+1, false
		case "keys":
			inKeys = true
		case "endkeys":
			inKeys = false
		default:
			rules = append(rules, validateRule(part, start, depth, inKeys))
		}
		start = end + 1
	}
	return rules
}

func validateRule(part string, offset, depth int, key bool) Rule {
	whole := Rule{Offset: offset, End: offset + len(part), Depth: depth, Key: key}
	at := offset
	for _, text := range strings.Split(part, "|") {
		name, param, _ := strings.Cut(text, "=")
		rule := whole
		rule.Name, rule.Param = name, unescape.Replace(param)
		rule.Offset, rule.End = at, at+len(text)
		whole.Alternatives = append(whole.Alternatives, rule)
		at += len(text) + 1
	}
	whole.Name, whole.Param = whole.Alternatives[0].Name, whole.Alternatives[0].Param
	if len(whole.Alternatives) == 1 {
		whole.Alternatives = nil
	}
	return whole
}

var unescape = strings.NewReplacer("0x2C", ",", "0x7C", "|")

// Words splits the parameter of oneof: words between spaces, or in single quotes.
func Words(param string) []string {
	var words []string
	for rest := strings.TrimLeft(param, " "); rest != ""; rest = strings.TrimLeft(rest, " ") {
		end := strings.IndexByte(rest, ' ')
		if rest[0] == '\'' {
			if closing := strings.IndexByte(rest[1:], '\''); closing >= 0 {
				words = append(words, rest[1:1+closing])
				rest = rest[2+closing:]
				continue
			}
		}
		if end < 0 {
			end = len(rest)
		}
		words = append(words, rest[:end])
		rest = rest[end:]
	}
	return words
}
