package codec_test

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/codec"
	"github.com/aqltag/aqltag/runtime/internal/wire"
	"github.com/google/go-cmp/cmp"
)

// patch is laid out as aql.Patch is.
type patch[T any] struct {
	_    [0]*T
	Body codec.Patch
}

// everything has no type whose zero value is a matter of opinion, as those with IsZero have.
type everything struct {
	Basics   basics       `json:"basics"`
	Named    *namedBasics `json:"named"`
	Pointers pointers     `json:"pointers"`
	Lists    lists        `json:"lists"`
	Bytes    bytesAll     `json:"bytes"`
	Maps     mapsAll      `json:"maps"`
	Generic  genericEmbedding
	Renamed  renamedEmbedding
	Tree     tree
	Dict     dict
	Forest   forest
	Node     node
	Ping     *ping
	Unnamed  unnamed
	Times    times
	Dynamics dynamics
	OwnText  ownText
	OwnJSON  *ownJSON
	Foreign  foreign
	Quoted   quoted
}

// merger applies patches to values of one type.
type merger struct {
	goType reflect.Type
	read   func(text string) (*codec.Patch, error)
}

// newMerger compiles the merge of T.
func newMerger[T any](t testing.TB) merger {
	t.Helper()
	definer := newDefiner()
	definer.adjust = func(_ reflect.Type, p *gen.Param) { p.OmitZero = true } // null removes whatever there is
	c := definer.compile(t, reflect.TypeFor[patch[T]]())
	return merger{reflect.TypeFor[T](), func(text string) (*codec.Patch, error) {
		box, err := c.decode(`{"V":` + text + `}`)
		if err != nil {
			return nil, err
		}
		return &(*struct{ V patch[T] })(box.UnsafePointer()).V.Body, nil
	}}
}

// apply merges a text, which need not be the patch's own.
func apply(p *codec.Patch, text string, target reflect.Value) bool {
	return p.MergeFrom(wire.NewReader(text, wire.Limits{}), target.UnsafePointer())
}

func mergers(t *testing.T) []merger {
	return []merger{
		newMerger[everything](t), newMerger[pointers](t), newMerger[mapsAll](t), newMerger[embedding](t), newMerger[node](t),
		newMerger[ping](t), newMerger[unnamed](t), newMerger[dynamics](t), newMerger[ownJSON](t), newMerger[foreign](t),
		newMerger[lists](t), newMerger[quoted](t), newMerger[genericEmbedding](t), newMerger[renamedEmbedding](t),
	}
}

// mergePatch is RFC 7396 as its §2 has it.
func mergePatch(target, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	merged, ok := target.(map[string]any)
	if !ok {
		merged = map[string]any{}
	}
	for name, value := range changes {
		if value == nil {
			delete(merged, name)
		} else {
			merged[name] = mergePatch(merged[name], value)
		}
	}
	return merged
}

// REQ-UP-07: a merge gives what RFC 7396 makes of the value's JSON; what the target shared with others is as it was.
func TestMergeIsRFC7396(t *testing.T) {
	for _, m := range mergers(t) {
		t.Run(m.goType.String(), func(t *testing.T) {
			for seed := range uint64(perType()) {
				target, twin := reflect.New(m.goType), reflect.New(m.goType)
				newRandom(seed).fill(target.Elem(), 5, false)
				newRandom(seed).fill(twin.Elem(), 5, false)
				other := reflect.New(m.goType) // shares all that is behind pointers
				other.Elem().Set(target.Elem())

				r := newRandom(seed + 1e6)
				text := r.patch(t, m.goType, target)
				p, err := m.read(text)
				if err != nil {
					t.Fatalf("%v\npatch: %s", err, text)
				}
				want := reference(t, m.goType, target, text)
				applied := seed%2 == 1 && p.Merge(target.UnsafePointer())
				// What is in an embedded struct that is absent is read again.
				if again := seed%2 == 0 || m.goType == reflect.TypeFor[embedding](); !applied && again {
					applied = apply(p, p.Raw(), target)
				}
				if !applied {
					t.Fatalf("not applied: %s", text)
				}
				if got, want := canonical(t, target), canonical(t, want); got != want {
					t.Fatalf(
						"seed %d, target %s\npatch %s\n-reference +merge:\n%s", seed, oracle(t, twin.Interface()), text,
						cmp.Diff(indented(want), indented(got)),
					)
				}
				if !reflect.DeepEqual(other.Interface(), twin.Interface()) {
					t.Fatalf(
						"seed %d: patch %s changed memory that others share:\n%s", seed, text,
						cmp.Diff(describe(twin), describe(other)),
					)
				}
			}
		})
	}
}

