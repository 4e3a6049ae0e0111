package codec

import (
	"bytes"
	"context"
	"reflect"
	"slices"
	"unsafe"
)

// isBehind reports whether a path leads to something behind the fields of the resource.
func (s *Selector) isBehind(path string) bool {
	return s.behind != nil && s.behind.find(path) >= 0
}

// visibleBehind returns the paths to what is behind the fields and not hidden.
func (s *Selector) visibleBehind(mask *Mask) (paths []string) {
	for i := 0; ; i++ {
		path, ok := s.behind.path(i)
		if !ok {
			return paths
		}
		if !s.behind.hidden(mask, i) {
			paths = append(paths, path)
		}
	}
}

// chooseBehind returns what presets and paths name of what is behind the fields, and a mask does not hide.
func (s *Selector) chooseBehind(presets, paths []string, mask *Mask) (chosen []int) {
	if len(presets) == 0 && len(paths) == 0 {
		presets = []string{s.defaultPreset}
	}
	for _, name := range presets {
		chosen = append(chosen, s.behind.preset(name)...)
	}
	for _, path := range paths {
		if i := s.behind.find(path); i >= 0 {
			chosen = append(chosen, i)
		}
	}
	chosen = slices.DeleteFunc(chosen, func(i int) bool { return s.behind.hidden(mask, i) })
	slices.Sort(chosen)
	return slices.Compact(chosen)
}

// Receivers returns the places of the receivers that are needed for what is behind the fields.
func (s *Selector) Receivers(chosen []int) []int { return s.behind.receivers(chosen) }

// Loaded is what stands behind the fields of the resources in one result.
type Loaded struct {
	selector *Selector
	elements []unsafe.Pointer
	copies   reflect.Value // a slice of the resources as they were, once Keep was called
	trailer  trailer       // nil: there are no resources
}

// Load makes what stands behind the fields of the resources in a result: of a page for all of them at once. Where it
// fails, nothing was loaded.
func (s *Selector) Load(
	ctx context.Context, receivers []any, result any, chosen []int, mask *Mask,
) (*Loaded, error) {
	l := &Loaded{selector: s, elements: s.elements(result)}
	var err error
	if l.trailer, err = s.behind.load(ctx, receivers, l.elements, chosen, mask); err != nil {
		return nil, err
	}
	return l, nil
}

// Keep remembers what the resources are, for IsOf. Their copies also keep alive what they point to, so that nothing
// else can come to be at its place.
func (l *Loaded) Keep() {
	t := l.selector.resource.goType
	l.copies = reflect.MakeSlice(reflect.SliceOf(t), len(l.elements), len(l.elements))
	for i, p := range l.elements {
		l.copies.Index(i).Set(reflect.NewAt(t, p).Elem())
	}
}

// IsOf reports whether a result has the resources of which l was made, as they were when Keep was called. An
// interceptor may return another result than the handler did, or change that. What resources point to is not compared.
func (l *Loaded) IsOf(result any) bool {
	now := l.selector.elements(result)
	if len(now) != len(l.elements) {
		return false
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
