package aql

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/collection"
)

// Op is an operator of a condition (MCP-AQL collection querying §2.2). Its text is that of the wire.
type Op string

// The operators. Those of a list are about its elements.
const (
	OpEq       Op = gen.OpEq
	OpNe       Op = gen.OpNe
	OpIn       Op = gen.OpIn // one of several values; of a list: one of its elements is one of them
	OpGt       Op = gen.OpGt
	OpGte      Op = gen.OpGte
	OpLt       Op = gen.OpLt
	OpLte      Op = gen.OpLte
	OpContains Op = gen.OpContains // of a text: a part of it; of a list: an element
	OpStarts   Op = gen.OpStarts   // of a text: how it begins
	OpAll      Op = gen.OpAll      // of a list: all of several elements
	OpNull     Op = gen.OpNull     // whether the field has no value
)

// Condition is one comparison that a request asks for.
type Condition struct {
	Field string // by its name or path on the wire
	Op    Op
	// Value is a string, bool, float64, time.Time or int64, or a uint64 where an int64 has no room. That of OpIn and
	// OpAll is a []any of such values, that of OpNull a bool. A text that is looked for by OpContains and OpStarts has
	// its ASCII letters small: they are found in either case, and all other letters as they are.
	Value any
}

// Sort is a field by which elements are ordered. Those without a value are behind all others in both directions.
type Sort struct {
	Field      string // by its name or path on the wire
	Descending bool
}

// Window says which elements a page is made of.
type Window struct {
	Limit int // How many to fetch: one more than the page has, which tells whether there are others behind it
	// After has the values of the order at the position from which to fetch, itself left out: as in Condition.Value,
	// and nil for a missing one. nil: from the first element, or from the last one if Backward.
	After []any
	// Offset is how many elements to leave out in front, in a style of paging without cursors; else 0.
	Offset int
	// Backward says to fetch what is in front of the position, nearest first: in the opposite order.
	Backward bool
}

// The operators in package collection are those of gen, by their numbers.
var ops = [...]Op{
	collection.Eq: OpEq, collection.Ne: OpNe, collection.In: OpIn, collection.Gt: OpGt, collection.Gte: OpGte,
	collection.Lt: OpLt, collection.Lte: OpLte, collection.Contains: OpContains, collection.Starts: OpStarts,
	collection.All: OpAll, collection.Null: OpNull,
}

// Take removes the conditions on a field from the query and returns them: the caller applies them, and the query what
// is left. All of them have one of these operators; none named: any.
//
// ok is false, and nothing is removed, if the request has no condition on the field, has one with another operator, or
// has one inside _or or _not, and for a computed field: only the query can apply what is asked of that.
func (q *Query[T]) Take(field string, operators ...Op) (conditions []Condition, ok bool) {
	b := q.body.Bound
	if b == nil {
		return nil, false
	}
	var allowed []collection.Op
	for _, op := range operators {
		if at := slices.Index(ops[:], op); at >= 0 {
			allowed = append(allowed, collection.Op(at))
		}
	}
	if len(allowed) == 0 && len(operators) > 0 {
		return nil, false
	}
	taken, ok := b.Take(field, allowed)
	for i := range taken {
		conditions = append(conditions, conditionOf(&taken[i]))
	}
	return conditions, ok
}

// TakeSort returns the order and makes it the caller's to apply, up to the fields that identify elements, which are its
// end. Stream then stops one element behind the page; it fails if elements come in another order. Texts are ordered by
// their bytes, and enums as their constants are.
//
// ok is false, and nothing is taken, if fields are named and the request's order is by another one, if it is by a
// computed field, and if the request wants summaries without items. A request that asks for no order has that of the
// operation.
func (q *Query[T]) TakeSort(fields ...string) (order []Sort, ok bool) {
	b := q.body.Bound
	if b == nil || len(b.Order) == 0 || b.Order.Computes() ||
		len(fields) > 0 && !slices.Contains(fields, b.Order[0].Field.Name) {
		return nil, false
	}
	b.Ordered = true
	for _, key := range b.Order {
		order = append(order, Sort{key.Field.Name, key.Descending})
	}
	return order, true
}

// TakeSearch removes the search for words from the query of an operation called search_…, and returns them, with ASCII
// letters small: an element is found if one of its search fields contains one of them (MCP-AQL collection querying §4).
//
// ok is false, and nothing is removed, if the request has no words, or if the caller must not know all of the fields.
func (q *Query[T]) TakeSearch() (words []string, ok bool) {
	b := q.body.Bound
	if b == nil || !b.TakeSearch() {
		return nil, false
	}
	return slices.Clone(b.Words), true
}

// TakePage returns which elements to fetch. The handler then ends with Page. ok is false until all conditions, the
// search and the order are taken: what is left of them needs more elements than those of the page. It is false, too,
// where the request wants summaries, which need all elements.
func (q *Query[T]) TakePage() (w Window, ok bool) {
	b := q.body.Bound
	if b == nil || b.Filter != nil || !b.Ordered || len(b.Wanted) > 0 {
		return Window{}, false
	}
	b.Placed = true
	w = Window{Limit: b.Size + 1, Offset: b.Skip, Backward: b.Backward}
	for i := range b.At {
		w.After = append(w.After, b.Order[i].Field.Go(&b.At[i]))
	}
	return w, true
}

// Page answers with elements that were fetched as TakePage said, in the order in which they were fetched: Page turns
// those of a backward window round. total is how many elements match on all pages; negative: it is not known.
//
// It fails if a part of the query was not taken, since nobody would have applied it.
func (q *Query[T]) Page(fetched []T, total int) (*Page[T], error) {
	b := q.body.Bound
	if b == nil {
		return nil, errNoQuery
	}
	if left := b.Left(); left != "" && b.Refused == nil {
		return nil, fmt.Errorf("aql: Page was called, and nobody has taken or applied %s", left)
	}
	base := unsafe.Pointer(unsafe.SliceData(fetched))
	return pageOf[T](b, b.Page(base, unsafe.Sizeof(*new(T)), len(fetched), total), nil)
}

func conditionOf(c *collection.Condition) Condition {
	out := Condition{Field: c.Field.Name, Op: ops[c.Op]}
	switch c.Op {
	case collection.Null:
		out.Value = c.Value.Int != 0
	case collection.In, collection.All:
		values := make([]any, len(c.Set))
		for i := range c.Set {
			values[i] = c.Field.Go(&c.Set[i])
		}
		out.Value = values
	default:
		out.Value = c.Field.Go(&c.Value)
	}
	return out
}
