package codec

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/related"
)

// Related are the relations that requests can select, and what loads them.
type Related struct {
	set  *Set
	of   map[*structEncoder]*relatedFields
	load func(ctx context.Context) (RelatedLoads, error)
}

// RelatedLoads are the loads of one result.
type RelatedLoads interface {
	// Begin is called before the first load, with the context of all of them.
	Begin(ctx context.Context)
	// Load loads a relation of resources, which a request selects at a path, in one call for all of them. named reports
	// whether the request has the path, or one that goes on from there: otherwise only a preset has it.
	Load(ctx context.Context, r *related.Relation, path string, named bool, resources []any) error
	// Of returns the resources to which a relation of a resource leads. They were loaded.
	Of(r *related.Relation, resource any) []any
	// End is called behind the last load, unless one failed. It returns what adds the warnings of the loads to the
	// request, once their result is what the request gets.
	End() (warn func(ctx context.Context))
}

// AddRelated makes the relations that are added to what it returns part of what requests can select. load returns the
// loads of a request. Only the loaders of generated code lead to it, so that an adapter without relations does not link
// it.
func (s *Set) AddRelated(load func(ctx context.Context) (RelatedLoads, error)) *Related {
	r := &Related{set: s, of: make(map[*structEncoder]*relatedFields), load: load}
	s.related = r
	return r
}

// Add compiles a relation between values of Go types.
func (r *Related) Add(relation *related.Relation, of, target reflect.Type) error {
	d := &relation.Definition
	object, err := r.set.structEncoder(of, d.Of)
	if err != nil {
		return err
	}
	fields := r.of[object]
	if fields == nil {
		fields = &relatedFields{all: r, of: d.Of}
		r.of[object] = fields
		object.behind = append(object.behind, fields)
	}
	field := relatedField{relation: relation, key: fieldKey(d.Name), goType: of}
	if field.value, err = r.set.encoder(target, &gen.Param{Type: d.Target}); err != nil {
		return err
	}
	if field.value.kind != kindStruct {
		return fmt.Errorf("%s is no object; the generated code is out of date", target)
	}
	fields.fields = append(fields.fields, field)
	return nil
}

// Keep leaves out the relations that keep does not report. It is called before the first request.
func (r *Related) Keep(keep func(of, name string) bool) {
	for _, fields := range r.of {
		fields.fields = slices.DeleteFunc(fields.fields, func(f relatedField) bool {
			return !keep(fields.of, f.relation.Definition.Name)
		})
	}
}

// relatedSet is what a Set knows of Related, which adapters without relations do not link.
type relatedSet interface {
	// behind returns what is behind the fields of a resource that has something else there; nil: it has not.
	behind(resource *structEncoder, other behind) behind
	// hasOtherNames reports whether paths may have such names in what a resource is related to. seen are the resources
	// that were looked at.
	hasOtherNames(resource *structEncoder, seen map[*structEncoder]bool) bool
}

func (r *Related) behind(resource *structEncoder, other behind) behind {
	if fields := r.of[resource]; fields != nil {
		return &relatedBehind{fields, other}
	}
	return other
}

func (r *Related) hasOtherNames(resource *structEncoder, seen map[*structEncoder]bool) bool {
	fields := r.of[resource]
	if fields == nil || seen[resource] {
		return false
	}
	seen[resource] = true
	return slices.ContainsFunc(fields.fields, func(f relatedField) bool {
		return f.value.hasOtherNames(make(map[*structEncoder]bool)) || r.hasOtherNames(f.value.object, seen)
	})
}

// relatedFields are the relations of a struct.
type relatedFields struct {
	all    *Related
	of     string // the wire type
	fields []relatedField
}

// relatedField is a relation as a field of a result.
type relatedField struct {
	relation *related.Relation
	key      string       // the name with a comma, quotes and a colon
	goType   reflect.Type // of the resources that have it
	value    *encoder     // of those to which it leads
}

// find returns the index of the relation with a name that a mask does not hide, -1 if there is none.
func (c *relatedFields) find(name string, mask *Mask) int {
	if c == nil {
		return -1
	}
	return slices.IndexFunc(c.fields, func(f relatedField) bool {
		return f.relation.Definition.Name == name && !mask.Hides(c.of, name)
	})
}

// below returns the relations of what a relation leads to; nil: it has none.
func (c *relatedFields) below(f *relatedField) *relatedFields { return c.all.of[f.value.object] }

func (c *relatedFields) mask(m *Mask) {
	for i := range c.fields {
		f := &c.fields[i]
		if name := f.relation.Definition.Name; m.hidden(c.of, name) {
			m.found[c.of+"."+name] = true
		}
		m.values[f.value] = m.of(f.value)
	}
}

