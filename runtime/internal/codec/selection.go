package codec

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// Selection is the part of aql.Fields that a request fills in: which fields of the result it asks for (MCP-AQL field
// selection §2).
type Selection struct {
	Preset string
	Paths  []string
}

var selectionType = reflect.TypeFor[Selection]()

// isSelection recognises aql.Selection, which is a Selection and nothing else.
func isSelection(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() == 1 && t.Field(0).Type == selectionType
}

// pathPattern is the grammar of paths (field-selection schema, FieldPath), beside that of computed fields, which no resource
// has yet.
const pathPattern = `^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$`

// readSelection reads a preset or a list of paths.
func (n *reading) readSelection(r *wire.Reader, p unsafe.Pointer) {
	selection := (*Selection)(p)
	switch r.Kind() {
	case "string":
		if s, ok := r.String(); ok && r.Enum(s, n.presets) {
			selection.Preset = s
		}
	case "array":
		r.Array()
		count := 0
		for ; r.NextElement(); count++ {
			if s, ok := r.String(); ok && r.Pattern(isPath(s), pathPattern) {
				selection.Paths = append(selection.Paths, s)
			}
		}
		r.MinItems(count, 1)
	default:
		r.Raw()
		r.Mismatch(n.expected)
	}
}

// isPath reports whether s follows pathPattern, or names a computed field.
func isPath(s string) bool {
	s, computed := strings.CutPrefix(s, "_computed.")
	if computed && strings.Contains(s, ".") {
		return false
	}
	for segment := range strings.SplitSeq(s, ".") {
		if segment == "" || segment[0] < 'a' || segment[0] > 'z' {
			return false
		}
		for i := range len(segment) {
			if c := segment[i]; c != '_' && (c < 'a' || c > 'z') && (c < '0' || c > '9') {
				return false
			}
		}
	}
	return true
}

// The presets that every selection knows (field selection §3.1).
const (
	presetMinimal  = "minimal"
	presetStandard = "standard"
	presetFull     = "full"
)

// Subset is the part of a result that a request asks for. nil: all of it.
type Subset struct {
	whole bool
	picks []pick
	keys  []keyPick
}

// pick is a field of a struct of which something is wanted.
type pick struct {
	index int
	of    *Subset
}

// keyPick is an entry of a map of which something is wanted.
type keyPick struct {
	name string
	of   *Subset
}

// field returns the subset of a field, which is new and empty where nothing of it was wanted.
func (s *Subset) field(index int) *Subset {
	at, found := slices.BinarySearchFunc(s.picks, index, func(p pick, index int) int { return p.index - index })
	if !found {
		s.picks = slices.Insert(s.picks, at, pick{index, &Subset{}})
	}
	return s.picks[at].of
}

func (s *Subset) key(name string) *Subset {
	at, found := slices.BinarySearchFunc(s.keys, name, func(k keyPick, name string) int { return strings.Compare(k.name, name) })
	if !found {
		s.keys = slices.Insert(s.keys, at, keyPick{name, &Subset{}})
	}
	return s.keys[at].of
}

// Selector finds out what of a result a request asks for.
type Selector struct {
	selection location // of the Selection in the request
	preset    location // of the parameter preset
	hasPreset bool
	result    *writing // of the resource, or of one in a collection
	record    *record
	outer     *record // of a collection that is a struct; nil: none
	items     int     // its field with the resources
	single    bool
	presets   map[string]*Subset
	standard  string // the preset that is meant where a request says nothing
}

// Selector compiles what requests can select of results; nil if requests have no Selection. search says that the operation
// looks for resources, of which little is returned by default (requirements REQ-FS-03).
func (s *Set) Selector(request *Request, result *Result, search bool) (*Selector, error) {
	at := slices.IndexFunc(request.object.fields, func(f field) bool { return f.value.kind == kindSelection })
	if at < 0 {
		return nil, nil
	}
	selector := &Selector{selection: request.object.fields[at].location, presets: make(map[string]*Subset), standard: presetFull, single: true}
	if preset := request.object.index.find("preset"); preset >= 0 {
		selector.preset, selector.hasPreset = request.object.fields[preset].location, true
	}
	if result == nil || !selector.target(result) {
		return nil, fmt.Errorf("fields are selected of a result that has none")
	}
	switch {
	case search:
		selector.standard = presetMinimal
	case !selector.single:
		selector.standard = presetStandard
	}
	for _, name := range request.object.fields[at].value.presets {
		selector.presets[name] = selector.whole(selector.ofPreset(name))
	}
	return selector, nil
}

