package fingerprint

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
	"github.com/google/go-cmp/cmp"
)

// REQ-GE-06: the canonical text and its hash are fixed. A change of this test is a change of every generated header.
func TestCanonicalText(t *testing.T) {
	a := &gen.Definitions{
		Name: "notes", Version: "1.0.0",
		Operations: []gen.Operation{
			{
				Name: "get_note", Category: gen.Read, Danger: gen.Safe, DangerSource: gen.DangerFromTag,
				Description: "Gets a \"note\".\n\u2028<é>\x01",
				Timeout:     90 * time.Second, Source: "notes.go:7", Returns: gen.Returns{Name: "Note", Kind: gen.KindObject},
				Params: []gen.Param{{Name: "note_id", Go: "NoteID", Type: "string", Required: true, MaxLength: 8}}},
			{Name: "a_second", Examples: []gen.Example{{Params: `{"a": 1}`, Description: "All"}},
				Reasons: []string{"why", "not"}},
		},
		Types: []gen.Type{
			{Name: "Note", Kind: gen.KindObject,
				Fields: []gen.Param{{Name: "tags", Type: "array", Items: &gen.Param{Type: "Color"}}}},
			{Name: "Color", Kind: gen.KindEnum, Values: []gen.EnumValue{{Value: "red"}}},
		},
	}
	want := []string{
		`{"operations":[{"category":"READ","danger":"safe",` +
			`"description":"Gets a \"note\".\n` + "\u2028" + `<é>\u0001","name":"get_note",`,
		`"params":[{"maxLength":8,"name":"note_id","required":true,"type":"string"}],"returns":{"kind":"object",` +
			`"name":"Note"},"timeout":"1m30s"},`,
		`{"examples":[{"description":"All","params":"{\"a\": 1}"}],"name":"a_second","reasons":["why","not"]}],`,
		`"types":[{"kind":"enum","name":"Color","values":[{"value":"red"}]},`,
		`{"fields":[{"items":{"type":"Color"},"name":"tags","type":"array"}],"kind":"object","name":"Note"}]}`,
	}
	if diff := cmp.Diff(strings.Join(want, ""), string(canonical(a))); diff != "" {
		t.Errorf("canonical text (-want +got):\n%s", diff)
	}
	if got, want := Of(a), "sha256:bbe610699c8bcf8114520fdc2f4dcfaa3c800a0e5fc456f4d5f926bf1d735800"; got != want {
		t.Errorf("fingerprint %s, want %s", got, want)
	}
	if got := string(canonical(&gen.Definitions{})); got != "{}" {
		t.Errorf("nothing is %s", got)
	}
}

// untold are the parts of definitions that a fingerprint does not tell, and why.
var untold = map[string]string{
	"Definitions.Name":        "an option of the running adapter, which the generator does not know",
	"Definitions.Version":     "an option of the running adapter",
	"Operation.DangerSource":  "says why, not what",
	"Operation.Relationships": "the parameters and the relations say it",
	"Operation.Source":        "a place in Go source",
	"Param.Go":                "a name in Go",
	"Type.Related":            "the relations say it",
}

// REQ-GE-06: whatever is changed in definitions, the fingerprint changes, unless it is listed above. The definitions
// are those of package model: whoever adds a field there has to decide.
func TestEveryPartOfDefinitionsCounts(t *testing.T) {
	seen := map[string]bool{}
	for _, part := range parts(reflect.ValueOf(complete()).Elem(), "Adapter", nil) {
		a := complete()
		before := Of(a)
		mutate(part.in(a))
		after := Of(a)
		if _, exempt := untold[part.field]; exempt != (before == after) {
			t.Errorf("%s (%s): exempt %v, fingerprints equal %v", part.path, part.field, exempt, before == after)
		}
		seen[part.field] = true
	}
	for field := range untold {
		if !seen[field] {
			t.Errorf("%s is listed as untold but is no part of definitions", field)
		}
	}
	for _, structure := range []any{
		gen.Definitions{}, gen.Operation{}, gen.Param{}, gen.Returns{}, gen.Example{}, gen.Type{}, gen.EnumValue{},
	} {
		typ := reflect.TypeOf(structure)
		for i := range typ.NumField() {
			if typ.Field(i).Type == reflect.TypeFor[gen.Returns]() { // its fields are tried
				continue
			}
			if name := typ.Name() + "." + typ.Field(i).Name; !seen[name] {
				t.Errorf("%s is not tried", name)
			}
		}
	}
}

