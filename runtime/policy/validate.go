package policy

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/words"
)

// Bounds of policies.
const (
	mostRules       = 1000
	longestName     = 100 // bytes
	longestReason   = 500 // bytes
	longestCooldown = time.Hour
)

// Validate returns the mistakes that the policy has for every adapter; Bind reports them too. A reader of policy files
// passes the parts that it could not read and has reported: Validate does not report them again for being empty. For a
// policy made in Go, unread is nil.
func (p *Policy) Validate(unread map[Part]bool) Mistakes {
	f := &findings{policy: p, unread: unread, incomplete: make(map[int]bool)}
	for part := range unread {
		f.incomplete[part.Rule] = true
	}
	p.validate(f)
	return f.list
}

func (p *Policy) validate(f *findings) {
	if p.Default != "" && p.Default.rank() < 0 {
		f.add(ofPolicy("default"), "default is %q; it must be allow, confirm or deny%s",
			clip(string(p.Default)), suggestNear(string(p.Default), Effects()))
	}
	if len(p.Rules) > mostRules {
		f.add(ofPolicy("rules"), "there are %d rules; a policy has no more than %d", len(p.Rules), mostRules)
		return
	}
	names := make(map[string]int, len(p.Rules))
	for i := range p.Rules {
		r := &p.Rules[i]
		part := ofRule(i, "name")
		switch first, taken := names[r.Name]; {
		case r.Name == "":
			f.addMissing(part, "the rule has no name; explanations and audit records need one")
		case len(r.Name) > longestName:
			f.add(part, "the name is longer than %d bytes", longestName)
		case strings.ContainsFunc(r.Name, func(c rune) bool { return !strconv.IsPrint(c) }):
			f.add(part, "the name has characters that cannot be printed")
		case taken && p.Source != nil:
			line, _ := p.Source.Position(ofRule(first, "name"), -1)
			f.add(part, "the name %s is taken by the rule in line %d", r.Name, line)
		case taken:
			f.add(part, "the name %s is taken by rule number %d", r.Name, first+1)
		default:
			names[r.Name] = i
		}
		f.validateRule(i, r)
	}
}

// addMissing adds a mistake about an empty value, unless the value could not be read.
func (f *findings) addMissing(part Part, message string) {
	if !f.unread[part] && !f.unread[part.sibling("")] {
		f.add(part, "%s", message)
	}
}

// suggestNear returns "; did you mean X?" for the candidate that a word most likely means; empty if none is near.
func suggestNear[S ~string](word string, candidates []S) string {
	if found, ok := nearest(word, candidates); ok {
		return "; did you mean " + string(found) + "?"
	}
	return ""
}

func (f *findings) validateRule(i int, r *Rule) {
	switch {
	case len(r.Hide) > 0:
		f.validateHiding(i, r)
	case r.Effect == "":
		f.addMissing(ofRule(i, "effect"), "the rule has no effect; write effect: allow, confirm or deny")
	case r.Effect.rank() < 0:
		f.add(ofRule(i, "effect"), "effect is %q; it must be allow, confirm or deny%s",
			clip(string(r.Effect)), suggestNear(string(r.Effect), Effects()))
	}
	for k, c := range r.Categories {
		if !slices.Contains(gen.Categories(), c) && c != "" {
			f.add(ofRule(i, "categories").item(k), "there is no category %q%s",
				clip(string(c)), suggest(string(c), gen.Categories()))
		}
	}
	if r.Danger != "" && r.Danger.Level() < 0 {
		f.add(ofRule(i, "danger"), "there is no danger level %q%s",
			clip(string(r.Danger)), suggest(string(r.Danger), gen.Dangers()))
	}
	const everyone = "would match every caller but the anonymous ones; " +
		"to ask for known callers write anonymous: false, and for all leave it out"
	f.validatePatterns(ofRule(i, "operations"), r.Operations, "")
	f.validatePatterns(ofRule(i, "callers"), r.Callers, everyone)
	f.validatePatterns(ofRule(i, "issuers"), r.Issuers, everyone)
	f.validateScopes(ofRule(i, "scopes"), r.Scopes)
	f.validatePatterns(ofRule(i, "not.operations"), r.Not.Operations, "would except every operation")
	f.validatePatterns(ofRule(i, "not.callers"), r.Not.Callers, everyone)
	f.validatePatterns(ofRule(i, "not.issuers"), r.Not.Issuers, everyone)
	f.validateScopes(ofRule(i, "not.scopes"), r.Not.Scopes)
	if r.Anonymous != nil && *r.Anonymous && len(r.Callers) > 0 {
		f.add(ofRule(i, "anonymous"),
			"an anonymous caller has no name, so that the rule would never match; leave out callers, or anonymous")
	}
	for k := range r.When {
		f.validateCondition(ofCondition(i, k, ""), &r.When[k])
	}
	if r.unconditional() && len(r.Hide) == 0 && !f.incomplete[i] {
		f.add(ofRule(i, ""), "the rule applies to every call; if this is meant, write operations: [\"*\"]")
	}
	if len(r.Hide) == 0 {
		f.validateOutcome(i, r)
	}
}

