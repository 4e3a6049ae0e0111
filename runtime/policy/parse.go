package policy

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v4"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Bounds of policy files.
const (
	longestFile = 1 << 20 // bytes
	mostRules   = 1000
)

// Parse reads a policy from YAML; name is that of the file, for mistakes. The error is of type Mistakes and holds all that
// is wrong, down to keys that do not exist and patterns that could never match; what depends on the operations of an
// adapter Bind finds.
//
// The language is the part of YAML that reads the same to everyone: booleans are true and false, other words that some
// readers take for booleans must be quoted, and there are no anchors, tags and second documents.
func Parse(name string, text []byte) (*Policy, error) {
	p := &Policy{name: name, places: make(map[place]textPlace)}
	d := &decoder{findings: findings{policy: p}}
	root := d.load(text)
	if root == nil {
		return nil, d.err()
	}
	d.lines = strings.Split(string(text), "\n")
	d.document(root)
	p.validate(&d.findings)
	if err := d.err(); err != nil {
		return nil, err
	}
	return p, nil
}

// decoder turns YAML nodes into a policy. It goes by the nodes and not by Go types: they know where they stand, and what
// was written there.
type decoder struct {
	findings
	lines []string
}

// load makes nodes of the text; nil: it is no YAML.
func (d *decoder) load(text []byte) *yaml.Node {
	if len(text) > longestFile {
		d.fault(1, 1, "the file is longer than %d bytes", longestFile)
		return nil
	}
	if !utf8.Valid(text) {
		line, column := position(text, invalid(text))
		d.fault(line, column, "the file is not valid UTF-8")
		return nil
	}
	var root yaml.Node
	err := yaml.Load(text, &root)
	if err == nil {
		return &root
	}
	var one *yaml.LoadError
	var several *yaml.LoadErrors
	if errors.As(err, &several) && len(several.Errors) > 0 {
		one = several.Errors[0]
	} else if !errors.As(err, &one) {
		d.fault(1, 1, "the file cannot be read as YAML: %v", err)
		return nil
	}
	line, column := one.Mark.Line, one.Mark.Column
	if line == 0 {
		line, column = position(text, min(one.Mark.Index, len(text)))
	}
	message := strings.TrimPrefix(one.Message, "yaml: ")
	switch {
	case strings.Contains(message, "no documents"):
		message = "the file is empty; a policy that says nothing is `version: 1` and `rules: []`"
	case strings.Contains(message, "found multiple"):
		at := bytes.LastIndex(text, []byte("\n---"))
		line, column = position(text, at+1)
		message = "a second document begins here; a file holds one policy"
	case strings.Contains(message, "unknown anchor"):
		message = "what begins with * is a reference in YAML; quote a pattern that begins so, as in \"*_todo\""
	default:
		message = "the file is not YAML: " + message
	}
	d.fault(line, column, "%s", message)
	return nil
}

func (d *decoder) fault(line, column int, format string, args ...any) {
	d.list = append(d.list, Mistake{File: d.policy.name, Line: line, Column: column, Message: fmt.Sprintf(format, args...)})
}

// position is the line and column of an offset, both from 1.
func position(text []byte, offset int) (line, column int) {
	before := text[:offset]
	start := bytes.LastIndexByte(before, '\n') + 1
	return 1 + bytes.Count(before, []byte("\n")), 1 + utf8.RuneCount(before[start:])
}

// invalid is the offset of the first byte that is not UTF-8.
func invalid(text []byte) int {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return len(text)
}

// note remembers where the value of a place stands.
func (d *decoder) note(at place, n *yaml.Node) {
	p := textPlace{line: n.Line, column: n.Column}
	if n.Kind == yaml.ScalarNode && n.Line >= 1 && n.Line <= len(d.lines) {
		rest := after(d.lines[n.Line-1], n.Column-1)
		quoted := n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle) != 0
		if quoted {
			rest, p.quote = after(rest, 1), 1
		}
		p.verbatim = strings.HasPrefix(rest, n.Value)
	}
	d.policy.places[at] = p
}

// after is a line without its first n characters.
func after(line string, n int) string {
	for ; n > 0 && line != ""; n-- {
		_, size := utf8.DecodeRuneInString(line)
		line = line[size:]
	}
	return line
}

// document reads the whole.
func (d *decoder) document(n *yaml.Node) {
	if n.Kind == yaml.DocumentNode && len(n.Content) == 1 {
		n = n.Content[0]
	}
	d.note(ofPolicy(""), n)
	keys := []string{"version", "default", "rules"}
	seen := d.mapping(n, ofPolicy(""), "a policy", keys, func(at place, v *yaml.Node) {
		switch at.key {
		case "version":
			if v.Kind != yaml.ScalarNode || v.Value != "1" || v.ShortTag() != "!!int" {
				d.add(at, "version is %s; this is about version 1", written(v))
			}
		case "default":
			d.policy.Default = Effect(d.text(at, v))
		case "rules":
			d.rules(v, at)
		}
	})
	if seen == nil {
		return
	}
	if !seen["version"] {
		d.add(ofPolicy(""), "version is missing; write version: 1")
	}
	if !seen["rules"] && !seen["default"] {
		d.add(ofPolicy(""), "the policy has neither rules nor a default")
	}
}

