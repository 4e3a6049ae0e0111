package collection

import (
	"testing"
	"unsafe"
)

// What writes itself as text is spelled once for a comparison, however many values the comparison has.
func TestTextsAreSpelledOnce(t *testing.T) {
	spelled := 0
	field := &Field{Kind: Text, Size: unsafe.Sizeof(""), Spell: func(p unsafe.Pointer) string {
		spelled++
		return *(*string)(p)
	}}
	list := *field
	list.List = true
	one, several := "b", []string{"b", "c"}
	set := func(texts ...string) (values []Value) {
		for _, text := range texts {
			values = append(values, Value{Text: text})
		}
		return values
	}
	for _, tt := range []struct {
		name      string
		condition Condition
		at        unsafe.Pointer
		want      bool
		spelled   int
	}{
		{"in has the text", Condition{Field: field, Op: In, Set: set("x", "y", "b")}, unsafe.Pointer(&one), true, 1},
		{"in lacks the text", Condition{Field: field, Op: In, Set: set("x", "y", "z")}, unsafe.Pointer(&one), false, 1},
		{"in has one of a list", Condition{Field: &list, Op: In, Set: set("x", "c")}, unsafe.Pointer(&several), true, 2},
		{"in has none of a list", Condition{Field: &list, Op: In, Set: set("x", "z")}, unsafe.Pointer(&several), false, 2},
		{"all are in a list", Condition{Field: &list, Op: All, Set: set("c", "b", "c")}, unsafe.Pointer(&several), true, 2},
		{"one of all is missing", Condition{Field: &list, Op: All, Set: set("c", "x")}, unsafe.Pointer(&several), false, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			spelled = 0
			if got := tt.condition.match(tt.at); got != tt.want || spelled != tt.spelled {
				t.Errorf("it is %v after %d texts were spelled, not %v after %d", got, spelled, tt.want, tt.spelled)
			}
		})
	}
}
