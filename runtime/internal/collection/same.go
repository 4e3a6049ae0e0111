package collection

import (
	"cmp"
	"encoding/binary"
)

// Sort brings the conditions of a node into one order, whatever the order of the request was: the cheap ones first,
// which leave fewer elements to the others. They are few, and large, so that it moves only those that are out of place.
func (n *Node) Sort() {
	for i := range n.All {
		for k := i; k > 0 && n.All[k].compare(&n.All[k-1]) < 0; k-- {
			n.All[k], n.All[k-1] = n.All[k-1], n.All[k]
		}
	}
}

func (c *Condition) compare(other *Condition) int {
	if by := cmp.Compare(c.cost(), other.cost()); by != 0 || c.Field == nil {
		return by
	}
	return cmp.Or(cmp.Compare(c.Field.Name, other.Field.Name), cmp.Compare(c.Op, other.Op))
}

// cost tells how expensive a condition is beside others. Those that combine others differ in it.
func (c *Condition) cost() int {
	switch f := c.Field; {
	case f == nil && c.computes(): // at last, for the elements that are left
		if c.Not != nil {
			return 6
		}
		return 7
	case f != nil && f.isComputed():
		return 5
	case c.Not != nil:
		return 3
	case f == nil: // Or
		return 4
	case f.List, f.Kind == Text, c.Op == Contains:
		return 2
	case f.Kind == String:
		return 1
	default:
		return 0
	}
}

// Append appends what a node says, which may be nil, to out. What two sorted nodes append is the same if they say the
// same, and nothing that another one appends begins with it.
func (n *Node) Append(out []byte) []byte {
	if n == nil {
		return append(out, 0)
	}
	out = binary.AppendUvarint(out, uint64(len(n.All)))
	for i := range n.All {
		out = n.All[i].append(out)
	}
	return out
}

func (c *Condition) append(out []byte) []byte {
	f := c.Field
	switch {
	case c.Not != nil:
		return c.Not.Append(append(out, 1))
	case f == nil:
		out = binary.AppendUvarint(append(out, 2), uint64(len(c.Or)))
		for _, n := range c.Or {
			out = n.Append(out)
		}
		return out
	}
	out = binary.AppendUvarint(append(out, 3), uint64(len(f.Name)))
	out = append(append(out, f.Name...), byte(f.Kind), byte(c.Op))
	switch c.Op {
	case Null:
		return append(out, byte(c.Value.Int))
	case In, All:
		out = binary.AppendUvarint(out, uint64(len(c.Set)))
		for i := range c.Set {
			out = f.appendOperand(out, &c.Set[i])
		}
		return out
	default:
		return f.appendOperand(out, &c.Value)
	}
}

func (f *Field) appendOperand(out []byte, v *Value) []byte {
	if f.Kind == Uint && v.Negative {
		return f.appendValue(append(out, 1), v)
	}
	return f.appendValue(append(out, 0), v)
}
