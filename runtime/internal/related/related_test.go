package related

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/runtime/gen"
)

// keyed is a resource with the keys of what it is related to.
type keyed struct {
	name string
	next []string
}

// graph is a guard and a loader of resources that are related to each other by name.
type graph struct {
	nodes map[string]*keyed
	loads [][]any
	deny  string // a key that is denied
	err   error  // of the next load
	done  []error
	cut   []int
	left  int // keys that were not admitted before
	panic bool
}

// relation leads from a resource to all of next.
func (g *graph) relation(many bool) *Relation {
	return &Relation{
		Definition: gen.Relation{Of: "Node", Name: "next", Target: "Node", Many: many}, Of: "node", Target: "node",
		Key: func(resource any) (any, bool) {
			k := resource.(*keyed)
			return k.name, len(k.next) > 0
		},
		Load: func(_ context.Context, keys []any) (map[any][]any, error) {
			g.loads = append(g.loads, slices.Clone(keys))
			if g.panic {
				panic("the loader's")
			}
			found := map[any][]any{"stranger": {&keyed{name: "stranger"}}}
			for _, key := range keys {
				for _, name := range g.nodes[key.(string)].next {
					found[key] = append(found[key], g.nodes[name])
				}
			}
			clear(keys) // the loader's own
			return found, g.err
		},
	}
}

func (g *graph) Admit(_ context.Context, _ *Relation, keys []any) ([]any, func(error), error) {
	keys = slices.DeleteFunc(slices.Clone(keys), func(key any) bool { return key == g.deny })
	if g.deny == "all" {
		return nil, nil, errDenied
	}
	return keys, func(err error) { g.done = append(g.done, err) }, nil
}

func (g *graph) Failed(_ context.Context, _ *Relation, err error) error { return err }

func (g *graph) Left(*Relation) { g.left++ }

func (g *graph) Cut(_ context.Context, _ *Relation, there int) { g.cut = append(g.cut, there) }

var errDenied = errors.New("denied")

func graphOf(edges map[string][]string) *graph {
	g := &graph{nodes: make(map[string]*keyed)}
	for from, to := range edges {
		for _, name := range append([]string{from}, to...) {
			if g.nodes[name] == nil {
				g.nodes[name] = &keyed{name: name}
			}
		}
		g.nodes[from].next = to
	}
	return g
}

// walk returns the edges from a node, as texts.
func (g *graph) walk(ctx context.Context, from string, depth, most int) ([]string, error) {
	w := &Walk{
		Loads: &Loads{Guard: g, Most: most}, Steps: []Step{{Type: "uses", Relation: g.relation(true)}}, Depth: depth,
		Name: func(_ string, resource any) (string, error) { return resource.(*keyed).name, nil },
	}
	edges, err := w.From(ctx, &Node{"node", from, g.nodes[from]})
	var found []string
	for _, e := range edges {
		found = append(found, fmt.Sprint(e.Depth, " ", e.Source.Name, " ", e.Target.Name))
	}
	return found, err
}

func TestWalk(t *testing.T) {
	for _, test := range []struct {
		name  string
		edges map[string][]string
		depth int
		want  []string
		loads [][]any
	}{
		{"nothing", map[string][]string{"a": nil}, 3, nil, nil},
		{"a cycle of one", map[string][]string{"a": {"a"}}, 3, []string{"1 a a"}, [][]any{{"a"}}},
		{
			"a cycle of two", map[string][]string{"a": {"b"}, "b": {"a"}}, 3, []string{"1 a b", "2 b a"},
			[][]any{{"a"}, {"b"}},
		},
		{
			"two ways to one", map[string][]string{"a": {"c", "b"}, "b": {"d"}, "c": {"d"}, "d": {"a"}}, 3,
			[]string{"1 a b", "1 a c", "2 b d", "2 c d", "3 d a"}, [][]any{{"a"}, {"c", "b"}, {"d"}},
		},
		{"no deeper", map[string][]string{"a": {"b"}, "b": {"c"}, "c": {"d"}}, 2, []string{"1 a b", "2 b c"},
			[][]any{{"a"}, {"b"}}},
		{"one of a key twice", map[string][]string{"a": {"b", "b"}}, 1, []string{"1 a b"}, [][]any{{"a"}}},
	} {
		g := graphOf(test.edges)
		got, err := g.walk(t.Context(), "a", test.depth, 100)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if diff := cmp.Diff(test.loads, g.loads); diff != "" {
			t.Errorf("%s: loads (-want +got):\n%s", test.name, diff)
		}
		if len(g.done) != len(g.loads) {
			t.Errorf("%s: %d of %d loads were reported", test.name, len(g.done), len(g.loads))
		}
	}
}

