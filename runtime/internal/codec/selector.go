package codec

import (
	"fmt"
	"slices"
	"strings"
	"unsafe"
)

// Selector finds the part of a result that a request asks for.
type Selector struct {
	selection     location // of the Selection in the request
	result        *encoder
	preset        location // of the parameter preset
	hasPreset     bool
	resource      *encoder       // of the resource, or of those in a collection
	behind        behind         // what stands behind the fields of the resource; nil: nothing
	collection    *structEncoder // the struct that has a collection in its field items; nil: none
	items         int            // index of that field
	single        bool           // the result is one resource
	presets       map[string]*Subset
	defaultPreset string // what a request without a selection asks for
}

// Selector compiles what requests can select of results. It returns nil if requests have no Selection. search marks an
// operation that searches for resources, which returns little by default (MCP-AQL field selection §3.2).
func (s *Set) Selector(request *Request, result *Result, search bool) (*Selector, error) {
	behind, of := s.behind, s.behindOf
	s.behind, s.behindOf = nil, nil
	at := slices.IndexFunc(request.object.fields, func(f decodedField) bool { return f.value.kind == kindSelection })
	if at < 0 {
		return nil, nil
	}
	selector := &Selector{
		selection: request.object.fields[at].location, presets: make(map[string]*Subset), defaultPreset: presetFull,
	}
	if preset := request.object.index.find("preset"); preset >= 0 {
		selector.preset, selector.hasPreset = request.object.fields[preset].location, true
	}
	if result == nil || !selector.target(result) {
		return nil, fmt.Errorf("fields are selected of a result that has none")
	}
	if selector.resource.object == of {
		selector.behind = behind
	}
	otherNames := selector.resource.hasOtherNames(make(map[*structEncoder]bool))
	if s.related != nil {
		selector.behind = s.related.behind(selector.resource.object, selector.behind)
		otherNames = otherNames || s.related.hasOtherNames(selector.resource.object, make(map[*structEncoder]bool))
	}
	request.object.fields[at].value.otherNames = otherNames
	switch {
	case search:
		selector.defaultPreset = presetMinimal
	case !selector.single:
		selector.defaultPreset = presetStandard
	}
	for _, name := range request.object.fields[at].value.presets {
		selector.presets[name] = selector.ofResult(selector.presetSubset(name))
	}
	return selector, nil
}

// target finds the resource in a result. It returns false where there is none.
func (s *Selector) target(result *Result) bool {
	s.result = result.value
	n := result.value.element()
	if n.kind == kindStruct && !result.items {
		if at := n.object.find("items"); at >= 0 && n.object.fields[at].value.isList() {
			if resource := n.object.fields[at].value.element(); resource.kind == kindStruct {
				s.collection, s.items, n = n.object, at, resource
			}
		}
	}
	s.single = !result.items && s.collection == nil
	if n.kind != kindStruct {
		return false
	}
	s.resource = n
	return true
}

// isList reports whether values are JSON arrays.
func (n *encoder) isList() bool {
	for n.kind == kindPointer || n.kind == kindMessage {
		n = n.elem
	}
	return n.kind == kindSlice || n.kind == kindArray
}

// element returns the encoder of what pointers, lists and optionals hold in the end.
func (n *encoder) element() *encoder {
	for n.kind == kindPointer || n.kind == kindSlice || n.kind == kindArray ||
		n.kind == kindOptional || n.kind == kindSQLNull || n.kind == kindMessage {
		n = n.elem
	}
	return n
}

// The presets that every selection knows (MCP-AQL field selection §3.1).
const (
	presetMinimal  = "minimal"
	presetStandard = "standard"
	presetFull     = "full"
)

// presetSubset returns the part of the resource that belongs to a preset; nil means all of it. Fields of the preset
// minimal belong to standard too, and identifiers to every preset. Without presets in its fields, a type has all
// fields in each.
func (s *Selector) presetSubset(name string) *Subset {
	hasPresets := slices.ContainsFunc(s.resource.object.fields, func(f encodedField) bool { return len(f.presets) > 0 })
	if name == presetFull || !hasPresets {
		return nil
	}
	subset := &Subset{}
	for i := range s.resource.object.fields {
		f := &s.resource.object.fields[i]
		if f.id || slices.Contains(f.presets, name) || name == presetStandard && slices.Contains(f.presets, presetMinimal) {
			subset.field(i).whole = true
		}
	}
	return subset
}

// ofResult returns the part of the result for a part of the resource. The fields around a collection belong to it,
// and the version of a single resource.
func (s *Selector) ofResult(subset *Subset) *Subset {
	if subset == nil {
		return nil
	}
	if s.single {
		s.addVersion(subset)
	}
	if s.collection == nil {
		return subset
	}
	result := &Subset{}
	for i := range s.collection.fields {
		result.field(i).whole = i != s.items
	}
	*result.field(s.items) = *subset
	return result
}

// addVersion adds the version to a part of the resource.
func (s *Selector) addVersion(subset *Subset) {
	for i := range s.resource.object.fields {
		if isVersion(s.resource.object.fields[i].name) {
			subset.field(i).whole = true
		}
	}
}

// Chosen is what a request asks for of a result.
type Chosen struct {
	Subset *Subset // of the fields; nil: all
	Behind Behind  // what stands behind them
	TooFar string  // a path through more relations than there may be; empty: there is none
}

