package compat_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/compat"
	"github.com/aqltag/aqltag/runtime/gen"
)

// opposites are the ends of kinds whose changes are each other's way back. A kind that ends in none is its own.
var opposites = [][2]string{
	{"-added", "-removed"}, {"-narrowed", "-widened"}, {"-raised", "-lowered"}, {"-stated", "-unstated"},
	{"became-required", "became-optional"}, {"undeprecated", "deprecated"},
}

func opposite(kind string) string {
	for _, pair := range opposites {
		for i, end := range pair {
			if rest, ok := strings.CutSuffix(kind, end); ok {
				return rest + pair[1-i]
			}
		}
	}
	return kind
}

// Whatever changes together, each change has its way back at the same place, with old and new in each other's place;
// what can be added without harm cannot be removed without.
func TestEveryChangeHasItsWayBack(t *testing.T) {
	var edits []func(*service)
	for _, c := range changes {
		// What is gone or has another name is at another place on the way back.
		if !strings.Contains(c.name, "removed") && !strings.Contains(c.name, "name") {
			edits = append(edits, c.edit)
		}
	}
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 200 {
		one, other := newService(), newService()
		for _, s := range []*service{one, other} {
			for _, i := range random.Perm(len(edits))[:random.IntN(6)] {
				edits[i](s)
			}
		}
		before, after := one.snapshot(t), other.snapshot(t)
		there, back := compat.Compare(before, after), compat.Compare(after, before)
		key := func(kind string, c compat.Change, old, new json.RawMessage) string {
			return fmt.Sprintf("%s %s %s %s %s: %s → %s", kind, c.Operation, c.Type, c.Side, c.Path, old, new)
		}
		var want, got []string
		for _, c := range there {
			want = append(want, key(opposite(c.Kind), c, c.New, c.Old))
			harmless := c.Class == compat.Compatible
			if (c.Kind == "operation-added" || c.Kind == "parameter-added" || c.Kind == "field-added") && harmless {
				if !slices.ContainsFunc(back, func(b compat.Change) bool {
					return b.Kind == opposite(c.Kind) && b.Path == c.Path && b.Class == compat.Breaking
				}) {
					t.Errorf("round %d: %s is compatible and its way back does not break", round, brief(c))
				}
			}
		}
		for _, c := range back {
			got = append(got, key(c.Kind, c, c.Old, c.New))
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("round %d (-expected on the way back +got):\n%s", round, diff)
		}
	}
}

// What package project writes into descriptions, for want of members of their own, is read back from them.
func TestNotesInDescriptionsAreReadBack(t *testing.T) {
	texts := []string{"", "Words", "Words.", "Up to the reader", "See items 1 to 5. Then", "Is it? Yes!", "[danger: none]"}
	presets := [][]string{nil, {"minimal"}, {"minimal", "full"}}
	aliases := [][]string{nil, {"q"}, {"q", "needle"}}
	excludes := [][]string{nil, {"limit"}, {"limit", "other_one"}}
	notices := []string{"", "gone soon", "use filter. Or don't: it is Up to you"}
	bounds := [][2]int{{0, 0}, {1, 0}, {2, 0}, {0, 1}, {0, 20}, {3, 3}, {1, 20}}
	random := rand.New(rand.NewPCG(3, 4))
	pick := func(n int) int { return random.IntN(n) }
	for range 500 {
		p := gen.Param{
			Name: "noted", Type: "array", Items: &gen.Param{Type: "string"}, Description: texts[pick(len(texts))],
			Presets: presets[pick(len(presets))], Aliases: aliases[pick(len(aliases))], Deprecated: notices[pick(len(notices))],
			ReadOnly: pick(2) == 0, AppendOnly: pick(2) == 0, Excludes: excludes[pick(len(excludes))],
		}
		bound := bounds[pick(len(bounds))]
		p.MinItems, p.MaxItems = bound[0], bound[1]
		plain := newService()
		plain.addParam(gen.Param{Name: "noted", Type: "array", Items: &gen.Param{Type: "string"}, Description: p.Description})
		noted := newService()
		noted.addParam(p)

		var want []string
		add := func(is bool, text string) {
			if is {
				want = append(want, text)
			}
		}
		add(p.MinItems > 0, fmt.Sprintf("items-narrowed %d", p.MinItems))
		add(p.MaxItems > 0, fmt.Sprintf("items-narrowed %d", p.MaxItems))
		add(p.ReadOnly, "read-only-added true")
		add(p.AppendOnly, "append-only-added true")
		add(p.Deprecated != "", fmt.Sprintf("deprecated %q", p.Deprecated))
		for _, other := range p.Excludes {
			add(true, fmt.Sprintf("exclusion-added %q", other))
		}
		for _, alias := range p.Aliases {
			add(true, fmt.Sprintf("alias-added %q", alias))
		}
		var got []string
		for _, c := range compat.Compare(plain.snapshot(t), noted.snapshot(t)) {
			got = append(got, fmt.Sprintf("%s %s", c.Kind, c.New))
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Fatalf("%+v (-want +got):\n%s", p, diff)
		}
	}
}

// Whatever stands in a snapshot, reading it ends, and it does not differ from itself.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		`{"operations":[{"name":"a","parameters":[{"name":"p","type":"T","minimum":1e999999999999,"default":null}],` +
			`"returns":{"name":"T[]"}}],"types":[{"name":"T","kind":"union","members":["T","U | T"]},` +
			`{"name":"U","kind":"object","fields":[{"name":"f","type":"U[][]","items":{"type":"any"}}]}]}`,
		`{"operations":[{"name":"a",` +
			`"description":"[danger: x; denied for this adapter's trust level] Reasons: r. Deprecated: d"}],` +
			`"_protocol":{"mode":"all","limits":{"x":"y"},"capabilities":{"z":1}}}`,
		`{"operations":[null]}`, `{"operations":[{"name":"a","parameters":[null]}],"types":[null]}`, `[`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, document []byte) {
		s, err := compat.Parse(document)
		if err != nil {
			return
		}
		if same := compat.Compare(s, s); len(same) > 0 {
			t.Errorf("differs from itself: %v", briefs(same))
		}
		base := newService().snapshot(t)
		if there, back := compat.Compare(base, s), compat.Compare(s, base); len(there) != len(back) {
			t.Errorf("%d changes there, %d back:\n%v\n%v", len(there), len(back), briefs(there), briefs(back))
		}
	})
}
