package collection

import (
	"slices"
	"strings"
	"unsafe"
)

// Op is an operator of conditions.
type Op uint8

// The operators. Those of a list are about its elements: Contains one, In any, All every one of several.
const (
	Eq Op = iota
	Ne
	In
	Gt
	Gte
	Lt
	Lte
	Contains
	Starts
	All
	Null
	Search // of texts as Contains; of a list: one of its elements contains the text
)

// Node holds for an element where all its conditions do.
type Node struct{ All []Condition }

// Condition is a comparison of a field, or one of Or and Not where Field is nil.
type Condition struct {
	Field *Field
	Op    Op      // Search, too, where Or is what Searching adds
	Value Value   // of Null: whether the value is to be missing, in Int
	Set   []Value // of In and All
	Or    []*Node // one of them holds
	Not   *Node   // does not hold
}

// Each calls yield with the fields that a node is about. n may be nil.
func (n *Node) Each(yield func(*Field)) {
	if n == nil {
		return
	}
	for i := range n.All {
		c := &n.All[i]
		if c.Field != nil {
			yield(c.Field)
		}
		c.Not.Each(yield)
		for _, or := range c.Or {
			or.Each(yield)
		}
	}
}

// match reports whether a node holds for the element at p.
func (n *Node) match(p unsafe.Pointer) bool {
	for i := range n.All {
		if !n.All[i].match(p) {
			return false
		}
	}
	return true
}

func (c *Condition) match(p unsafe.Pointer) bool {
	f := c.Field
	if f == nil {
		return c.combined(p)
	}
	p, present := f.at(p)
	switch {
	case c.Op == Null:
		return present == (c.Value.Int == 0)
	case !present:
		return c.Op == Ne
	case f.List:
		return c.matchList(p)
	}
	switch c.Op {
	case Eq:
		return c.equal(p, &c.Value)
	case Ne:
		return !c.equal(p, &c.Value)
	case Gt:
		return f.compare(p, &c.Value) > 0
	case Gte:
		return f.compare(p, &c.Value) >= 0
	case Lt:
		return f.compare(p, &c.Value) < 0
	case Lte:
		return f.compare(p, &c.Value) <= 0
	case In:
		return c.among(p)
	case Contains, Search:
		return containsFold(f.text(p), c.Value.Text)
	default: // Starts
		s := f.text(p)
		return len(s) >= len(c.Value.Text) && equalFold(s[:len(c.Value.Text)], c.Value.Text)
	}
}

// combined reports whether a condition of Or or Not holds.
func (c *Condition) combined(p unsafe.Pointer) bool {
	if c.Not != nil {
		return !c.Not.match(p)
	}
	for _, n := range c.Or {
		if n.match(p) {
			return true
		}
	}
	return false
}

// matchList reports whether a condition holds for the list at p.
func (c *Condition) matchList(p unsafe.Pointer) (holds bool) {
	f := c.Field
	if c.Op == All {
		if f.Kind == Text {
			return c.holdsTexts(p)
		}
		for i := range c.Set {
			if !c.holds(p, &c.Set[i]) {
				return false
			}
		}
		return true
	}
	if c.Op == Contains {
		return c.holds(p, &c.Value)
	}
	f.each(p, func(p unsafe.Pointer) bool {
		if c.Op == Search {
			holds = containsFold(f.text(p), c.Value.Text)
		} else {
			holds = c.among(p)
		}
		return !holds
	})
	return holds
}

// holds reports whether a value is among the elements of the list at p.
func (c *Condition) holds(p unsafe.Pointer, v *Value) (found bool) {
	c.Field.each(p, func(p unsafe.Pointer) bool {
		found = c.equal(p, v)
		return !found
	})
	return found
}

// holdsTexts reports whether all texts of the set are among the elements of the list at p, which are spelled once: a
// type may take long to write itself.
func (c *Condition) holdsTexts(p unsafe.Pointer) bool {
	var texts []string
	c.Field.each(p, func(p unsafe.Pointer) bool {
		texts = append(texts, c.Field.Spell(p))
		return true
	})
	return !slices.ContainsFunc(c.Set, func(v Value) bool { return !slices.Contains(texts, v.Text) })
}

// among reports whether the value at p is in the set. What is of kind Text is spelled once: a type may take long to
// write itself.
func (c *Condition) among(p unsafe.Pointer) bool {
	if c.Field.Kind == Text {
		text := c.Field.Spell(p)
		return slices.ContainsFunc(c.Set, func(v Value) bool { return v.Text == text })
	}
	for i := range c.Set {
		if c.equal(p, &c.Set[i]) {
			return true
		}
	}
	return false
}

func (c *Condition) equal(p unsafe.Pointer, v *Value) bool {
	if c.Field.Kind == String {
		return *(*string)(p) == v.Text
	}
	return c.Field.compare(p, v) == 0
}

// text returns the text at p.
func (f *Field) text(p unsafe.Pointer) string {
	if f.Kind == Text {
		return f.Spell(p)
	}
	return *(*string)(p)
}

// Lower returns a text with the ASCII letters small, and no other: as all databases can.
func Lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// equalFold reports whether s is low but for the case of ASCII letters. The texts are of one length, and low is small.
func equalFold(s, low string) bool {
	for i := range len(s) {
		c := s[i]
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != low[i] {
			return false
		}
	}
	return true
}

// containsFold reports whether s contains low but for the case of ASCII letters. low is small.
func containsFold(s, low string) bool {
	if low == "" {
		return true
	}
	if len(s) < len(low) {
		return false
	}
	small, large := low[0], low[0]
	if 'a' <= small && small <= 'z' {
		large -= 'a' - 'A'
	}
	within := s[:len(s)-len(low)+1]
	one, other := next{letter: small, at: -1}, next{letter: large, at: -1}
	for at := 0; at < len(within); at++ {
		if at = min(one.from(within, at), other.from(within, at)); at < len(within) && equalFold(s[at:at+len(low)], low) {
			return true
		}
	}
	return false
}

// next is where a letter was found last, so that a text is searched for it once, however often that is asked for.
type next struct {
	letter byte
	at     int
}

// from returns where the letter is in s, from a place on; len(s): nowhere.
func (n *next) from(s string, place int) int {
	if n.at < place {
		n.at = len(s)
		if at := strings.IndexByte(s[place:], n.letter); at >= 0 {
			n.at = place + at
		}
	}
	return n.at
}