// Select returns what a request asks for of the result, and the paths in the request that lead to no field. request
// points to the request struct, whose Selection then names the keys of the relations that are selected, too.
func (s *Selector) Select(request unsafe.Pointer, mask *Mask) (chosen Chosen, unknown []string) {
	var selection Selection
	if p := s.selection.address(request); p != nil {
		selection = *(*Selection)(p)
	}
	presets := make([]string, 0, 2)
	if selection.Preset != "" {
		presets = append(presets, selection.Preset)
	}
	if s.hasPreset {
		if p := s.preset.address(request); p != nil && *(*string)(p) != "" {
			presets = append(presets, *(*string)(p))
		}
	}
	if s.behind != nil {
		s.chooseBehind(&chosen, request, presets, selection.Paths, mask)
	}
	if len(selection.Paths) == 0 {
		switch {
		case len(presets) == 0:
			chosen.Subset = s.presets[s.defaultPreset]
			return chosen, nil
		case len(presets) == 1 || presets[0] == presets[1]:
			chosen.Subset = s.presets[presets[0]]
			return chosen, nil
		}
	}
	subset := &Subset{}
	for _, name := range presets { // with two, their union (MCP-AQL field selection §2.2)
		part := s.presetSubset(name)
		if part == nil {
			return chosen, s.unknown(selection.Paths, mask)
		}
		for _, p := range part.fields {
			subset.field(p.index).whole = true
		}
	}
	for _, path := range selection.Paths {
		switch {
		case !s.reaches(path, mask):
			unknown = append(unknown, path)
		case s.reachBehind(path, mask) == nowhere:
			s.resource.choose(subset, path)
		}
	}
	if len(selection.Paths) > 0 {
		s.addVersion(subset)
	}
	chosen.Subset = s.ofResult(subset)
	return chosen, unknown
}

// unknown returns the paths that lead to no field.
func (s *Selector) unknown(paths []string, mask *Mask) (unknown []string) {
	for _, path := range paths {
		if !s.reaches(path, mask) {
			unknown = append(unknown, path)
		}
	}
	return unknown
}

// reaches reports whether resources may have something at a path that the mask does not hide.
func (s *Selector) reaches(path string, mask *Mask) bool {
	if at := s.reachBehind(path, mask); at != nowhere {
		return at == reached
	}
	return s.resource.reaches(path) && !mask.hidesPath(s.resource, path)
}

// maxPathSteps is the largest number of names in a path.
const maxPathSteps = 64

// reaches reports whether values may have something at a path.
func (n *encoder) reaches(path string) bool {
	for range maxPathSteps {
		name, rest, deeper := n.element().step(path)
		if n = n.element(); n.kind == kindStruct {
			at := n.object.find(name)
			if at < 0 || n.object.fields[at].name == "_computed" {
				return false
			}
			n = n.object.fields[at].value
		} else if n.isMap() && name != "" {
			n = n.elem
		} else {
			return false
		}
		if !deeper {
			return true
		}
		path = rest
	}
	return false
}

// isMap reports whether values are JSON objects whose names are data.
func (n *encoder) isMap() bool { return n.kind == kindMap || n.kind == kindStringMap }

// step splits a path into the name of a field or an entry, and the rest. The entries of a map that have nothing to
// select in them may have dots in their names.
func (n *encoder) step(path string) (name, rest string, deeper bool) {
	if n.kind == kindStringMap || n.kind == kindMap && !n.elem.element().isMap() && n.elem.element().kind != kindStruct {
		return path, "", false
	}
	return strings.Cut(path, ".")
}

// hasOtherNames reports whether paths may have names that no wire name can be: those of entries of maps, aliases, and
// names that a package keeps. seen are the structs that were looked at.
func (n *encoder) hasOtherNames(seen map[*structEncoder]bool) bool {
	n = n.element()
	if n.kind != kindStruct || seen[n.object] {
		return n.isMap()
	}
	seen[n.object] = true
	return slices.ContainsFunc(n.object.fields, func(f encodedField) bool {
		return len(f.aliases) > 0 || !isPath(f.name) && f.name != "_computed" || f.value.hasOtherNames(seen)
	})
}

// choose adds what is at a path to a subset. The path reaches something.
func (n *encoder) choose(to *Subset, path string) {
	for deeper := true; deeper; {
		n = n.element()
		var name string
		name, path, deeper = n.step(path)
		if n.kind == kindStruct {
			at := n.object.find(name)
			n.object.addConstants(to, at)
			n, to = n.object.fields[at].value, to.field(at)
		} else {
			n, to = n.elem, to.entry(name)
		}
	}
	to.whole = true
}

// ValidPaths lists the paths of the fields of the object in which an unknown path ends.
func (s *Selector) ValidPaths(unknown string, mask *Mask) []string {
	if s.behind == nil {
		valid, _ := s.resource.validPaths("", unknown, mask)
		return valid
	}
	if valid := s.behind.valid(unknown, mask); valid != nil {
		return valid
	}
	valid, at := s.resource.validPaths("", unknown, mask)
	if at == s.resource {
		valid = append(valid, s.behind.visible(mask)...)
	}
	return valid
}

// validPaths lists the paths of the fields of the object in which an unknown path ends, and returns its encoder. The
// paths begin with prefix.
func (n *encoder) validPaths(prefix, unknown string, mask *Mask) (valid []string, at *encoder) {
	for {
		n = n.element()
		if n.kind != kindStruct {
			return nil, n
		}
		name, rest, deeper := strings.Cut(unknown, ".")
		at := n.object.find(name)
		if at < 0 || !deeper || n.object.fields[at].value.element().kind != kindStruct || mask.hides(n.object, at) {
			break
		}
		f := &n.object.fields[at]
		n, prefix, unknown = f.value, prefix+f.name+".", rest
	}
	for i := range n.object.fields {
		if name := n.object.fields[i].name; name != "_computed" && !mask.hides(n.object, i) {
			valid = append(valid, prefix+name)
		}
	}
	return valid, n
}