// REQ-GE-06: what makes two definitions differ, and what does not.
func TestWhatMakesFingerprintsDiffer(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(a *gen.Definitions)
		same   bool
	}{
		{"nothing", func(*gen.Definitions) {}, true},
		{"the order of types", func(a *gen.Definitions) { slices.Reverse(a.Types) }, true},
		{"an empty list for none",
			func(a *gen.Definitions) { a.Types[1].Values = []gen.EnumValue{}; a.Operations[1].Reasons = []string{} }, true},
		{"the handler in another file", func(a *gen.Definitions) { a.Operations[0].Source = "other.go:1" }, true},
		{"the loader of a relation", func(a *gen.Definitions) {
			a.Relations[0].Loader, a.Relations[0].Receivers = 1, []int{1}
		}, true},
		{"a relation less", func(a *gen.Definitions) { a.Relations = nil }, false},
		{"a relation of another type", func(a *gen.Definitions) { a.Relations[0].Of = "B" }, false},
		{"a relation of another name", func(a *gen.Definitions) { a.Relations[0].Name = "c" }, false},
		{"a relation by another field", func(a *gen.Definitions) { a.Relations[0].By = "d" }, false},
		{"a relation to another type", func(a *gen.Definitions) { a.Relations[0].Target = "E" }, false},
		{"a relation to one", func(a *gen.Definitions) { a.Relations[0].Many = false }, false},
		{"a relation to another operation", func(a *gen.Definitions) { a.Relations[0].To = "f" }, false},
		{"another parameter of a relation", func(a *gen.Definitions) { a.Relations[0].Param = "g" }, false},
		{"another relationship", func(a *gen.Definitions) { a.Relations[0].Type = "extends" }, false},
		{"another inverse", func(a *gen.Definitions) { a.Relations[0].Inverse = "h" }, false},
		{"a description of a relation", func(a *gen.Definitions) { a.Relations[0].Description = "i" }, false},
		{"the order of operations", func(a *gen.Definitions) { slices.Reverse(a.Operations) }, false},
		{"the order of parameters", func(a *gen.Definitions) { slices.Reverse(a.Operations[0].Params) }, false},
		{"the order of values", func(a *gen.Definitions) { slices.Reverse(a.Types[0].Values) }, false},
		{"an operation less", func(a *gen.Definitions) { a.Operations = a.Operations[:1] }, false},
		{"a parameter less", func(a *gen.Definitions) { a.Operations[0].Params = a.Operations[0].Params[:1] }, false},
		{"a type less", func(a *gen.Definitions) { a.Types = a.Types[:1] }, false},
		{"an element less", func(a *gen.Definitions) { a.Operations[0].Params[0].Items = nil }, false},
		{"text that moves from one member to the next", func(a *gen.Definitions) {
			o := &a.Operations[0]
			o.Description, o.Confirm = o.Confirm, o.Description
		}, false},
		{"values that are split otherwise", func(a *gen.Definitions) { a.Operations[0].Reasons = []string{`a","b`} }, false},
		{"a required parameter", func(a *gen.Definitions) { a.Operations[0].Params[1].Required = true }, false},
		{"a narrower enum", func(a *gen.Definitions) { a.Types[0].Values = a.Types[0].Values[:1] }, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a := complete()
			a.Operations[0].Reasons = []string{"a", "b"}
			a.Relations = []gen.Relation{
				{Of: "A", Name: "b", By: "c", Target: "D", Many: true, To: "e", Param: "f", Type: "uses", Inverse: "g"},
			}
			before := Of(a)
			tt.change(a)
			if got := Of(a) == before; got != tt.same {
				t.Errorf("fingerprints equal: %v, want %v", got, tt.same)
			}
		})
	}
}

