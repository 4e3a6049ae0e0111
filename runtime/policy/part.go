package policy

import "fmt"

// Part names a part of a policy: the policy itself, a rule, a condition, or the value of one of their keys.
type Part struct {
	Rule      int    // index in Policy.Rules; -1: the part is not in a rule
	Condition int    // index in Rule.When; -1: the part is not in a condition
	Key       string // as in policy files: operations, not.callers, at_least; empty: the policy, rule or condition itself
	Item      int    // index in the list that is the key's value; -1: the whole value
}

func ofPolicy(key string) Part                    { return Part{-1, -1, key, -1} }
func ofRule(rule int, key string) Part            { return Part{rule, -1, key, -1} }
func ofCondition(rule, when int, key string) Part { return Part{rule, when, key, -1} }
func (p Part) item(item int) Part                 { p.Item = item; return p }
func (p Part) sibling(key string) Part            { p.Key, p.Item = key, -1; return p }

// path is the part as mistakes of policies made in Go name it, without its rule: when[0].in[1].
func (p Part) path() string {
	text := p.Key
	if p.Item >= 0 {
		text = fmt.Sprintf("%s[%d]", text, p.Item)
	}
	if p.Condition >= 0 {
		text = fmt.Sprintf("when[%d].%s", p.Condition, text)
	}
	return text
}

// Source is a file that a policy was read from. Package policyfile reads YAML; readers of other formats implement
// Source to have mistakes name lines.
type Source interface {
	// Name returns the name of the file.
	Name() string
	// Position returns where a part begins, or else what contains it: line and column from 1, columns in characters. With
	// an offset of 0 or more it returns the position so many characters into the part's text, where that is known.
	Position(part Part, offset int) (line, column int)
}