// reach finds out where a path leads. used is the number of relations in front of it.
func (c *relatedFields) reach(path string, mask *Mask, used int) reach {
	name, rest, deeper := strings.Cut(path, ".")
	i := c.find(name, mask)
	switch {
	case i < 0:
		return nowhere
	case used == gen.MaxRelations:
		return tooFar
	case !deeper:
		return reached
	}
	f := &c.fields[i]
	if found := c.below(f).reach(rest, mask, used+1); found != nowhere {
		return found
	}
	if f.value.reaches(rest) && !mask.hidesPath(f.value, rest) {
		return reached
	}
	return nowhere
}

// visible returns the names of the relations that a mask does not hide, behind a prefix.
func (c *relatedFields) visible(prefix string, mask *Mask) (paths []string) {
	if c == nil {
		return nil
	}
	for i := range c.fields {
		if name := c.fields[i].relation.Definition.Name; !mask.Hides(c.of, name) {
			paths = append(paths, prefix+name)
		}
	}
	return paths
}

// valid returns the paths of the object in which an unknown path ends, where that begins with a relation.
func (c *relatedFields) valid(unknown, prefix string, mask *Mask, used int) []string {
	name, rest, deeper := strings.Cut(unknown, ".")
	i := c.find(name, mask)
	if i < 0 || !deeper {
		return nil
	}
	f := &c.fields[i]
	prefix += name + "."
	below := c.below(f)
	if paths := below.valid(rest, prefix, mask, used+1); paths != nil {
		return paths
	}
	paths, at := f.value.validPaths(prefix, rest, mask)
	if at == f.value && used+1 < gen.MaxRelations {
		paths = append(paths, below.visible(prefix, mask)...)
	}
	return paths
}

// relatedBehind is what is behind the fields of a resource that has relations.
type relatedBehind struct {
	*relatedFields
	other behind // nil: nothing
}

func (b *relatedBehind) reach(path string, mask *Mask) reach {
	if found := b.relatedFields.reach(path, mask, 0); found != nowhere || b.other == nil {
		return found
	}
	return b.other.reach(path, mask)
}

func (b *relatedBehind) visible(mask *Mask) []string {
	paths := b.relatedFields.visible("", mask)
	if b.other != nil {
		paths = append(paths, b.other.visible(mask)...)
	}
	return paths
}

func (b *relatedBehind) valid(unknown string, mask *Mask) []string {
	return b.relatedFields.valid(unknown, "", mask, 0)
}

func (b *relatedBehind) receivers(chosen Behind) []int {
	if b.other == nil {
		return nil
	}
	return b.other.receivers(chosen)
}

func (b *relatedBehind) choose(presets, paths []string, mask *Mask) (chosen Behind) {
	if b.other != nil {
		chosen = b.other.choose(presets, paths, mask)
	}
	var all branches
	for i := range b.fields {
		d := &b.fields[i].relation.Definition
		asked := slices.ContainsFunc(presets, func(name string) bool { return inPreset(d.Presets, name) })
		if asked && !mask.Hides(b.of, d.Name) {
			all.at(b.relatedFields, i, d.Name).whole = true
		}
	}
	for _, path := range paths {
		if b.relatedFields.reach(path, mask, 0) == reached {
			all.choose(b.relatedFields, path, "", mask)
		}
	}
	if all != nil {
		chosen.related = &all
	}
	return chosen
}

// branches are the relations that a request selects of a resource, in their order.
type branches []*branch

// branch is a relation that a request selects, and what of the resources to which it leads.
type branch struct {
	index  int // among those of the resource
	field  *relatedField
	path   string
	named  bool // by a path of the request, and not only by a preset
	whole  bool
	subset *Subset // where whole is not set
	below  branches
}

// at returns the branch of a relation. It adds one if there is none.
func (b *branches) at(fields *relatedFields, index int, path string) *branch {
	at, found := slices.BinarySearchFunc(*b, index, func(known *branch, index int) int { return known.index - index })
	if !found {
		*b = slices.Insert(*b, at, &branch{index: index, field: &fields.fields[index], path: path, subset: new(Subset)})
	}
	return (*b)[at]
}

// choose adds a path that leads to something behind prefix.
func (b *branches) choose(fields *relatedFields, path, prefix string, mask *Mask) {
	name, rest, deeper := strings.Cut(path, ".")
	index := fields.find(name, mask)
	part := b.at(fields, index, prefix+name)
	part.named = true
	switch below := fields.below(part.field); {
	case !deeper:
		part.whole = true
	case below.find(firstOf(rest), mask) >= 0:
		part.below.choose(below, rest, part.path+".", mask)
	default:
		part.field.value.choose(part.subset, rest)
	}
}

func firstOf(path string) string {
	name, _, _ := strings.Cut(path, ".")
	return name
}

// keys returns the names of the fields that have the keys of the relations.
func (b branches) keys() (names []string) {
	for _, part := range b {
		if by := part.field.relation.Definition.By; by != "" {
			names = append(names, by)
		}
	}
	return names
}
