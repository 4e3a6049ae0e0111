package policy

import (
	"encoding/json"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/words"
)

// Bounds of what a rule says.
const (
	mostRules       = 1000
	longestName     = 100 // bytes
	longestReason   = 500 // bytes
	longestCooldown = time.Hour
)

// Validate returns what is wrong with the policy whatever adapter it is for; Bind does so too. unread are the parts that
// a reader of policy files could not read and has reported: they are not reported again for being empty. It is nil for a
// policy made in Go.
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
		f.add(ofPolicy("default"), "default is %q; it must be allow, confirm or deny%s", clip(string(p.Default)), meantOnly(string(p.Default), Effects()))
	}
	if len(p.Rules) > mostRules {
		f.add(ofPolicy("rules"), "there are %d rules; a policy has no more than %d", len(p.Rules), mostRules)
		return
	}
	names := make(map[string]int, len(p.Rules))
	for i := range p.Rules {
		r := &p.Rules[i]
		switch first, taken := names[r.Name]; {
		case r.Name == "":
			f.missing(ofRule(i, "name"), "the rule has no name; explanations and audit records need one")
		case len(r.Name) > longestName:
			f.add(ofRule(i, "name"), "the name is longer than %d bytes", longestName)
		case strings.ContainsFunc(r.Name, func(c rune) bool { return !strconv.IsPrint(c) }):
			f.add(ofRule(i, "name"), "the name has characters that cannot be printed")
		case taken && p.Source != nil:
			line, _ := p.Source.Position(ofRule(first, "name"), -1)
			f.add(ofRule(i, "name"), "the name %s is taken by the rule in line %d", r.Name, line)
		case taken:
			f.add(ofRule(i, "name"), "the name %s is taken by rule number %d", r.Name, first+1)
		default:
			names[r.Name] = i
		}
		p.validateRule(f, i, r)
	}
}

// missing adds a mistake unless there was a value that could not be read.
func (f *findings) missing(at Part, message string) {
	if !f.unread[at] && !f.unread[at.sibling("")] {
		f.add(at, "%s", message)
	}
}

// meantOnly is "; did you mean X?", or nothing.
func meantOnly[S ~string](word string, candidates []S) string {
	if found, ok := nearest(word, candidates); ok {
		return "; did you mean " + string(found) + "?"
	}
	return ""
}

func (p *Policy) validateRule(f *findings, i int, r *Rule) {
	switch {
	case r.Effect == "":
		f.missing(ofRule(i, "effect"), "the rule has no effect; write effect: allow, confirm or deny")
	case r.Effect.rank() < 0:
		f.add(ofRule(i, "effect"), "effect is %q; it must be allow, confirm or deny%s", clip(string(r.Effect)), meantOnly(string(r.Effect), Effects()))
	}
	f.patterns(ofRule(i, "operations"), r.Operations, "")
	for k, c := range r.Categories {
		if !slices.Contains(gen.Categories(), c) && c != "" {
			f.add(ofRule(i, "categories").item(k), "there is no category %q%s", clip(string(c)), suggest(string(c), gen.Categories()))
		}
	}
	if r.Danger != "" && r.Danger.Level() < 0 {
		f.add(ofRule(i, "danger"), "there is no danger level %q%s", clip(string(r.Danger)), suggest(string(r.Danger), gen.Dangers()))
	}
	const everyone = "would match every caller but the anonymous ones; to ask for known callers write anonymous: false, and for all leave it out"
	f.patterns(ofRule(i, "callers"), r.Callers, everyone)
	f.patterns(ofRule(i, "issuers"), r.Issuers, everyone)
	f.scopes(ofRule(i, "scopes"), r.Scopes)
	f.patterns(ofRule(i, "not.operations"), r.Not.Operations, "would except every operation")
	f.patterns(ofRule(i, "not.callers"), r.Not.Callers, everyone)
	f.patterns(ofRule(i, "not.issuers"), r.Not.Issuers, everyone)
	f.scopes(ofRule(i, "not.scopes"), r.Not.Scopes)
	if r.Anonymous != nil && *r.Anonymous && len(r.Callers) > 0 {
		f.add(ofRule(i, "anonymous"), "an anonymous caller has no name, so that the rule would never match; leave out callers, or anonymous")
	}
	for k := range r.When {
		p.validateCondition(f, ofCondition(i, k, ""), &r.When[k])
	}
	if r.anywhere() && !f.incomplete[i] {
		f.add(ofRule(i, ""), "the rule applies to every call; if this is meant, write operations: [\"*\"]")
	}
	p.validateManner(f, i, r)
}

// anywhere reports whether a rule asks for nothing.
func (r *Rule) anywhere() bool {
	return len(r.Operations)+len(r.Categories)+len(r.Callers)+len(r.Issuers)+len(r.Scopes)+len(r.When) == 0 &&
		r.Danger == "" && r.Anonymous == nil && r.Not.empty()
}

