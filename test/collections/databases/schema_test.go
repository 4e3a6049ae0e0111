package databases

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/test/collections/databases/items"
	"github.com/aqltag/aqltag/test/collections/internal/reference"
)

// schema is the fields of items.Item.
var schema = reference.Schema{
	Identity: []string{"item_id", "lot"},
	Groupable: []string{
		"title", "note", "grade", "former", "minutes", "stock", "checked", "sealed", "tags", "counts", "maker.name",
		"maker.rank", "serial", "address", "marks", "flags",
	},
	Summable: []string{
		"lot", "minutes", "stock", "weight", "share", "ratio", "maker.rank", "serial", "reserve",
	},
	Searched: []string{"title", "note", "tags"},
	Fields: map[string]*reference.Field{
		"item_id": {Kind: reference.Text, Operand: func(r *rand.Rand) any { return random{r}.id() }},
		"lot":     {Kind: reference.Number, Operand: numbers("-128", "-1", "0", "1")},
		"title":   {Kind: reference.Text, Operand: textOperand},
		"note":    {Kind: reference.Text, Operand: textOperand, Missable: true},
		"grade":   {Kind: reference.Enum, Constants: grades, Operand: gradeOperand},
		"former":  {Kind: reference.Enum, Constants: grades, Operand: gradeOperand, Missable: true},
		"minutes": {Kind: reference.Number, Operand: integerOperand},
		"stock":   {Kind: reference.Number, Operand: integerOperand, Missable: true},
		"weight":  {Kind: reference.Float, Operand: fractionOperand},
		"share":   {Kind: reference.Float, Operand: fractionOperand, Missable: true},
		"ratio":   {Kind: reference.ShortFloat, Operand: numbers("0", "0.1", "0.2", "1")},
		"checked": {Kind: reference.Boolean, Operand: oneOf[any](false, true)},
		"sealed":  {Kind: reference.Boolean, Operand: oneOf[any](false, true), Missable: true},
		"made_at": {Kind: reference.Time, Operand: momentOperand},
		"sold_at": {Kind: reference.Time, Operand: momentOperand, Missable: true},
		"tags":    {Kind: reference.Text, Operand: textOperand, List: true},
		"counts":  {Kind: reference.Number, Operand: integerOperand, List: true},

		"serial":  {Kind: reference.Number, Operand: naturalOperand},
		"address": {Kind: reference.OwnText, Operand: func(r *rand.Rand) any { return random{r}.address().String() }},
		"seen_at": {Kind: reference.Time, Operand: momentOperand, Missable: true},
		"reserve": {Kind: reference.Float, Operand: fractionOperand, Missable: true},
		"marks":   {Kind: reference.Enum, Constants: grades, Operand: gradeOperand, List: true},
		"parts":   {Kind: reference.Float, Operand: fractionOperand, List: true},
		"flags":   {Kind: reference.Boolean, Operand: oneOf[any](false, true), List: true},

		"plan.due_at": {Kind: reference.Time, Operand: momentOperand, Missable: true},

		"maker.name": {Kind: reference.Text, Operand: textOperand},
		"maker.rank": {Kind: reference.Number, Operand: integerOperand, Missable: true},
	},
}

var grades = []string{string(items.Poor), string(items.Fair), string(items.Great)}

func numbers(texts ...string) func(r *rand.Rand) any {
	return func(r *rand.Rand) any { return json.Number(oneOf(texts...)(r)) }
}

func oneOf[T any](values ...T) func(r *rand.Rand) T {
	return func(r *rand.Rand) T { return values[r.IntN(len(values))] }
}

// A textOperand is a text that a title may have, or a part of it.
func textOperand(r *rand.Rand) any {
	text := []rune(random{r}.text())
	if r.IntN(2) == 0 || len(text) == 0 {
		return string(text)
	}
	from := r.IntN(len(text))
	return string(text[from : from+1+r.IntN(len(text)-from)])
}

func gradeOperand(r *rand.Rand) any { return string(random{r}.grade()) }

