package policyfile

import (
	"slices"

	"go.yaml.in/yaml/v4"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/policy"
	"github.com/aqltag/aqltag/runtime/words"
)

// decoder turns YAML nodes into a policy. It goes by nodes and not by Go types, because nodes have positions and the
// spelling of their values.
type decoder struct {
	policy   *policy.Policy
	source   *source
	lines    []string
	mistakes policy.Mistakes
	unread   map[policy.Part]bool // parts whose values could not be read
}

func (d *decoder) document(n *yaml.Node) {
	if n.Kind == yaml.DocumentNode && len(n.Content) == 1 {
		n = n.Content[0]
	}
	d.locate(ofPolicy(""), n)
	seen := d.mapping(n, ofPolicy(""), "a policy", policyKeys, func(part policy.Part, v *yaml.Node) {
		switch part.Key {
		case "version":
			if v.Kind != yaml.ScalarNode || v.Value != "1" || v.ShortTag() != "!!int" {
				d.add(part, "version is %s; this is about version 1", describe(v))
			}
		case "default":
			d.policy.Default = policy.Effect(d.text(part, v))
		case "rules":
			d.rules(v, part)
		case "loop":
			d.loop(v, part)
		}
	})
	if seen == nil {
		return
	}
	if !seen["version"] {
		d.add(ofPolicy(""), "version is missing; write version: 1")
	}
	if !seen["rules"] && !seen["default"] && !seen["loop"] {
		d.add(ofPolicy(""), "the policy has neither rules nor a default")
	}
}

func (d *decoder) rules(n *yaml.Node, part policy.Part) {
	if !d.sequence(n, part, "rules", "a list of rules, each beginning with \"- name:\"") {
		return
	}
	d.policy.Rules = make([]policy.Rule, len(n.Content))
	for i, node := range n.Content {
		d.locate(ofRule(i, ""), node)
		d.rule(node, i)
	}
}

func (d *decoder) rule(n *yaml.Node, i int) {
	r := &d.policy.Rules[i]
	d.mapping(n, ofRule(i, ""), "a rule", ruleKeys, func(part policy.Part, v *yaml.Node) {
		switch part.Key {
		case "name":
			r.Name = d.text(part, v)
		case "effect":
			r.Effect = policy.Effect(d.text(part, v))
		case "operations":
			r.Operations = texts[string](d, part, v)
		case "categories":
			r.Categories = texts[gen.Category](d, part, v)
		case "danger":
			r.Danger = gen.Danger(d.text(part, v))
		case "callers":
			r.Callers = texts[string](d, part, v)
		case "issuers":
			r.Issuers = texts[string](d, part, v)
		case "scopes":
			r.Scopes = texts[string](d, part, v)
		case "anonymous":
			r.Anonymous = d.boolean(part, v)
		case "not":
			d.exception(v, part, &r.Not)
		case "when":
			d.conditions(v, part, r)
		case "hide":
			r.Hide = texts[string](d, part, v)
		case "reason":
			r.Reason = d.text(part, v)
		case "cooldown":
			r.Cooldown = d.duration(part, v)
		case "reauthenticate":
			if b := d.boolean(part, v); b != nil {
				r.Reauthenticate = *b
			}
		case "approvers":
			r.Approvers = new(policy.Approvers)
			d.approvers(v, part, r.Approvers)
		}
	})
}

func (d *decoder) exception(n *yaml.Node, part policy.Part, e *policy.Exception) {
	seen := d.mapping(n, part, "not", exceptionKeys, func(part policy.Part, v *yaml.Node) {
		list := texts[string](d, part, v)
		switch part.Key {
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
		d.add(part, "not is empty; leave it out")
	}
}

func (d *decoder) approvers(n *yaml.Node, part policy.Part, a *policy.Approvers) {
	seen := d.mapping(n, part, "approvers", approverKeys, func(part policy.Part, v *yaml.Node) {
		switch part.Key {
		case "approvers.count":
			a.Count = d.count(part, v)
		case "approvers.groups":
			a.Groups = texts[string](d, part, v)
		case "approvers.not":
			a.NotRequester = d.word(part, v, "requester")
		case "approvers.reason":
			a.ReasonRequired = d.word(part, v, "required")
		case "approvers.within":
			a.Within = d.duration(part, v)
		}
	})
	if seen != nil && len(seen) == 0 {
		d.add(part, "approvers is empty; for one person, whoever that is, write count: 1")
	}
}

func (d *decoder) conditions(n *yaml.Node, part policy.Part, r *policy.Rule) {
	if !d.sequence(n, part, "when", "a list of conditions such as {param: status, in: [done]}") {
		return
	}
	r.When = make([]policy.Condition, len(n.Content))
	for i, node := range n.Content {
		whole := policy.Part{Rule: part.Rule, Condition: i, Item: -1}
		d.locate(whole, node)
		d.condition(node, whole, &r.When[i])
	}
}

func (d *decoder) condition(n *yaml.Node, part policy.Part, c *policy.Condition) {
	d.mapping(n, part, "a condition", conditionKeys, func(part policy.Part, v *yaml.Node) {
		switch part.Key {
		case "param":
			c.Param = d.text(part, v)
		case "in":
			c.In = d.values(part, v)
		case "not_in":
			c.NotIn = d.values(part, v)
		case "equals":
			c.Equals = d.value(part, v)
		case "not_equals":
			c.NotEquals = d.value(part, v)
		case "less_than":
			c.LessThan = d.value(part, v)
		case "greater_than":
			c.GreaterThan = d.value(part, v)
		case "at_least":
			c.AtLeast = d.value(part, v)
		case "at_most":
			c.AtMost = d.value(part, v)
		case "like":
			c.Like = d.text(part, v)
		case "not_like":
			c.NotLike = d.text(part, v)
		case "given":
			c.Given = d.boolean(part, v)
		}
	})
}

// mapping calls read for the members of a mapping and returns the keys that it has; nil: the node is no mapping. title
// is what the mapping is called in mistakes.
func (d *decoder) mapping(n *yaml.Node, part policy.Part, title string, keys []string,
	read func(part policy.Part, v *yaml.Node),
) map[string]bool {
	if !d.plain(n, part) {
		return nil
	}
	if n.Kind != yaml.MappingNode {
		d.addUnread(part, "%s consists of keys and values, and this is %s", title, describe(n))
		return nil
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind != yaml.ScalarNode {
			d.markUnread(part)
			d.addAt(k.Line, k.Column, "the keys of %s are words, and this is %s", title, describe(k))
			continue
		}
		key := k.Value
		if !slices.Contains(keys, key) {
			d.markUnread(part)
			d.addAt(k.Line, k.Column, "%s has no key %q%s", title, clip(key), words.Suggest(key, keys))
			for _, likely := range words.Nearest(key, keys, 1) {
				d.markUnread(member(part, likely))
				seen[likely] = true
			}
			continue
		}
		if seen[key] {
			d.addAt(k.Line, k.Column, "%s is given twice", key)
			continue
		}
		seen[key] = true
		d.locate(member(part, key), v)
		read(member(part, key), v)
	}
	return seen
}
