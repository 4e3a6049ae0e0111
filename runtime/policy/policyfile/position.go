package policyfile

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/aqltag/aqltag/runtime/policy"
)

// source is the file that a policy was read from.
type source struct {
	name      string
	positions map[policy.Part]position
}

// position is where a value begins.
type position struct {
	line, column int  // from 1; columns are characters
	verbatim     bool // the text of the value is in the file character for character,
	quote        int  // after so many quotation marks
}

func (s *source) Name() string { return s.name }

func (s *source) Position(part policy.Part, offset int) (line, column int) {
	p := s.find(part)
	if p.verbatim && offset >= 0 {
		return p.line, p.column + p.quote + offset
	}
	return p.line, p.column
}

// find returns the position of a part, or of the nearest thing around it that has one.
func (s *source) find(part policy.Part) position {
	around := []policy.Part{part, item(part, -1)}
	if part.Key != "" {
		key, _, _ := strings.Cut(part.Key, ".")
		around = append(around, sibling(part, key), sibling(part, ""))
	}
	if part.Condition >= 0 {
		around = append(around, item(ofRule(part.Rule, "when"), part.Condition), ofRule(part.Rule, "when"))
	}
	if part.Rule >= 0 {
		around = append(around, ofRule(part.Rule, ""), ofPolicy("rules"))
	}
	for _, candidate := range around {
		if found, ok := s.positions[candidate]; ok {
			return found
		}
	}
	return position{line: 1, column: 1}
}

func ofPolicy(key string) policy.Part {
	return policy.Part{Rule: -1, Condition: -1, Key: key, Item: -1}
}
func ofRule(rule int, key string) policy.Part {
	return policy.Part{Rule: rule, Condition: -1, Key: key, Item: -1}
}

func item(part policy.Part, index int) policy.Part {
	part.Item = index
	return part
}

func sibling(part policy.Part, key string) policy.Part {
	part.Key, part.Item = key, -1
	return part
}

// member returns the part of a member of what another part names.
func member(part policy.Part, key string) policy.Part {
	if part.Key != "" {
		key = part.Key + "." + key
	}
	return sibling(part, key)
}

// locate records where the value of a part is.
func (d *decoder) locate(part policy.Part, n *yaml.Node) {
	p := position{line: n.Line, column: n.Column}
	if n.Kind == yaml.ScalarNode && n.Line >= 1 && n.Line <= len(d.lines) {
		rest := dropCharacters(d.lines[n.Line-1], n.Column-1)
		if n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0 {
			rest, p.quote = dropCharacters(rest, 1), 1
		}
		p.verbatim = strings.HasPrefix(rest, n.Value)
	}
	d.source.positions[part] = p
}

// dropCharacters returns a line without its first n characters.
func dropCharacters(line string, n int) string {
	for ; n > 0 && line != ""; n-- {
		_, size := utf8.DecodeRuneInString(line)
		line = line[size:]
	}
	return line
}
