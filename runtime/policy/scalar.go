package policy

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/words"
	"go.yaml.in/yaml/v4"
)

// plain refuses what says in another place what a value is.
func (d *decoder) plain(n *yaml.Node, at place) bool {
	switch {
	case n.Kind == yaml.AliasNode, n.Anchor != "":
		d.fail(at)
		d.fault(n.Line, n.Column, "anchors and references (& and *) are not read here; write the value, and quote a pattern that begins with *")
	case n.Style&yaml.TaggedStyle != 0:
		d.fail(at)
		d.fault(n.Line, n.Column, "tags (!) are not read here; write the value alone, and quote a text that begins with !")
	default:
		return true
	}
	return false
}

// sequence reports whether n is a list with elements; rules alone may be an empty one.
func (d *decoder) sequence(n *yaml.Node, at place, what, form string) bool {
	if !d.plain(n, at) {
		return false
	}
	switch {
	case n.Kind != yaml.SequenceNode:
		if n.Kind == yaml.ScalarNode && n.Value != "" && n.ShortTag() != "!!null" && at.key != "rules" && at.key != "when" {
			form = "a list: write [" + clip(n.Value) + "]"
		}
		d.add(at, "%s is %s; it must be %s", what, written(n), form)
	case len(n.Content) == 0 && at.key != "rules":
		d.add(at, "%s is an empty list; leave %s out if nothing is asked for", what, what)
	default:
		return true
	}
	d.fail(at)
	return false
}

// texts reads a list of texts.
func texts[S ~string](d *decoder, at place, n *yaml.Node) []S {
	if !d.sequence(n, at, lastKey(at), "a list") {
		return nil
	}
	list := make([]S, 0, len(n.Content))
	for i, element := range n.Content {
		d.note(at.at(i), element)
		list = append(list, S(d.text(at.at(i), element)))
	}
	return list
}

// lastKey is a key without what it belongs to.
func lastKey(at place) string { return at.key[strings.LastIndexByte(at.key, '.')+1:] }

// text reads a text. What is not plainly one must be quoted.
func (d *decoder) text(at place, n *yaml.Node) string {
	if !d.plain(n, at) {
		return ""
	}
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" && !ambiguous(n) {
		if n.Value == "" {
			d.fail(at)
			d.add(at, "%s is empty", lastKey(at))
		}
		return n.Value
	}
	d.fail(at)
	switch {
	case n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null":
		d.add(at, "%s must be a text, and this is %s", lastKey(at), written(n))
	default:
		d.add(at, "%s must be a text, and this is %s; if the text is meant, quote it: %q", lastKey(at), written(n), clip(n.Value))
	}
	return ""
}

// ambiguous reports whether some readers of YAML take a word for a boolean and others for a text.
func ambiguous(n *yaml.Node) bool {
	quoted := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) != 0
	return !quoted && slices.Contains([]string{"yes", "no", "on", "off", "y", "n", "true", "false"}, strings.ToLower(n.Value))
}

// boolean reads true or false, and nothing else.
func (d *decoder) boolean(at place, n *yaml.Node) *bool {
	if !d.plain(n, at) {
		return nil
	}
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!bool" && (n.Value == "true" || n.Value == "false") {
		return new(n.Value == "true")
	}
	d.fail(at)
	instead := "true or false"
	if n.Kind == yaml.ScalarNode {
		switch strings.ToLower(n.Value) {
		case "yes", "on", "y", "true":
			instead = "true"
		case "no", "off", "n", "false":
			instead = "false"
		}
	}
	d.add(at, "%s is %s; write %s", lastKey(at), written(n), instead)
	return nil
}

// duration reads a time such as 10s.
func (d *decoder) duration(at place, n *yaml.Node) time.Duration {
	if !d.plain(n, at) {
		return 0
	}
	if n.Kind == yaml.ScalarNode && n.ShortTag() == "!!str" {
		if duration, err := time.ParseDuration(n.Value); err == nil {
			if duration <= 0 {
				d.fail(at)
				d.add(at, "%s is %s; it must be longer than nothing, or left out", lastKey(at), n.Value)
				return 0
			}
			return duration
		}
	}
	d.fail(at)
	d.add(at, "%s is %s; write a time with its unit, such as 10s or 1m30s", lastKey(at), written(n))
	return 0
}

// values reads a list of values.
func (d *decoder) values(at place, n *yaml.Node) []any {
	if !d.sequence(n, at, lastKey(at), "a list") {
		return nil
	}
	list := make([]any, 0, len(n.Content))
	for i, element := range n.Content {
		d.note(at.at(i), element)
		if v := d.value(at.at(i), element); v != nil {
			list = append(list, v)
		}
	}
	return list
}

// value reads a text, a number or a boolean.
func (d *decoder) value(at place, n *yaml.Node) any {
	if !d.plain(n, at) {
		return nil
	}
	if n.Kind == yaml.ScalarNode {
		switch tag := n.ShortTag(); {
		case tag == "!!bool" && (n.Value == "true" || n.Value == "false"):
			return n.Value == "true"
		case tag == "!!str" && !ambiguous(n):
			return n.Value
		case tag == "!!int" || tag == "!!float":
			if _, ok := parseDecimal(n.Value); ok {
				return json.Number(n.Value)
			}
			d.fail(at)
			d.add(at, "%s is not written as JSON writes numbers; write it in decimal, or quote it if a text is meant", n.Value)
			return nil
		case tag == "!!null":
			d.fail(at)
			d.add(at, "%s compares with no value; to ask whether the parameter is there, write given: true or given: false", lastKey(at))
			return nil
		case ambiguous(n):
			d.fail(at)
			d.add(at, "%s is a boolean to some readers of YAML and a text to others; write true or false, or quote it", n.Value)
			return nil
		default:
			d.fail(at)
			d.add(at, "%s is neither a number nor plainly a text; quote it: %q", clip(n.Value), clip(n.Value))
			return nil
		}
	}
	d.fail(at)
	d.add(at, "%s compares with a text, a number or a boolean, and this is %s", lastKey(at), written(n))
	return nil
}

// written says what a node is, for people.
func written(n *yaml.Node) string {
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