// A walk finds what a search without levels finds, whatever the graph.
func TestWalksOfRandomGraphs(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		edges := make(map[string][]string)
		size := 1 + random.IntN(8)
		for range random.IntN(2 * size) {
			from := fmt.Sprint(random.IntN(size))
			edges[from] = append(edges[from], fmt.Sprint(random.IntN(size)))
		}
		edges["0"] = append(edges["0"], fmt.Sprint(random.IntN(size)))
		depth := 1 + random.IntN(3)
		distance := map[string]int{"0": 0}
		for d := range depth {
			for from, at := range distance {
				for _, to := range edges[from] {
					if _, known := distance[to]; at == d && !known {
						distance[to] = d + 1
					}
				}
			}
		}
		var want []string
		for from, at := range distance {
			for _, to := range edges[from] {
				if at < depth {
					want = append(want, fmt.Sprint(at+1, " ", from, " ", to))
				}
			}
		}
		slices.Sort(want)
		want = slices.Compact(want)
		got, err := graphOf(edges).walk(t.Context(), "0", depth, 1000)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" { // the texts are in the order of the edges
			t.Fatalf("%v to %d (-want +got):\n%s", edges, depth, diff)
		}
	}
}

// A walk goes on from each node once, however many ways lead to it: it looks at each edge of a graph once.
func TestWalksLookAtEachEdgeOnce(t *testing.T) {
	const size = 8
	names := make([]string, size)
	for i := range names {
		names[i] = fmt.Sprint(i)
	}
	edges := make(map[string][]string)
	for _, name := range names {
		edges[name] = names
	}
	g, looks := graphOf(edges), 0
	w := &Walk{
		Loads: &Loads{Guard: g, Most: 1000}, Steps: []Step{{Type: "uses", Relation: g.relation(true)}}, Depth: 4,
		Name: func(_ string, resource any) (string, error) {
			looks++
			return resource.(*keyed).name, nil
		},
	}
	found, err := w.From(t.Context(), &Node{"node", "0", g.nodes["0"]})
	if err != nil || len(found) != size*size || looks != size*size {
		t.Errorf("%d edges are found, and %d are looked at: %v", len(found), looks, err)
	}
}

func TestLoadsAreBounded(t *testing.T) {
	names := make([]string, 40)
	for i := range names {
		names[i] = fmt.Sprintf("n%02d", i)
	}
	g := graphOf(map[string][]string{"a": names})
	if got, err := g.walk(t.Context(), "a", 1, MaxMany); err != nil || len(got) != MaxMany {
		t.Errorf("%d edges, %v", len(got), err)
	}
	if diff := cmp.Diff([]int{40}, g.cut); diff != "" {
		t.Error(diff)
	}
	if got, err := g.walk(t.Context(), "a", 1, MaxMany-1); !errors.Is(err, ErrTooMany) || got != nil {
		t.Errorf("%v, %v", got, err)
	}
}