// unconditional reports whether a rule matches every call.
func (r *Rule) unconditional() bool {
	return len(r.Operations)+len(r.Categories)+len(r.Callers)+len(r.Issuers)+len(r.Scopes)+len(r.When) == 0 &&
		r.Danger == "" && r.Anonymous == nil && r.Not.empty()
}

// validateOutcome checks what a rule says about the calls that it matches.
func (f *findings) validateOutcome(i int, r *Rule) {
	if r.Effect != Confirm && r.Effect.rank() >= 0 {
		if r.Cooldown != 0 {
			f.add(ofRule(i, "cooldown"), "cooldown is for effect: confirm, and the effect is %s", r.Effect)
		}
		if r.Reauthenticate {
			f.add(ofRule(i, "reauthenticate"), "reauthenticate is for effect: confirm, and the effect is %s", r.Effect)
		}
	}
	f.validateApprovers(i, r)
	if r.Cooldown < 0 || r.Cooldown > longestCooldown {
		f.add(ofRule(i, "cooldown"), "cooldown is %v; it must be between 0 and %v", span(r.Cooldown),
			span(longestCooldown))
	}
	if len(r.Reason) > longestReason {
		f.add(ofRule(i, "reason"), "the reason is longer than %d bytes", longestReason)
	} else if what, part := words.Leak(r.Reason); part != "" {
		f.add(ofRule(i, "reason"), "the reason cannot be shown to agents: it has %s, %q; say it in other words",
			what, clip(part))
	}
}

// validatePatterns checks patterns. matchAll is the mistake of a pattern that matches everything; empty: it is none.
func (f *findings) validatePatterns(part Part, patterns []string, matchAll string) {
	if f.unread[part] {
		return
	}
	for k, pattern := range patterns {
		if fault, offset := checkPattern(pattern); fault != "" {
			f.addIn(part.item(k), offset, "%s: %s", clip(pattern), fault)
		} else if matchAll != "" && matchesAll(pattern) {
			f.add(part.item(k), "%s %s", pattern, matchAll)
		}
	}
}

func (f *findings) validateScopes(part Part, scopes []string) {
	if f.unread[part] {
		return
	}
	for k, scope := range scopes {
		switch i := strings.IndexAny(scope, "*?"); {
		case scope == "":
			f.add(part.item(k), "the scope is empty")
		case strings.ContainsAny(scope, " ,"):
			f.add(part.item(k), "%q is more than one scope; write each as an element of the list", clip(scope))
		case i >= 0:
			f.addIn(part.item(k), len([]rune(scope[:i])),
				"%s: scopes are compared exactly, and * and ? have no meaning in them; list the scopes", clip(scope))
		}
	}
}

func (f *findings) validateCondition(part Part, c *Condition) {
	before := len(f.list)
	switch {
	case c.Param == "":
		f.addMissing(part.sibling("param"), "the condition names no parameter; write param: and its name")
	case strings.ContainsAny(c.Param, "[]"):
		f.add(part.sibling("param"), "%s: elements are written .*, as in tags.*", clip(c.Param))
	case slices.Contains(strings.Split(c.Param, "."), ""):
		f.add(part.sibling("param"), "%s: a name before or after a dot is missing", clip(c.Param))
	}
	tests := 0
	c.eachValue(func(key string, item int, value any) {
		tests++
		if _, ok := newLiteral(value); !ok {
			f.add(part.sibling(key).item(item), "a value is a text, a number or a boolean")
		}
	})
	matchAll := map[string]string{
		"like":     "would match every text; to ask whether the parameter is there, write given: true",
		"not_like": "would match every text, so that the condition would never hold",
	}
	for _, t := range c.patterns() {
		tests++
		if fault, offset := checkPattern(t.pattern); fault != "" {
			f.addIn(part.sibling(t.key), offset, "%s: %s", clip(t.pattern), fault)
		} else if matchesAll(t.pattern) {
			f.add(part.sibling(t.key), "%s %s", t.pattern, matchAll[t.key])
		}
	}
	switch {
	case len(f.list) > before || f.incomplete[part.Rule]:
	case tests == 0 && c.Given == nil:
		f.add(part, "the condition tests nothing; write one of "+
			"in, not_in, equals, not_equals, less_than, greater_than, at_least, at_most, like, not_like, given")
	case tests > 0 && c.Given != nil && !*c.Given:
		f.add(part.sibling("given"), "a parameter that is not given has no value, so that the condition would hardly "+
			"ever hold; leave out given, or the rest")
	}
}