var (
	integerOperand = numbers(
		"-9223372036854775808", "-3", "-1", "0", "1", "2", "3", "9007199254740993", "9223372036854775807",
	)
	naturalOperand  = numbers("0", "1", "9223372036854775807", "9223372036854775808", "18446744073709551615")
	fractionOperand = numbers("-1", "-0.5", "-0.0", "0", "0.1", "0.2", "0.25", "0.3", "1", "1e300")
)

// A momentOperand is a moment in one of three time zones, which may be more exact than those that databases keep.
func momentOperand(r *rand.Rand) any {
	at := random{r}.moment().Add(time.Duration(r.IntN(2)) * 500)
	return at.In(time.FixedZone("", r.IntN(3)*3600)).Format(time.RFC3339Nano)
}

// random makes random items.
type random struct{ *rand.Rand }

func (r random) text() string {
	if r.IntN(3) == 0 { // the same ones again
		return oneOf("a", "b", "MILK bread", "milk")(r.Rand)
	}
	return reference.Texts[r.IntN(len(reference.Texts))]
}
func (r random) grade() items.Grade { return items.Grade(grades[r.IntN(len(grades))]) }
func (r random) integer() int64 {
	return []int64{-3, -1, 0, 0, 1, 2, 3, 1<<53 + 1, 1<<63 - 1}[r.IntN(9)]
}
func (r random) fraction() float64 {
	return []float64{-1, -0.5, 0, 0, 0.1, 0.2, 0.25, 1, 1e300}[r.IntN(9)]
}
func (r random) id() string { return []string{"a", "A", "b", "ä", "it's", "%", `\`}[r.IntN(7)] }

func (r random) address() netip.Addr {
	return netip.AddrFrom4([4]byte{10, 0, 0, byte(r.IntN(12))})
}

// moment is a moment that each database keeps: to the microsecond.
func (r random) moment() time.Time {
	return time.Unix(1_790_000_000+int64(r.IntN(4)), 1000*int64(r.IntN(3))).UTC()
}

func maybe[T any](r random, v T) *T {
	if r.IntN(3) == 0 {
		return nil
	}
	return &v
}

func some[T any](r random, element func() T) (all []T) {
	if r.IntN(4) == 0 {
		return nil
	}
	all = []T{}
	for range r.IntN(3) {
		all = append(all, element())
	}
	return all
}

// items makes up to n items, of which no two have the same identity.
func (r random) items(n int) (all []items.Item) {
	known := map[string]bool{}
	for range n {
		one := items.Item{
			ItemID: r.id(), Lot: int8(r.IntN(5) - 2), Title: r.text(), Note: maybe(r, r.text()), Grade: r.grade(),
			Former: maybe(r, r.grade()), Minutes: int(r.integer()), Stock: maybe(r, r.integer()), Weight: r.fraction(),
			Share: maybe(r, r.fraction()), Ratio: float32(r.IntN(4)) / 10, Checked: r.IntN(2) == 0,
			Sealed: maybe(r, r.IntN(2) == 0), MadeAt: r.moment(), SoldAt: maybe(r, r.moment()), Tags: some(r, r.text),
			Counts: some(r, func() int { return int(r.integer()) }),
			Maker:  items.Maker{Name: r.text(), Rank: maybe(r, r.IntN(3))},
			Plan:   maybe(r, items.Plan{DueAt: r.moment()}),
			Serial: []uint64{0, 1, 1<<63 - 1}[r.IntN(3)], Address: r.address(),
			Reserve: oneOf(aql.Null[float64](), aql.Some(r.fraction()))(r.Rand),
			Marks:   some(r, r.grade), Parts: some(r, r.fraction), Flags: some(r, func() bool { return r.IntN(2) == 0 }),
		}
		if r.IntN(3) > 0 {
			one.SeenAt = r.moment()
		}
		if id := fmt.Sprint(one.ItemID, "/", one.Lot); !known[id] {
			known[id] = true
			all = append(all, one)
		}
	}
	return all
}

// elementsOf is the JSON of items.
func elementsOf(t testing.TB, all []items.Item) (elements []reference.Element) {
	t.Helper()
	decode(t, encode(t, all), &elements)
	return elements
}

func identities(all []reference.Element) []string {
	ids := make([]string, len(all))
	for i, e := range all {
		ids[i] = fmt.Sprint(e["item_id"], "/", e["lot"])
	}
	return ids
}
