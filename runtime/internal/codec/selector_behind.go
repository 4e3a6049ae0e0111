package codec

import (
	"bytes"
	"context"
	"reflect"
	"slices"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// behind is what results may have behind the fields of a struct, and only where a request asks for it.
type behind interface {
	// reach finds out where a path leads.
	reach(path string, mask *Mask) reach
	// visible returns paths to what is behind the fields and not hidden.
	visible(mask *Mask) []string
	// valid returns the paths of the object behind the fields in which an unknown path ends; nil: it ends in none.
	valid(unknown string, mask *Mask) []string
	// choose returns what presets and paths name of it, and a mask does not hide.
	choose(presets, paths []string, mask *Mask) Behind
	// receivers returns the places of the receivers that are needed for what is chosen.
	receivers(chosen Behind) []int
	// load makes the values of the elements of a result.
	load(ctx context.Context, receivers []any, elements []unsafe.Pointer, chosen Behind, mask *Mask) (trailer, error)
}

// reach is where a path leads.
type reach uint8

const (
	nowhere reach = iota
	tooFar        // through more relations than a path may have
	reached
)

// masker adds to a mask what it hides behind the fields of a struct.
type masker interface{ mask(m *Mask) }

// Behind is what a request selects behind the fields of resources.
type Behind struct {
	computed []int // computed fields, in their order
	related  *branches
}

// IsEmpty reports whether it is nothing.
func (b Behind) IsEmpty() bool { return len(b.computed) == 0 && b.related == nil }

// HasRelations reports whether relations are selected.
func (b Behind) HasRelations() bool { return b.related != nil }

// trailer writes what stands behind the fields of elements, of one after the other.
type trailer interface {
	writeNext(w *wire.Writer, first bool)
}

// reachBehind finds out where a path leads behind the fields of the resource.
func (s *Selector) reachBehind(path string, mask *Mask) reach {
	if s.behind == nil {
		return nowhere
	}
	return s.behind.reach(path, mask)
}

// chooseBehind chooses what presets and paths name of what is behind the fields.
func (s *Selector) chooseBehind(chosen *Chosen, request unsafe.Pointer, presets, paths []string, mask *Mask) {
	if len(presets) == 0 && len(paths) == 0 {
		presets = []string{s.defaultPreset}
	}
	for _, path := range paths {
		if s.reachBehind(path, mask) == tooFar {
			chosen.TooFar = path
			return
		}
	}
	chosen.Behind = s.behind.choose(presets, paths, mask)
	if chosen.Behind.related != nil && len(paths) > 0 {
		selection := (*Selection)(s.selection.address(request))
		selection.Paths = append(slices.Clip(paths), chosen.Behind.related.keys()...)
	}
}

// inPreset reports whether what belongs to presets belongs to one with a name. What belongs to minimal belongs to
// standard too.
func inPreset(presets []string, name string) bool {
	return slices.Contains(presets, name) || name == presetStandard && slices.Contains(presets, presetMinimal)
}

// Receivers returns the places of the receivers that are needed for what is behind the fields.
func (s *Selector) Receivers(chosen Behind) []int { return s.behind.receivers(chosen) }

// Loaded is what stands behind the fields of the resources in one result.
type Loaded struct {
	selector *Selector
	elements []unsafe.Pointer
	computes bool          // computed fields are among it
	copies   reflect.Value // where it computes: a slice of the resources as they were, once Keep was called
	trailer  trailer       // nil: there are no resources
}

// Load makes what stands behind the fields of the resources in a result: of a page for all of them at once. Where it
// fails, nothing was loaded.
func (s *Selector) Load(
	ctx context.Context, receivers []any, result any, chosen Behind, mask *Mask,
) (*Loaded, error) {
	l := &Loaded{selector: s, elements: s.elements(result), computes: len(chosen.computed) > 0}
	var err error
	if l.trailer, err = s.behind.load(ctx, receivers, l.elements, chosen, mask); err != nil {
		return nil, err
	}
	return l, nil
}

// trailerOfKeys is a trailer that depends on nothing of the resources but keys, besides the computed fields.
type trailerOfKeys interface {
	// isOf reports whether resources have the keys with which it was loaded.
	isOf(elements []unsafe.Pointer) bool
	// compute sets the computed fields.
	compute(computed trailer)
	// addWarnings adds the warnings of what was loaded.
	addWarnings(ctx context.Context)
}

// LoadAgain is Load for a result that is not the one of which before was made; nil: nothing was loaded before.
// Relations are those that were loaded, where the resources have the same keys.
func (s *Selector) LoadAgain(
	ctx context.Context, receivers []any, before *Loaded, result any, chosen Behind, mask *Mask,
) (*Loaded, error) {
	if before == nil || !before.hasKeysOf(s.elements(result)) {
		return s.Load(ctx, receivers, result, chosen, mask)
	}
	related, ok := before.trailer.(trailerOfKeys)
	if !ok {
		return s.Load(ctx, receivers, result, chosen, mask)
	}
	chosen.related = nil
	l, err := s.Load(ctx, receivers, result, chosen, mask)
	if err != nil {
		return nil, err
	}
	related.compute(l.trailer)
	l.trailer = before.trailer
	return l, nil
}

// Keep remembers what the resources are, for IsOf. Their copies also keep alive what they point to, so that nothing
// else can come to be at its place.
func (l *Loaded) Keep() {
	if !l.computes {
		return
	}
	t := l.selector.resource.goType
	l.copies = reflect.MakeSlice(reflect.SliceOf(t), len(l.elements), len(l.elements))
	for i, p := range l.elements {
		l.copies.Index(i).Set(reflect.NewAt(t, p).Elem())
	}
}

// IsOf reports whether l is what stands behind the fields of a result. An interceptor may return another result than
// the handler did, or change that. For computed fields, the resources are compared with what they were when Keep was
// called, though not what they point to; for relations, their keys are.
func (l *Loaded) IsOf(result any) bool {
	now := l.selector.elements(result)
	if !l.hasKeysOf(now) {
		return false
	}
	if !l.computes {
		return true
	}
	size := l.selector.resource.size
	for i, p := range now {
		was := l.copies.Index(i).Addr().UnsafePointer()
		if !bytes.Equal(unsafe.Slice((*byte)(was), size), unsafe.Slice((*byte)(p), size)) {
			return false
		}
	}
	return true
}

// hasKeysOf reports whether resources are as many as those of which l was made, and have their keys.
func (l *Loaded) hasKeysOf(now []unsafe.Pointer) bool {
	if len(now) != len(l.elements) {
		return false
	}
	related, ok := l.trailer.(trailerOfKeys)
	return !ok || related.isOf(now)
}

// Warn adds the warnings of what was loaded to the request of ctx. Those of what an interceptor has taken away would
// tell of it.
func (l *Loaded) Warn(ctx context.Context) {
	if related, ok := l.trailer.(trailerOfKeys); ok {
		related.addWarnings(ctx)
	}
}

// Into returns subset with what was loaded, of the result of which it was.
func (l *Loaded) Into(subset *Subset) *Subset {
	s := l.selector
	if l.trailer == nil {
		return subset
	}
	if s.collection == nil {
		return l.behind(subset, s.resource.object)
	}
	outer := s.collection.part(subset)
	if at, found := outer.findField(s.items); found { // or a mask hides them
		outer.fields[at].subset = l.behind(outer.fields[at].subset, s.resource.object)
	}
	return outer
}

// behind returns a part of the resource with what was loaded.
func (l *Loaded) behind(subset *Subset, resource *structEncoder) *Subset {
	part := resource.part(subset)
	part.trailer = l.trailer
	return part
}

// part returns a copy of a part of a struct that lists its fields.
func (c *structEncoder) part(subset *Subset) *Subset {
	if subset != nil && !subset.whole {
		return &Subset{fields: slices.Clone(subset.fields)}
	}
	part := &Subset{fields: make([]fieldSubset, len(c.fields))}
	for i := range c.fields {
		part.fields[i] = fieldSubset{i, &Subset{whole: true}}
	}
	return part
}

// elements returns the places of the resources in a result, in the order in which Result.Write writes them.
func (s *Selector) elements(result any) (places []unsafe.Pointer) {
	v := reflect.ValueOf(result)
	if !v.IsValid() || v.Type() != s.result.goType {
		return nil // which Write reports
	}
	holder := reflect.New(v.Type())
	holder.Elem().Set(v)
	add := func(p unsafe.Pointer) { places = append(places, p) }
	if s.collection == nil {
		s.result.each(holder.UnsafePointer(), add)
		return places
	}
	s.result.each(holder.UnsafePointer(), func(p unsafe.Pointer) {
		items := &s.collection.fields[s.items]
		if list := items.address(p); list != nil {
			items.value.each(list, add)
		}
	})
	return places
}

// each calls yield with the places of the structs in the value at p, in the order in which they are written.
func (n *encoder) each(p unsafe.Pointer, yield func(p unsafe.Pointer)) {
	switch n.kind {
	case kindStruct:
		yield(p)
	case kindPointer:
		if p = *(*unsafe.Pointer)(p); p != nil {
			n.elem.each(p, yield)
		}
	case kindSlice:
		list := (*sliceHeader)(p)
		for i := range list.len {
			n.elem.each(unsafe.Add(list.data, uintptr(i)*n.elem.size), yield)
		}
	case kindArray:
		for i := range n.length {
			n.elem.each(unsafe.Add(p, uintptr(i)*n.elem.size), yield)
		}
	case kindOptional:
		if *(*Presence)(p) == Present {
			n.elem.each(unsafe.Add(p, n.offset), yield)
		}
	case kindSQLNull:
		if *(*bool)(unsafe.Add(p, n.offset)) {
			n.elem.each(p, yield)
		}
	}
}