// REQ-GE-06: random definitions, each with a random change.
func TestRandomChangesChangeTheFingerprint(t *testing.T) {
	prints := map[string]string{}
	for seed := range uint64(3000) {
		a, again := randomAdapter(seed), randomAdapter(seed)
		text, print := string(canonical(a)), Of(a)
		if canonical := string(wire.Canonical(nil, text)); canonical != text && !strings.ContainsAny(text, "\u2028\x7f") {
			t.Fatalf("seed %d: not canonical:\n%s\n%s", seed, text, canonical)
		}
		if first, known := prints[print]; known && first != text {
			t.Fatalf("seed %d: two definitions have the fingerprint %s", seed, print)
		}
		prints[print] = text
		r := rand.New(rand.NewPCG(seed, 2))
		r.Shuffle(len(again.Types), func(i, j int) { again.Types[i], again.Types[j] = again.Types[j], again.Types[i] })
		if Of(again) != print {
			t.Fatalf("seed %d: the order of types counts", seed)
		}
		all := parts(reflect.ValueOf(a).Elem(), "Adapter", nil)
		part := all[r.IntN(len(all))]
		mutate(part.in(a))
		if _, exempt := untold[part.field]; exempt != (Of(a) == print) {
			t.Fatalf("seed %d: %s: exempt %v, but the fingerprint says otherwise", seed, part.path, exempt)
		}
	}
}

// part is a leaf of definitions.
type part struct {
	path  string
	field string // struct and field
	steps []int
}

// in finds the part in definitions of the same shape.
func (p part) in(a *gen.Definitions) reflect.Value {
	v := reflect.ValueOf(a).Elem()
	for _, step := range p.steps {
		switch v.Kind() {
		case reflect.Struct:
			v = v.Field(step)
		case reflect.Slice:
			v = v.Index(step)
		case reflect.Pointer:
			v = v.Elem()
		}
	}
	return v
}

// parts lists everything in v that can be changed: leaves, and lists and pointers that hold nothing.
func parts(v reflect.Value, field string, steps []int) []part {
	var found []part
	step := func(v reflect.Value, field string, i int) {
		found = append(found, parts(v, field, append(slices.Clone(steps), i))...)
	}
	self := part{path: fmt.Sprint(field, steps), field: field, steps: steps}
	switch {
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			step(v.Field(i), v.Type().Name()+"."+v.Type().Field(i).Name, i)
		}
	case v.Kind() == reflect.Slice && v.Len() > 0:
		for i := range v.Len() {
			step(v.Index(i), field, i)
		}
		found = append(found, self)
	case v.Kind() == reflect.Pointer && !v.IsNil():
		step(v.Elem(), field, 0)
		found = append(found, self)
	default:
		return []part{self}
	}
	return found
}

// mutate changes a value to another one.
func mutate(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 1)
	case reflect.Slice:
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
	case reflect.Pointer:
		if v.IsNil() {
			v.Set(reflect.New(v.Type().Elem()))
		} else {
			v.SetZero()
		}
	}
}

