package collection

import (
	"context"
	"slices"
	"unsafe"
)

// computing evaluates the computed fields of one query.
type computing struct {
	ctx context.Context
	// kept are the values by which elements are ordered, as long as the elements may be on the page: a method that says
	// something else at each call still gives one order.
	kept map[unsafe.Pointer]unsafe.Pointer
}

// Compute makes a query ready that has computed fields. It copies what it changes, since other requests use the fields.
func (b *Bound) Compute() {
	if !b.Filter.computes() && !b.Order.Computes() {
		return
	}
	b.computing = &computing{kept: make(map[unsafe.Pointer]unsafe.Pointer)}
	b.Filter = b.Filter.within(b.computing)
	b.Order = slices.Clone(b.Order)
	for i := range b.Order {
		b.Order[i].Field = b.Order[i].Field.within(b.computing, true)
	}
}

// begin gives computed fields the context of the handler.
func (b *Bound) begin(ctx context.Context) {
	if b.computing != nil {
		b.computing.ctx = ctx
	}
}

// interrupted returns why ctx ended while values were computed, which may be wrong then.
func (b *Bound) interrupted(ctx context.Context) error {
	if b.computing == nil {
		return nil
	}
	return ctx.Err()
}

// value returns where the value of a step is in the element at p.
func (c *computing) value(s *Step, p unsafe.Pointer) unsafe.Pointer {
	if !s.keep {
		return s.Compute(c.ctx, p)
	}
	value, known := c.kept[p]
	if !known {
		value = s.Compute(c.ctx, p)
		c.kept[p] = value
	}
	return value
}

// forget forgets the values of an element that will not be on the page, or moves. c may be nil.
func (c *computing) forget(p unsafe.Pointer) {
	if c != nil {
		delete(c.kept, p)
	}
}

// isComputed reports whether the values of a field are computed.
func (f *Field) isComputed() bool { return len(f.Steps) > 0 && f.Steps[0].Kind == Computed }

// within returns the field of a query that c evaluates.
func (f *Field) within(c *computing, keep bool) *Field {
	if !f.isComputed() {
		return f
	}
	own := *f
	own.Steps = slices.Clone(f.Steps)
	own.Steps[0].in, own.Steps[0].keep = c, keep
	return &own
}

// within returns the node of a query that c evaluates.
func (n *Node) within(c *computing) *Node {
	if !n.computes() {
		return n
	}
	own := &Node{All: slices.Clone(n.All)}
	for i := range own.All {
		condition := &own.All[i]
		if condition.Field != nil {
			condition.Field = condition.Field.within(c, false)
		}
		condition.Not = condition.Not.within(c)
		condition.Or = slices.Clone(condition.Or)
		for k := range condition.Or {
			condition.Or[k] = condition.Or[k].within(c)
		}
	}
	return own
}

// computes reports whether a node is about a computed field. n may be nil.
func (n *Node) computes() (found bool) {
	n.Each(func(f *Field) { found = found || f.isComputed() })
	return found
}

func (c *Condition) computes() bool { return (&Node{All: []Condition{*c}}).computes() }

// Computes reports whether elements are ordered by a computed field.
func (o Order) Computes() bool {
	return slices.ContainsFunc(o, func(k Key) bool { return k.Field.isComputed() })
}
