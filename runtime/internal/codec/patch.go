package codec

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// Patch is the part of aql.Patch[T] that does not depend on T.
type Patch struct {
	raw     string
	target  *decoder // of T
	changes *changes // nil where T is not a struct
}

// Raw returns the JSON text of the patch. It is empty if no request has set the patch.
func (p *Patch) Raw() string { return p.raw }

// Merge merges the patch into the resource to which resource points, without reading its text again. It returns
// false, and leaves the resource unchanged, where the patch does not fit the resource, where T is not a struct, and
// after the first call. MergeFrom serves in all of these cases.
func (p *Patch) Merge(resource unsafe.Pointer) bool {
	c := p.changes
	if c == nil || !c.applied.CompareAndSwap(false, true) {
		return false
	}
	if !c.mayFail {
		_, ok := c.apply(c.list, resource)
		return ok
	}
	whole := copied(p.target.goType, resource)
	_, ok := c.apply(c.list, whole)
	if ok {
		p.target.move(resource, whole)
	}
	return ok
}

// MergeFrom merges the next value of r into the resource to which resource points. What the resource lacks is checked
// as in a request that creates it. Where the value does not fit, MergeFrom returns false, leaves the resource unchanged
// and reports the problems to r.
func (p *Patch) MergeFrom(r *wire.Reader, resource unsafe.Pointer) bool {
	if p.target.kind == kindMessage {
		return p.target.mergeMessage(r, resource, applying)
	}
	whole := copied(p.target.goType, resource)
	p.target.merge(r, whole, applying)
	if !r.OK() {
		return false
	}
	p.target.move(resource, whole)
	return true
}

var patchType = reflect.TypeFor[Patch]()

// isPatch recognises aql.Patch[T], which has an empty array of *T and a Patch.
func isPatch(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() == 2 && t.Field(0).Type.Kind() == reflect.Array &&
		t.Field(1).Type == patchType
}

func (s *Set) patchDecoder(n *decoder, t reflect.Type, p *gen.Param) error {
	n.kind, n.expected, n.offset = kindPatch, "object", t.Field(1).Offset
	wireType := s.types[p.Type]
	if wireType == nil || wireType.Changes == "" {
		return fmt.Errorf("the definition says %s, but the Go type is %s; the generated code is out of date", p.Type, t)
	}
	var err error
	n.elem, err = s.decoder(t.Field(0).Type.Elem().Elem(), &gen.Param{Type: wireType.Changes})
	return err
}

// readPatch validates a patch by merging it onto a zero resource, and records the changes that this makes.
func (n *decoder) readPatch(r *wire.Reader, p unsafe.Pointer) {
	scratch := reflect.New(n.elem.goType).UnsafePointer()
	r.Kind() // moves to the value
	start := r.Offset()
	var recorded *changes
	r.Preserve(true)
	if n.elem.kind == kindStruct {
		recorded = &changes{start: start}
		n.elem.object.merge(r, scratch, recorded, validating)
	} else {
		n.elem.merge(r, scratch, validating)
	}
	r.Preserve(false)
	if !r.OK() {
		return
	}
	raw := r.RetainText(start, r.Offset())
	if recorded != nil {
		recorded.raw = raw
	}
	*(*Patch)(unsafe.Add(p, n.offset)) = Patch{raw, n.elem, recorded}
}