// target finds the resource in a result.
func (s *Selector) target(result *Result) bool {
	n := result.value.inner()
	if n.kind == kindStruct && !result.items {
		if at := slices.IndexFunc(n.record.fields, func(f written) bool { return f.name == "items" && f.value.isList() }); at >= 0 {
			if resource := n.record.fields[at].value.inner(); resource.kind == kindStruct {
				s.outer, s.items, n = n.record, at, resource
			}
		}
	}
	s.single = !result.items && s.outer == nil
	if n.kind != kindStruct {
		return false
	}
	s.result, s.record = n, n.record
	return true
}

// isList reports whether values are arrays.
func (n *writing) isList() bool {
	for n.kind == kindPointer {
		n = n.elem
	}
	return n.kind == kindSlice || n.kind == kindArray
}

// inner is what values consist of: the elements of lists, what pointers point to.
func (n *writing) inner() *writing {
	for n.kind == kindPointer || n.kind == kindSlice || n.kind == kindArray || n.kind == kindOptional {
		n = n.elem
	}
	return n
}

// ofPreset is the part of the resource that belongs to a preset; nil: all of it. What is minimal is standard too, and an
// identifier belongs to every preset. A type that says nothing of presets is always whole.
func (s *Selector) ofPreset(name string) *Subset {
	says := slices.ContainsFunc(s.record.fields, func(f written) bool { return len(f.presets) > 0 })
	if name == presetFull || !says {
		return nil
	}
	subset := &Subset{}
	for i := range s.record.fields {
		f := &s.record.fields[i]
		if f.id || slices.Contains(f.presets, name) || name == presetStandard && slices.Contains(f.presets, presetMinimal) {
			subset.field(i).whole = true
		}
	}
	return subset
}

// whole is the part of a whole result: that of the resource, with what stands around it. What tells the version of a single
// resource comes with every part of it (requirements T-40).
func (s *Selector) whole(subset *Subset) *Subset {
	if subset == nil {
		return nil
	}
	if s.single {
		for i := range s.record.fields {
			if name := s.record.fields[i].name; name == "_etag" || name == "_version" {
				subset.field(i).whole = true
			}
		}
	}
	if s.outer == nil {
		return subset
	}
	around := &Subset{}
	for i := range s.outer.fields {
		around.field(i).whole = i != s.items
	}
	*around.field(s.items) = *subset
	return around
}

// Select returns what of the result the request asks for. Paths that lead to no field are returned too.
func (s *Selector) Select(request unsafe.Pointer) (subset *Subset, unknown []string) {
	var selection Selection
	if p := s.selection.present(request); p != nil {
		selection = *(*Selection)(p)
	}
	presets := make([]string, 0, 2)
	if selection.Preset != "" {
		presets = append(presets, selection.Preset)
	}
	if s.hasPreset {
		if p := s.preset.present(request); p != nil && *(*string)(p) != "" {
			presets = append(presets, *(*string)(p))
		}
	}
	if len(selection.Paths) == 0 {
		switch {
		case len(presets) == 0:
			return s.presets[s.standard], nil
		case len(presets) == 1 || presets[0] == presets[1]:
			return s.presets[presets[0]], nil
		}
	}
	subset = &Subset{}
	for _, name := range presets { // with both, the union (requirements REQ-FS-04)
		part := s.ofPreset(name)
		if part == nil {
			return nil, s.unknown(selection.Paths)
		}
		for _, p := range part.picks {
			subset.field(p.index).whole = true
		}
	}
	for _, path := range selection.Paths {
		if !s.result.reaches(path) {
			unknown = append(unknown, path)
			continue
		}
		s.result.choose(subset, path)
	}
	return s.whole(subset), unknown
}

func (s *Selector) unknown(paths []string) (unknown []string) {
	for _, path := range paths {
		if !s.result.reaches(path) {
			unknown = append(unknown, path)
		}
	}
	return unknown
}

// deepest is the number of steps that a path may have: no value is nested more deeply on the wire.
const deepest = 64

// reaches reports whether a path leads to something in a value.
func (n *writing) reaches(path string) bool {
	for range deepest {
		name, rest, deeper := strings.Cut(path, ".")
		n = n.inner()
		switch n.kind {
		case kindStruct:
			at := slices.IndexFunc(n.record.fields, func(f written) bool { return f.name == name })
			if at < 0 {
				return false
			}
			n = n.record.fields[at].value
		case kindMap, kindStringMap:
			if n.key != nil { // numbers are no names
				return false
			}
			n = n.elem
		default:
			return false
		}
		if !deeper {
			return true
		}
		if n == nil { // the strings of a map
			return false
		}
		path = rest
	}
	return false
}