// What a key leads to is loaded once, whichever resources have the key, until it is forgotten.
func TestLoadsRememberKeys(t *testing.T) {
	g := graphOf(map[string][]string{"a": {"b"}, "b": {"c"}})
	r := g.relation(false)
	r.Key = func(any) (any, bool) { return "a", true }
	l := &Loads{Guard: g, Most: 9}
	load := func(name string) {
		t.Helper()
		if err := l.Load(t.Context(), r, []any{g.nodes[name]}); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]any{g.nodes["b"]}, l.Of(r, g.nodes[name]), cmp.AllowUnexported(keyed{})); diff != "" {
			t.Errorf("of %s (-want +got):\n%s", name, diff)
		}
	}
	load("a")
	l.Begin()
	load("b")
	l.Forget()
	load("c")
	if diff := cmp.Diff([][]any{{"a"}, {"a"}}, g.loads); diff != "" {
		t.Errorf("loads (-want +got):\n%s", diff)
	}
}

func TestLoadsThatAreRefusedOrFail(t *testing.T) {
	edges := map[string][]string{"a": {"b", "c"}, "b": {"d"}, "c": {"e"}}
	g := graphOf(edges)
	g.deny = "b"
	if got, err := g.walk(t.Context(), "a", 2, 9); err != nil || !slices.Equal(got, []string{"1 a b", "1 a c", "2 c e"}) {
		t.Errorf("%v, %v", got, err)
	}
	if diff := cmp.Diff([][]any{{"a"}, {"c"}}, g.loads); diff != "" {
		t.Error(diff)
	}
	g = graphOf(edges)
	g.deny = "a"
	if got, err := g.walk(t.Context(), "a", 2, 9); err != nil || got != nil || g.loads != nil {
		t.Errorf("nothing may be loaded: %v, %v, %v", got, err, g.loads)
	}
	g = graphOf(edges)
	g.deny = "all"
	if _, err := g.walk(t.Context(), "a", 2, 9); !errors.Is(err, errDenied) || g.loads != nil {
		t.Errorf("%v, %v", err, g.loads)
	}
	g = graphOf(edges)
	g.err = errors.New("broken")
	_, err := g.walk(t.Context(), "a", 2, 9)
	if !errors.Is(err, g.err) || len(g.done) != 1 || !errors.Is(g.done[0], g.err) {
		t.Errorf("%v, %v", err, g.done)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g = graphOf(edges)
	if _, err := g.walk(ctx, "a", 2, 9); !errors.Is(err, context.Canceled) || g.loads != nil {
		t.Errorf("%v, %v", err, g.loads)
	}
	g = graphOf(edges)
	g.panic = true
	func() {
		defer func() {
			if recover() == nil || len(g.done) != 1 || g.done[0] == nil {
				t.Errorf("the end of a load that panics is not reported: %v", g.done)
			}
		}()
		_, _ = g.walk(t.Context(), "a", 2, 9)
	}()
}

func FuzzParsePosition(f *testing.F) {
	f.Add([]byte("\x01\x00\x04uses\x03a:b\x03c:d"))
	f.Add([]byte("\x01\x02"))
	f.Add([]byte("\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, ok := ParsePosition(text)
		if !ok {
			return
		}
		again, ok := ParsePosition(p.Append(nil))
		if !ok || again != p || p.Compare(again) != 0 {
			t.Errorf("%+v became %+v", p, again)
		}
	})
}

// Keys that lead nowhere, or must not be loaded, are no resources that were loaded.
func TestLoadsCountWhatIsLoaded(t *testing.T) {
	g := graphOf(map[string][]string{"a": {"found"}, "b": {"dangling"}, "c": {"dangling"}, "denied": {"found"}})
	g.deny = "denied"
	one := g.relation(false)
	load := one.Load
	one.Load = func(ctx context.Context, keys []any) (map[any][]any, error) {
		found, err := load(ctx, keys)
		delete(found, "b")
		delete(found, "c")
		return found, err
	}
	for most, want := range map[int]error{1: nil, 0: ErrTooMany} {
		loads := &Loads{Guard: g, Most: most}
		resources := []any{g.nodes["a"], g.nodes["b"], g.nodes["c"], g.nodes["denied"]}
		if err := loads.Load(t.Context(), one, resources); !errors.Is(err, want) {
			t.Errorf("of %d at most: %v instead of %v", most, err, want)
		}
	}
}