// complete are definitions in which every list has an element.
func complete() *gen.Definitions {
	element := func() *gen.Param { return &gen.Param{Type: "Color"} }
	return &gen.Definitions{
		Name: "notes", Version: "1.0.0",
		Operations: []gen.Operation{
			{
				Name: "create_note", Category: gen.Create, Description: "Creates.", Confirm: "Sure?", Reasons: []string{"why"},
				Params: []gen.Param{
					{
						Name: "tags", Type: "array", Items: element(), Enum: []string{"a"}, Aliases: []string{"b"},
						Presets: []string{"c"}, Excludes: []string{"d"},
					},
					{Name: "title", Type: "string"},
				},
				Returns:  gen.Returns{Name: "Note", Kind: gen.KindObject},
				Examples: []gen.Example{{Params: "{}"}},
			},
			{Name: "get_note", Category: gen.Read},
		},
		Types: []gen.Type{
			{Name: "Color", Kind: gen.KindEnum, Values: []gen.EnumValue{{Value: "red"}, {Value: "blue"}}},
			{Name: "Note", Kind: gen.KindObject, Fields: []gen.Param{{Name: "title", Type: "string"}}, Items: element(),
				Members: []string{"A"}},
		},
	}
}

func randomAdapter(seed uint64) *gen.Definitions {
	r := rand.New(rand.NewPCG(seed, 1))
	text := func() string {
		letters := []string{"", "a", `"`, `\`, ",", "é", "\n", "\x01", "{", "]", ":", "<&>", "name", "\u2028"}
		out := ""
		for range r.IntN(4) {
			out += letters[r.IntN(len(letters))]
		}
		return out
	}
	texts := func() []string {
		var out []string
		for range r.IntN(3) {
			out = append(out, text())
		}
		return out
	}
	flag := func() bool { return r.IntN(4) == 0 }
	var param func(depth int) gen.Param
	param = func(depth int) gen.Param {
		p := gen.Param{
			Name: text(), Go: text(), Type: text(), Required: flag(), Description: text(), Default: text(), Enum: texts(),
			Minimum: text(), Maximum: text(),
			MinLength: r.IntN(3), MaxLength: r.IntN(3), MinItems: r.IntN(3), MaxItems: r.IntN(3), Pattern: text(),
			Format: text(), Sensitive: flag(),
			ReadOnly: flag(), AppendOnly: flag(), ID: flag(), Aliases: texts(), Presets: texts(), Excludes: texts(),
			OmitEmpty: flag(),
			OmitZero:  flag(), Quoted: flag(), Deprecated: text(),
		}
		if depth < 3 && flag() {
			items := param(depth + 1)
			p.Items = &items
		}
		if depth < 3 && flag() {
			keys := param(depth + 1)
			p.Keys, p.FormatRule = &keys, true
		}
		return p
	}
	params := func() []gen.Param {
		var out []gen.Param
		for range r.IntN(4) {
			out = append(out, param(0))
		}
		return out
	}
	a := &gen.Definitions{Name: text(), Version: text(), Description: text()}
	for range r.IntN(4) {
		a.Operations = append(a.Operations, gen.Operation{
			Name: text(), Category: gen.Category(text()), Family: text(), Description: text(), Danger: gen.Danger(text()),
			Reasons: texts(), Confirm: text(),
			Params: params(), Returns: gen.Returns{Name: text(), Kind: gen.TypeKind(text())},
			Examples: []gen.Example{{Params: text(), Description: text()}},
			Timeout:  time.Duration(r.IntN(3)), Deprecated: text(), Replacement: text(), Source: text(),
		})
	}
	for i := range r.IntN(4) {
		t := gen.Type{
			Name: fmt.Sprint(i) + text(), Kind: gen.TypeKind(text()), Description: text(),
			Values: []gen.EnumValue{{Value: text(), Description: text()}},
			Fields: params(), Members: texts(), Changes: text(),
		}
		if flag() {
			items := param(1)
			t.Items = &items
		}
		a.Types = append(a.Types, t)
	}
	return a
}

// What the generator pays for each package, and an adapter that tells its fingerprint.
func BenchmarkOf(b *testing.B) {
	a := &gen.Definitions{}
	for range 100 {
		a.Operations = append(a.Operations, complete().Operations...)
	}
	b.ReportAllocs()
	for b.Loop() {
		Of(a)
	}
}