// validateManner checks how the effect of a rule is brought about.
func (p *Policy) validateManner(f *findings, i int, r *Rule) {
	if r.Effect != Confirm && r.Effect.rank() >= 0 {
		if r.Cooldown != 0 {
			f.add(ofRule(i, "cooldown"), "cooldown is for effect: confirm, and the effect is %s", r.Effect)
		}
		if r.Reauthenticate {
			f.add(ofRule(i, "reauthenticate"), "reauthenticate is for effect: confirm, and the effect is %s", r.Effect)
		}
	}
	if r.Cooldown < 0 || r.Cooldown > longestCooldown {
		f.add(ofRule(i, "cooldown"), "cooldown is %v; it must be between 0 and %v", r.Cooldown, longestCooldown)
	}
	if len(r.Reason) > longestReason {
		f.add(ofRule(i, "reason"), "the reason is longer than %d bytes", longestReason)
	} else if found := words.Leak(r.Reason); found != "" {
		f.add(ofRule(i, "reason"), "the reason cannot be shown to agents: the protocol's conformance runner takes %q for a stack trace or a path; say it in other words",
			clip(found))
	}
}

// patterns checks patterns. every is what is wrong with one that matches everything; empty: nothing.
func (f *findings) patterns(at Part, patterns []string, every string) {
	for k, pattern := range patterns {
		switch fault, offset := patternFault(pattern); {
		case f.unread[at]:
		case fault != "":
			f.addIn(at.item(k), offset, "%s: %s", clip(pattern), fault)
		case every != "" && everything(pattern):
			f.add(at.item(k), "%s %s", pattern, every)
		}
	}
}

func (f *findings) scopes(at Part, scopes []string) {
	for k, scope := range scopes {
		switch i := strings.IndexAny(scope, "*?"); {
		case f.unread[at]:
		case scope == "":
			f.add(at.item(k), "the scope is empty")
		case strings.ContainsAny(scope, " ,"):
			f.add(at.item(k), "%q is more than one scope; write each as an element of the list", clip(scope))
		case i >= 0:
			f.addIn(at.item(k), len([]rune(scope[:i])), "%s: scopes are compared exactly, and * and ? have no meaning in them; list the scopes", clip(scope))
		}
	}
}

func (p *Policy) validateCondition(f *findings, at Part, c *Condition) {
	before := len(f.list)
	if c.Param == "" {
		f.missing(at.sibling("param"), "the condition names no parameter; write param: and its name")
	}
	if strings.ContainsAny(c.Param, "[]") {
		f.add(at.sibling("param"), "%s: elements are written .*, as in tags.*", clip(c.Param))
	} else if c.Param != "" && slices.Contains(strings.Split(c.Param, "."), "") {
		f.add(at.sibling("param"), "%s: a name is missing beside a dot", clip(c.Param))
	}
	values := 0
	each := func(key string, item int, value any) {
		values++
		if _, ok := newLiteral(value); !ok {
			f.add(at.sibling(key).item(item), "a value is a text, a number or a boolean")
		}
	}
	for k, v := range c.In {
		each("in", k, v)
	}
	for k, v := range c.NotIn {
		each("not_in", k, v)
	}
	for _, t := range c.scalars() {
		if t.value != nil {
			each(t.key, -1, t.value)
		}
	}
	for _, t := range []struct{ key, pattern, every string }{
		{"like", c.Like, "would match every text; to ask whether the parameter is there, write given: true"},
		{"not_like", c.NotLike, "would match every text, so that the condition would never hold"},
	} {
		if t.pattern == "" {
			continue
		}
		values++
		if fault, offset := patternFault(t.pattern); fault != "" {
			f.addIn(at.sibling(t.key), offset, "%s: %s", clip(t.pattern), fault)
		} else if everything(t.pattern) {
			f.add(at.sibling(t.key), "%s %s", t.pattern, t.every)
		}
	}
	switch {
	case len(f.list) > before || f.incomplete[at.Rule]:
	case values == 0 && c.Given == nil:
		f.add(at, "the condition tests nothing; write one of "+
			"in, not_in, equals, not_equals, less_than, greater_than, at_least, at_most, like, not_like, given")
	case values > 0 && c.Given != nil && !*c.Given:
		f.add(at.sibling("given"), "a parameter that is not given has no value, so that the condition would hardly ever hold; leave out given, or the rest")
	}
}

// scalar is a test with one value.
type scalar struct {
	key   string
	value any
}

// scalars are the tests of a condition that have one value, whether they are there or not.
func (c *Condition) scalars() []scalar {
	return []scalar{{"equals", c.Equals}, {"not_equals", c.NotEquals}, {"less_than", c.LessThan}, {"greater_than", c.GreaterThan},
		{"at_least", c.AtLeast}, {"at_most", c.AtMost}}
}

// literal is a value of a condition, ready to be compared.
type literal struct {
	kind   kind
	text   string // of a text, and as numbers and booleans are written
	number decimal
	float  float64
	moment time.Time // of a text that is compared with moments
}

// newLiteral reads a value that a policy made in Go may hold; false: it is none.
func newLiteral(value any) (literal, bool) {
	var text string
	switch v := value.(type) {
	case string:
		return literal{kind: textKind, text: v}, true
	case bool:
		return literal{kind: booleanKind, text: strconv.FormatBool(v)}, true
	case json.Number:
		text = string(v)
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return literal{}, false
		}
		text = strconv.FormatFloat(v, 'g', -1, 64)
	default:
		switch r := reflect.ValueOf(value); r.Kind() {
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
			text = strconv.FormatInt(r.Int(), 10)
		case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
			text = strconv.FormatUint(r.Uint(), 10)
		case reflect.String: // such as the constants of an enum
			return literal{kind: textKind, text: r.String()}, true
		default:
			return literal{}, false
		}
	}
	number, ok := parseDecimal(text)
	float, err := strconv.ParseFloat(text, 64)
	return literal{kind: numberKind, text: text, number: number, float: float}, ok && err == nil
}
