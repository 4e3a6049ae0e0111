package policyfile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v4"

	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/words"
)

// plain refuses anchors, references and tags: with them the value is written elsewhere, or is not what it looks like.
func (d *decoder) plain(n *yaml.Node, part policy.Part) bool {
	var message string
	switch {
	case n.Kind == yaml.AliasNode, n.Anchor != "":
		message = "anchors and references (& and *) are not read here; " +
			"write the value, and quote a pattern that begins with *"
	case n.Style&yaml.TaggedStyle != 0:
		message = "tags (!) are not read here; write the value alone, and quote a text that begins with !"
	default:
		return true
	}
	d.markUnread(part)
	d.addAt(n.Line, n.Column, "%s", message)
	return false
}

// sequence reports whether n is a list with elements; rules alone may be an empty one. form is what the value should
// be.
func (d *decoder) sequence(n *yaml.Node, part policy.Part, title, form string) bool {
	if !d.plain(n, part) {
		return false
	}
	ofMappings := part.Key == "rules" || part.Key == "when"
	switch {
	case n.Kind != yaml.SequenceNode:
		if n.Kind == yaml.ScalarNode && n.Value != "" && n.ShortTag() != "!!null" && !ofMappings {
			form = "a list: write [" + clip(n.Value) + "]"
		}
		d.addUnread(part, "%s is %s; it must be %s", title, describe(n), form)
	case len(n.Content) == 0 && part.Key != "rules":
		d.addUnread(part, "%s is an empty list; leave %s out if nothing is asked for", title, title)
	default:
		return true
	}
	return false
}

// texts reads a list of texts.
func texts[S ~string](d *decoder, part policy.Part, n *yaml.Node) []S {
	if !d.sequence(n, part, lastKey(part), "a list") {
		return nil
	}
	list := make([]S, 0, len(n.Content))
	for i, element := range n.Content {
		d.locate(item(part, i), element)
		list = append(list, S(d.text(item(part, i), element)))
	}
	return list
}

// lastKey returns the key of a part without the keys around it.
func lastKey(part policy.Part) string { return part.Key[strings.LastIndexByte(part.Key, '.')+1:] }

// text reads a text. What YAML, or some reader of it, takes for another kind of value must be quoted.
func (d *decoder) text(part policy.Part, n *yaml.Node) string {
	if !d.plain(n, part) {
		return ""
	}
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" && !ambiguous(n) {
		if n.Value == "" {
			d.addUnread(part, "%s is empty", lastKey(part))
		}
		return n.Value
	}
	if n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null" {
		d.addUnread(part, "%s must be a text, and this is %s", lastKey(part), describe(n))
	} else {
		d.addUnread(part, "%s must be a text, and this is %s; if the text is meant, quote it: %q",
			lastKey(part), describe(n), clip(n.Value))
	}
	return ""
}

// ambiguous reports whether some readers of YAML take a word for a boolean and others for a text.
func ambiguous(n *yaml.Node) bool {
	quoted := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	either := []string{"yes", "no", "on", "off", "y", "n", "true", "false"}
	return !quoted && slices.Contains(either, strings.ToLower(n.Value))
}

// boolean reads true or false, and nothing else.
func (d *decoder) boolean(part policy.Part, n *yaml.Node) *bool {
	if !d.plain(n, part) {
		return nil
	}
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!bool" && (n.Value == "true" || n.Value == "false") {
		return new(n.Value == "true")
	}
	instead := "true or false"
	if n.Kind == yaml.ScalarNode {
		switch strings.ToLower(n.Value) {
		case "yes", "on", "y", "true":
			instead = "true"
		case "no", "off", "n", "false":
			instead = "false"
		}
	}
	d.addUnread(part, "%s is %s; write %s", lastKey(part), describe(n), instead)
	return nil
}

// duration reads a time such as 10s.
func (d *decoder) duration(part policy.Part, n *yaml.Node) time.Duration {
	if !d.plain(n, part) {
		return 0
	}
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
		if duration, err := time.ParseDuration(n.Value); err == nil {
			if duration > 0 {
				return duration
			}
			d.addUnread(part, "%s is %s; it must be longer than nothing, or left out", lastKey(part), n.Value)
			return 0
		}
	}
	d.addUnread(part, "%s is %s; write a time with its unit, such as 10s or 1m30s", lastKey(part), describe(n))
	return 0
}

// count reads a number, from 1 on.
func (d *decoder) count(part policy.Part, n *yaml.Node) int {
	if !d.plain(n, part) {
		return 0
	}
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!int" {
		if count, err := strconv.Atoi(n.Value); err == nil && count > 0 {
			return count
		}
	}
	d.addUnread(part, "%s is %s; write a number from 1 on", lastKey(part), describe(n))
	return 0
}

// word reports whether the value is a word, which is the only one that it can be.
func (d *decoder) word(part policy.Part, n *yaml.Node, only string) bool {
	text := d.text(part, n)
	if text != "" && text != only {
		d.addUnread(part, "%s is %q; it can only be %s", lastKey(part), clip(text), only)
	}
	return text == only
}

// values reads a list of values.
func (d *decoder) values(part policy.Part, n *yaml.Node) []any {
	if !d.sequence(n, part, lastKey(part), "a list") {
		return nil
	}
	list := make([]any, 0, len(n.Content))
	for i, element := range n.Content {
		d.locate(item(part, i), element)
		if v := d.value(item(part, i), element); v != nil {
			list = append(list, v)
		}
	}
	return list
}

// value reads a text, a number or a boolean: a string, json.Number or bool.
func (d *decoder) value(part policy.Part, n *yaml.Node) any {
	if !d.plain(n, part) {
		return nil
	}
	if n.Kind != yaml.ScalarNode {
		d.addUnread(part, "%s compares with a text, a number or a boolean, and this is %s", lastKey(part), describe(n))
		return nil
	}
	switch tag := n.ShortTag(); {
	case tag == "!!bool" && (n.Value == "true" || n.Value == "false"):
		return n.Value == "true"
	case tag == "!!str" && !ambiguous(n):
		return n.Value
	case (tag == "!!int" || tag == "!!float") && json.Valid([]byte(n.Value)):
		return json.Number(n.Value)
	case tag == "!!int" || tag == "!!float":
		d.addUnread(part, "%s is not written as JSON writes numbers; "+
			"write it in decimal, or quote it if a text is meant", n.Value)
	case tag == "!!null":
		d.addUnread(part, "%s compares with no value; "+
			"to ask whether the parameter is there, write given: true or given: false", lastKey(part))
	case ambiguous(n):
		d.addUnread(part, "%s is a boolean to some readers of YAML and a text to others; "+
			"write true or false, or quote it", n.Value)
	default:
		d.addUnread(part, "%s is neither a number nor plainly a text; quote it: %q", clip(n.Value), clip(n.Value))
	}
	return nil
}

// describe returns what a node is, for mistakes.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.SequenceNode:
		return "a list"
	case yaml.MappingNode:
		return "keys and values"
	case yaml.AliasNode:
		return "a reference"
	}
	switch n.ShortTag() {
	case "!!null":
		return "empty"
	case "!!str":
		return fmt.Sprintf("%q", clip(n.Value))
	case "!!bool":
		return "the boolean " + n.Value
	case "!!int", "!!float":
		return "the number " + clip(n.Value)
	case "!!timestamp":
		return "the date " + clip(n.Value)
	}
	return clip(n.Value)
}

// longestQuote bounds what a message quotes, in characters.
const longestQuote = 60

// clip makes a text of one short line.
func clip(text string) string { return words.Clip(text, longestQuote) }
