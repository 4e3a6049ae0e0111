package collection

import (
	"bytes"
	"testing"
	"time"
)

// REQ-PG-06: cursors are bound to what a filter says, and not to the order in which it says it.
func TestNodesSayTheSame(t *testing.T) {
	status := &Field{Name: "status", Kind: String}
	minutes := &Field{Name: "minutes", Kind: Int, Bits: 64}
	serial := &Field{Name: "serial", Kind: Uint, Bits: 64}
	due := &Field{Name: "due_at", Kind: Time}
	text := func(s string) Value { return Value{Text: s} }
	open := Condition{Field: status, Op: Eq, Value: text("open")}
	long := Condition{Field: minutes, Op: Gte, Value: Value{Int: 60}}
	short := Condition{Field: minutes, Op: Lt, Value: Value{Int: 90}}
	both := func(conditions ...Condition) *Node {
		n := &Node{All: conditions}
		n.Sort()
		return n
	}
	or := func(nodes ...*Node) Condition { return Condition{Or: nodes} }
	for _, tt := range [][2]*Node{
		{nil, both()},
		{both(open, long, short), both(short, open, long)},
		{both(Condition{Not: both(open)}, or(both(long)), short), both(short, or(both(long)), Condition{Not: both(open)})},
	} {
		if a, b := tt[0].Append(nil), tt[1].Append(nil); !bytes.Equal(a, b) {
			t.Errorf("%q differs from %q", a, b)
		}
	}
	different := []*Node{
		nil,
		both(open),
		both(Condition{Field: status, Op: Ne, Value: text("open")}),
		both(Condition{Field: status, Op: Eq, Value: text("done")}),
		both(Condition{Field: &Field{Name: "title", Kind: String}, Op: Eq, Value: text("open")}),
		both(Condition{Field: status, Op: In, Set: []Value{text("open")}}),
		both(Condition{Field: status, Op: In, Set: []Value{text("open"), text("")}}),
		both(Condition{Field: status, Op: In, Set: []Value{text(""), text("open")}}),
		both(Condition{Field: status, Op: Null}),
		both(Condition{Field: status, Op: Null, Value: Value{Int: 1}}),
		both(Condition{Field: serial, Op: Gt, Value: Value{Int: -1, Negative: true}}),
		both(Condition{Field: serial, Op: Gt, Value: Value{Int: -1}}),
		both(Condition{Field: due, Op: Gt, Value: Value{Time: time.Unix(1, 0)}}),
		both(Condition{Field: due, Op: Gt, Value: Value{Time: time.Unix(0, 1)}}),
		both(long), both(short), both(long, short), both(open, long, short),
		both(Condition{Not: both(open)}),
		both(or(both(open))), both(or(both(open), both(long))), both(or(both(long), both(open))), both(or(both(open, long))),
	}
	for i, a := range different {
		for k, b := range different {
			if i != k && bytes.HasPrefix(a.Append(nil), b.Append(nil)) {
				t.Errorf("filters %d and %d say the same", i, k)
			}
		}
	}
}