// choose adds what a path leads to, which is something.
func (n *writing) choose(to *Subset, path string) {
	for deeper := true; deeper; {
		var name string
		name, path, deeper = strings.Cut(path, ".")
		if n = n.inner(); n.kind == kindStruct {
			at := slices.IndexFunc(n.record.fields, func(f written) bool { return f.name == name })
			n, to = n.record.fields[at].value, to.field(at)
		} else {
			n, to = n.elem, to.key(name)
		}
	}
	to.whole = true
}

// ValidPaths lists the paths that stand beside an unknown one: the fields of the object in which it was looked for.
func (s *Selector) ValidPaths(unknown string) []string {
	n, prefix := s.result, ""
	for {
		n = n.inner()
		if n.kind != kindStruct {
			return nil
		}
		name, rest, deeper := strings.Cut(unknown, ".")
		at := slices.IndexFunc(n.record.fields, func(f written) bool { return f.name == name })
		if at < 0 || !deeper || n.record.fields[at].value.inner().kind != kindStruct {
			break
		}
		n, prefix, unknown = n.record.fields[at].value, prefix+name+".", rest
	}
	var valid []string
	for i := range n.record.fields {
		if name := n.record.fields[i].name; isPath(name) {
			valid = append(valid, prefix+name)
		}
	}
	return valid
}

// writeSelected writes the part of the value at p that subset tells.
func (n *writing) writeSelected(w *wire.Writer, p unsafe.Pointer, subset *Subset) {
	if subset == nil || subset.whole {
		n.write(w, p)
		return
	}
	switch n.kind {
	case kindPointer:
		if p = *(*unsafe.Pointer)(p); p == nil || w.TooDeep() {
			w.Null()
			return
		}
		n.elem.writeSelected(w, p, subset)
	case kindSlice:
		list := (*slice)(p)
		n.writeElements(w, list.data, list.len, subset)
	case kindArray:
		n.writeElements(w, p, n.length, subset)
	case kindOptional:
		if *(*Presence)(p) != Present {
			w.Null()
			return
		}
		n.elem.writeSelected(w, unsafe.Add(p, n.offset), subset)
	case kindStruct:
		n.record.writeSelected(w, p, subset)
	case kindMap:
		n.writeEntries(w, p, subset)
	case kindStringMap:
		writeStrings(w, *(*map[string]string)(p), subset)
	default:
		n.write(w, p)
	}
}

func (c *record) writeSelected(w *wire.Writer, base unsafe.Pointer, subset *Subset) {
	w.BeginObject()
	first := true
	for _, picked := range subset.picks {
		f := &c.fields[picked.index]
		p := f.present(base)
		if p == nil {
			continue
		}
		w.Field(f.key, first)
		first = false
		f.value.writeSelected(w, p, picked.of)
	}
	w.EndObject()
}

// writeEntries writes the entries of a map that were asked for.
func (n *writing) writeEntries(w *wire.Writer, p unsafe.Pointer, subset *Subset) {
	entries := reflect.NewAt(n.goType, p).Elem()
	if entries.IsNil() || w.TooDeep() {
		w.Null()
		return
	}
	value := reflect.New(n.goType.Elem())
	w.BeginObject()
	for _, picked := range subset.keys {
		entry := entries.MapIndex(reflect.ValueOf(picked.name).Convert(n.goType.Key()))
		if !entry.IsValid() {
			continue
		}
		w.KeyEscaped(picked.name)
		value.Elem().Set(entry)
		n.elem.writeSelected(w, value.UnsafePointer(), picked.of)
	}
	w.EndObject()
}

func writeStrings(w *wire.Writer, entries map[string]string, subset *Subset) {
	if entries == nil {
		w.Null()
		return
	}
	w.BeginObject()
	for _, picked := range subset.keys {
		if s, ok := entries[picked.name]; ok {
			w.KeyEscaped(picked.name)
			w.String(s)
		}
	}
	w.EndObject()
}

// selectionReading compiles the reader of an aql.Selection.
func (s *Set) selectionReading(n *reading, t reflect.Type, p *gen.Param) error {
	n.kind, n.expected, n.presets = kindSelection, gen.TypeSelection, p.Presets
	return s.fits(t, p, []string{gen.TypeSelection})
}
