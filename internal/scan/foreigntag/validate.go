// Package foreigntag has the grammars of the struct tags that other libraries read: validate and binding
// (go-playground/validator), and jsonschema (invopop/jsonschema and google/jsonschema-go).
package foreigntag

import (
	"strings"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/tagparse"
)

// Rule is one rule of a validate or binding tag, in the grammar of go-playground/validator.
type Rule struct {
	Name         string
	Param        string // behind the equals sign, with commas for 0x2C and bars for 0x7C
	Offset, End  int    // of the rule, in bytes of the tag's value
	Alternatives []Rule // of a|b: all of them, the first one included
	// how many times dive precedes it: 0 for the field, 1 for its elements, 2 for theirs; dive itself counts
	Depth int
	Key   bool // it is about the keys of a map: between keys and endkeys
}

// ParseValidate splits the value of a validate or binding tag into its rules; dive is one of them, keys and endkeys are
// not. Problems are what makes validator panic: rules without a name, white space around a name, keys and endkeys out
// of place. The rules are returned all the same.
func ParseValidate(text string) ([]Rule, []tagparse.Problem) {
	p := validateTag{text: text}
	for start := 0; text != "" && start <= len(text); {
		end := len(text)
		if comma := strings.IndexByte(text[start:], ','); comma >= 0 {
			end = start + comma
		}
		p.part(start, end)
		start = end + 1
	}
	if p.inKeys {
		p.problem(p.keysAt, p.keysAt+len("keys"), diag.CodeMissing, "keys has no endkeys",
			"write endkeys behind the rules of the keys")
	}
	return p.rules, p.problems
}

// validateTag is a validate tag being read.
type validateTag struct {
	text     string
	rules    []Rule
	problems []tagparse.Problem
	depth    int
	dived    bool // the rule before was dive
	inKeys   bool
	keysAt   int // offset of the last keys
}

func (p *validateTag) problem(from, to int, code, message, suggestion string) {
	p.problems = append(p.problems, tagparse.Problem{
		Offset: from, End: to, Code: code, Message: message + ", at which validator panics", Actual: p.text[from:to],
		Suggestion: suggestion,
	})
}

// part reads the text between two commas.
func (p *validateTag) part(start, end int) {
	start, end = p.trim(start, end)
	part, dived := p.text[start:end], p.dived
	p.dived = false
	switch part {
	case "":
		// The byte of a comma, or the only one there is.
		from := min(start, len(p.text)-1)
		p.problem(from, from+1, diag.CodeMissing, "a rule is empty", "remove the comma or name a rule")
	case "dive":
		p.depth, p.dived = p.depth+1, true
		p.rules = append(p.rules, Rule{Name: part, Offset: start, End: end, Depth: p.depth, Key: p.inKeys})
	case "keys":
		if !dived {
			p.problem(start, end, diag.CodeType, "keys does not stand right behind dive", "write dive,keys,…,endkeys")
		}
		p.inKeys, p.keysAt = dived, start
	case "endkeys":
		if !p.inKeys {
			p.problem(start, end, diag.CodeType, "endkeys has no keys before it", "remove it")
		}
		p.inKeys = false
	default:
		p.rule(start, end)
	}
}

// trim leaves out white space around the name of a rule. White space behind an equals sign belongs to the parameter.
func (p *validateTag) trim(start, end int) (int, int) {
	part := p.text[start:end]
	left := len(part) - len(strings.TrimLeft(part, " \t"))
	if left < len(part) && left > 0 {
		p.problem(start, start+left, diag.CodeType, "a space stands before the rule", "remove the space")
	}
	if right := len(strings.TrimRight(part, " \t")); right < len(part) && right > left && !strings.Contains(part, "=") {
		p.problem(start+right, end, diag.CodeType, "a space stands behind the rule", "remove the space")
		end = start + right
	}
	return start + left, end
}

func (p *validateTag) rule(start, end int) {
	whole := Rule{Offset: start, End: end, Depth: p.depth, Key: p.inKeys}
	at := start
	for text := range strings.SplitSeq(p.text[start:end], "|") {
		name, param, _ := strings.Cut(text, "=")
		if name == "" {
			p.problem(min(at, end-1), max(at+len(text), min(at, end-1)+1), diag.CodeMissing, "a rule has no name", "")
		} else {
			rule := whole
			rule.Name, rule.Param, rule.Offset, rule.End = name, escapes.Replace(param), at, at+len(text)
			whole.Alternatives = append(whole.Alternatives, rule)
		}
		at += len(text) + 1
	}
	switch len(whole.Alternatives) {
	case 0:
		return
	case 1:
		whole = whole.Alternatives[0]
	default:
		whole.Name, whole.Param = whole.Alternatives[0].Name, whole.Alternatives[0].Param
	}
	p.rules = append(p.rules, whole)
}

// escapes maps what validator reads as the two bytes that have a meaning in its tags.
var escapes = strings.NewReplacer("0x2C", ",", "0x7C", "|")

// String returns the name of the rule, without its parameter: gt, email|uri.
func (r Rule) String() string {
	if len(r.Alternatives) == 0 {
		return r.Name
	}
	names := make([]string, len(r.Alternatives))
	for i, alternative := range r.Alternatives {
		names[i] = alternative.Name
	}
	return strings.Join(names, "|")
}

// Words splits the parameter of oneof: words between white space, or in single quotes, which are in no word.
func Words(param string) []string {
	const space = " \t\n\v\f\r"
	var words []string
	for rest := strings.TrimLeft(param, space); rest != ""; rest = strings.TrimLeft(rest, space) {
		end := strings.IndexAny(rest, space)
		if end < 0 {
			end = len(rest)
		}
		if rest[0] == '\'' {
			if closing := strings.IndexByte(rest[1:], '\''); closing >= 0 {
				end = closing + 2
			}
		}
		words = append(words, strings.ReplaceAll(rest[:end], "'", ""))
		rest = rest[end:]
	}
	return words
}