func (d *decoder) rules(n *yaml.Node, at place) {
	if !d.sequence(n, at, "rules", "a list of rules, each beginning with \"- name:\"") {
		return
	}
	if len(n.Content) > mostRules {
		d.add(at, "there are %d rules; a policy has no more than %d", len(n.Content), mostRules)
		return
	}
	d.policy.Rules = make([]Rule, len(n.Content))
	for i, node := range n.Content {
		d.note(ofRule(i, ""), node)
		d.rule(node, i)
	}
}

// ruleKeys are the keys of a rule.
var ruleKeys = []string{"name", "effect", "operations", "categories", "danger", "callers", "issuers", "scopes", "anonymous", "not",
	"when", "reason", "cooldown", "reauthenticate"}

func (d *decoder) rule(n *yaml.Node, i int) {
	r := &d.policy.Rules[i]
	d.mapping(n, ofRule(i, ""), "a rule", ruleKeys, func(at place, v *yaml.Node) {
		switch at.key {
		case "name":
			r.Name = d.text(at, v)
		case "effect":
			r.Effect = Effect(d.text(at, v))
		case "operations":
			r.Operations = texts[string](d, at, v)
		case "categories":
			r.Categories = texts[gen.Category](d, at, v)
		case "danger":
			r.Danger = gen.Danger(d.text(at, v))
		case "callers":
			r.Callers = texts[string](d, at, v)
		case "issuers":
			r.Issuers = texts[string](d, at, v)
		case "scopes":
			r.Scopes = texts[string](d, at, v)
		case "anonymous":
			r.Anonymous = d.boolean(at, v)
		case "not":
			d.exception(v, at, &r.Not)
		case "when":
			d.conditions(v, at, r)
		case "reason":
			r.Reason = d.text(at, v)
		case "cooldown":
			r.Cooldown = d.duration(at, v)
		case "reauthenticate":
			if b := d.boolean(at, v); b != nil {
				r.Reauthenticate = *b
			}
		}
	})
}

func (d *decoder) exception(n *yaml.Node, at place, e *Exception) {
	keys := []string{"operations", "callers", "issuers", "scopes"}
	seen := d.mapping(n, at, "not", keys, func(at place, v *yaml.Node) {
		list := texts[string](d, at, v)
		switch at.key {
		case "not.operations":
			e.Operations = list
		case "not.callers":
			e.Callers = list
		case "not.issuers":
			e.Issuers = list
		case "not.scopes":
			e.Scopes = list
		}
	})
	if seen != nil && len(seen) == 0 {
		d.add(at, "not is empty; leave it out")
	}
}

// conditionKeys are the keys of a condition.
var conditionKeys = []string{"param", "in", "not_in", "equals", "not_equals", "less_than", "greater_than", "at_least", "at_most", "like",
	"not_like", "given"}

func (d *decoder) conditions(n *yaml.Node, at place, r *Rule) {
	if !d.sequence(n, at, "when", "a list of conditions such as {param: status, in: [done]}") {
		return
	}
	r.When = make([]Condition, len(n.Content))
	for i, node := range n.Content {
		c := &r.When[i]
		d.note(ofWhen(at.rule, i, ""), node)
		d.mapping(node, ofWhen(at.rule, i, ""), "a condition", conditionKeys, func(at place, v *yaml.Node) {
			switch at.key {
			case "param":
				c.Param = d.text(at, v)
			case "in":
				c.In = d.values(at, v)
			case "not_in":
				c.NotIn = d.values(at, v)
			case "equals":
				c.Equals = d.value(at, v)
			case "not_equals":
				c.NotEquals = d.value(at, v)
			case "less_than":
				c.LessThan = d.value(at, v)
			case "greater_than":
				c.GreaterThan = d.value(at, v)
			case "at_least":
				c.AtLeast = d.value(at, v)
			case "at_most":
				c.AtMost = d.value(at, v)
			case "like":
				c.Like = d.text(at, v)
			case "not_like":
				c.NotLike = d.text(at, v)
			case "given":
				c.Given = d.boolean(at, v)
			}
		})
	}
}

// mapping reads the members of a mapping and returns those that it had; nil: it is none.
func (d *decoder) mapping(n *yaml.Node, at place, what string, keys []string, read func(at place, v *yaml.Node)) map[string]bool {
	if !d.plain(n, at) {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		d.fail(at)
		d.add(at, "%s consists of keys and values, and this is %s", what, written(n))
		return nil
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode {
			d.fail(at)
			d.fault(k.Line, k.Column, "the keys of %s are words, and this is %s", what, written(k))
			continue
		}
		key := k.Value
		if !slices.Contains(keys, key) {
			d.fail(at)
			d.fault(k.Line, k.Column, "%s has no key %q%s", what, clip(key), meant(key, keys))
			if likely, ok := nearest(key, keys); ok {
				d.fail(below(at, likely))
				seen[likely] = true
			}
			continue
		}
		if seen[key] {
			d.fault(k.Line, k.Column, "%s is given twice", key)
			continue
		}
		seen[key] = true
		member := below(at, key)
		d.note(member, v)
		read(member, v)
	}
	return seen
}

// below is the place of a member of what stands at a place.
func below(at place, key string) place {
	if at.key != "" {
		key = at.key + "." + key
	}
	return at.sibling(key)
}