// canonical is the value of a JSON text, in one spelling. An embedded struct that is nil is the same as an empty
// one.
func canonical(t testing.TB, value reflect.Value) string {
	t.Helper()
	if v, ok := value.Interface().(*embedding); ok {
		filled := *v
		if filled.Pointed == nil {
			filled.Pointed = new(Pointed)
		}
		if filled.Deeper == nil {
			filled.Pointed = &Pointed{Deeper: new(Deeper), Via: filled.Via}
		}
		value = reflect.ValueOf(&filled)
	}
	return string(wire.Canonical(nil, oracle(t, value.Interface())))
}

func indented(text string) string {
	var v any
	json.Unmarshal([]byte(text), &v)
	out, _ := json.MarshalIndent(v, "", " ")
	return string(out)
}

// reference merges by way of texts.
func reference(t testing.TB, goType reflect.Type, target reflect.Value, text string) reflect.Value {
	t.Helper()
	merged := oracle(t, mergePatch(generic(t, oracle(t, target.Interface())), generic(t, text)))
	want := reflect.New(goType)
	if err := json.Unmarshal([]byte(merged), want.Interface()); err != nil {
		t.Fatalf("%v\nmerged: %s", err, merged)
	}
	return want
}

func generic(t testing.TB, text string) any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// patch makes a patch that a type accepts: parts of another value, with nulls.
func (r *random) patch(t testing.TB, goType reflect.Type, target reflect.Value) string {
	source := reflect.New(goType)
	r.fill(source.Elem(), 5, false)
	changes := r.thin(generic(t, oracle(t, source.Interface())), generic(t, oracle(t, target.Interface())))
	return oracle(t, changes)
}

// thin drops members of an object, and sets some of them and of the target's to null.
func (r *random) thin(source, target any) any {
	object, ok := source.(map[string]any)
	if !ok {
		return source
	}
	old, _ := target.(map[string]any)
	thinned := map[string]any{}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		switch {
		case r.IntN(2) == 0:
		case r.IntN(6) == 0:
			thinned[name] = nil
		case object[name] != nil:
			thinned[name] = r.thin(object[name], old[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(old)) {
		if r.IntN(8) == 0 {
			thinned[name] = nil
		}
	}
	return thinned
}

// A patch that turns out not to fit leaves the target as it is, in part and as a whole.
func TestInvalidPatchChangesNothing(t *testing.T) {
	for _, m := range mergers(t) {
		t.Run(m.goType.String(), func(t *testing.T) {
			p, err := m.read("{}")
			if err != nil {
				t.Fatal(err)
			}
			refused := 0
			for seed := range uint64(perType()) {
				target, twin := reflect.New(m.goType), reflect.New(m.goType)
				newRandom(seed).fill(target.Elem(), 5, false)
				newRandom(seed).fill(twin.Elem(), 5, false)
				r := newRandom(seed + 2e6)
				text := r.mutate(r.patch(t, m.goType, target))
				if apply(p, text, target) {
					continue
				}
				refused++
				if !reflect.DeepEqual(target.Interface(), twin.Interface()) {
					t.Fatalf(
						"seed %d: the refused patch %s changed the target:\n%s", seed, text, cmp.Diff(describe(twin), describe(target)),
					)
				}
			}
			if refused == 0 {
				t.Error("every mutated patch was accepted")
			}
		})
	}
}

// REQ-UP-07: what a patch brings belongs to the first resource it is applied to; every other one reads it again.
func TestTwoResourcesShareNothingOfAPatch(t *testing.T) {
	type resource struct {
		Tags   []string          `json:"tags"`
		Labels map[string]string `json:"labels"`
		Note   *string           `json:"note"`
	}
	p, err := newMerger[resource](t).read(`{"tags":["a"],"labels":{"x":"1","y":null},"note":"n"}`)
	if err != nil {
		t.Fatal(err)
	}
	first, second := resource{Labels: map[string]string{"y": "2", "z": "3"}}, resource{}
	if !p.Merge(unsafe.Pointer(&first)) {
		t.Fatal("not merged")
	}
	if p.Merge(unsafe.Pointer(&second)) {
		t.Fatal("merged twice without reading it again")
	}
	if !apply(p, p.Raw(), reflect.ValueOf(&second)) {
		t.Fatal("not merged from its text")
	}
	first.Tags[0], first.Labels["x"], *first.Note = "changed", "changed", "changed"
	note := "n"
	if diff := cmp.Diff(
		resource{Tags: []string{"a"}, Labels: map[string]string{"x": "1"}, Note: &note}, second,
	); diff != "" {
		t.Error(diff)
	}
	if first.Labels["z"] != "3" || len(first.Labels) != 2 {
		t.Errorf("labels %v", first.Labels)
	}
}
