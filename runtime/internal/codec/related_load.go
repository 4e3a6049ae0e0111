package codec

import (
	"context"
	"reflect"
	"slices"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/internal/related"
	"github.com/aqltag/aqltag/runtime/internal/wire"
)

// loading is a relation of all resources of one level that is to be loaded.
type loading struct {
	part *branch
	of   []any // the resources, as pointers
	into *relatedColumn
}

// load loads the relations level by level: of each level, what several of them load by the same loader is loaded at
// once.
func (b *relatedBehind) load(
	ctx context.Context, receivers []any, elements []unsafe.Pointer, chosen Behind, mask *Mask,
) (trailer, error) {
	if len(elements) == 0 {
		return nil, nil
	}
	values := new(relatedValues)
	if len(chosen.computed) > 0 {
		var err error
		if values.computed, err = b.other.load(ctx, receivers, elements, chosen, mask); err != nil {
			return nil, err
		}
	}
	if chosen.related == nil {
		return values.computed, nil
	}
	loads, err := b.all.load(ctx)
	if err != nil {
		return nil, err
	}
	of := make([]any, len(elements))
	for i, p := range elements {
		of[i] = reflect.NewAt(b.fields[0].goType, p).Interface()
	}
	loads.Begin(ctx)
	for level := values.add(*chosen.related, of); len(level) > 0; {
		if err := loadLevel(ctx, loads, level); err != nil {
			return nil, err
		}
		var next []*loading
		for _, l := range level {
			next = append(next, l.fill(loads, mask)...)
		}
		level = next
	}
	values.warn = loads.End()
	return values, ctx.Err()
}

// loadLevel calls the loader of each relation of a level once.
func loadLevel(ctx context.Context, loads RelatedLoads, level []*loading) error {
	var done []*related.Relation
	for i, l := range level {
		relation := l.part.field.relation
		if slices.Contains(done, relation) {
			continue
		}
		done = append(done, relation)
		of, named := l.of, l.part.named
		for _, other := range level[i+1:] {
			if other.part.field.relation == relation {
				of, named = append(slices.Clip(of), other.of...), named || other.part.named
			}
		}
		if err := loads.Load(ctx, relation, l.part.path, named, of); err != nil {
			return err
		}
	}
	return nil
}

// fill fills in what was loaded, each resource once, and returns what that is related to.
func (l *loading) fill(loads RelatedLoads, mask *Mask) (next []*loading) {
	c, relation := l.into, l.part.field.relation
	known := make(map[any]int)
	var resources []any
	c.leads = make([][]int, len(l.of))
	for i, of := range l.of {
		for _, resource := range loads.Of(relation, of) {
			at, before := known[resource]
			if !before {
				at = len(resources)
				known[resource] = at
				resources = append(resources, resource)
				c.resources = append(c.resources, reflect.ValueOf(resource).UnsafePointer())
			}
			c.leads[i] = append(c.leads[i], at)
		}
	}
	value := l.part.field.value
	if !l.part.whole {
		c.subset = l.part.subset
	}
	if mask != nil {
		c.subset = c.subset.Within(mask.values[value])
	}
	if l.part.below == nil {
		return nil
	}
	c.below = new(relatedValues)
	c.subset = value.object.part(c.subset)
	c.subset.trailer = c.below
	return c.below.add(l.part.below, resources)
}

// relatedValues is what the resources of a level are related to, and the computed fields of those of the first one.
type relatedValues struct {
	columns  []relatedColumn
	computed trailer // nil: there are none
	next     int     // the resource of which they are to be written
	warn     func(ctx context.Context)
}

// relatedColumn is a relation of all resources of a level.
type relatedColumn struct {
	field     *relatedField
	keys      []any            // their keys; nil for one that leads nowhere
	leads     [][]int          // for each resource of the level, the places in resources to which it leads
	resources []unsafe.Pointer // each once
	subset    *Subset          // what is written of each
	below     *relatedValues   // what they are related to; nil: nothing is selected
}

// add adds the relations of the resources of a level, and returns what is to be loaded for that.
func (v *relatedValues) add(parts branches, of []any) []*loading {
	v.columns = make([]relatedColumn, len(parts))
	level := make([]*loading, len(parts))
	for i, part := range parts {
		c := &v.columns[i]
		c.field, c.keys = part.field, keysOf(part.field, of)
		level[i] = &loading{part: part, of: of, into: c}
	}
	return level
}

func keysOf(f *relatedField, of []any) []any {
	keys := make([]any, len(of))
	for i := range of {
		keys[i], _ = f.relation.Key(of[i])
	}
	return keys
}

// isOf reports whether resources have the keys with which the relations were loaded, also where these are behind
// pointers.
func (v *relatedValues) isOf(elements []unsafe.Pointer) bool {
	for i := range v.columns {
		c := &v.columns[i]
		of := make([]any, len(elements))
		for k, p := range elements {
			of[k] = reflect.NewAt(c.field.goType, p).Interface()
		}
		if !slices.Equal(c.keys, keysOf(c.field, of)) {
			return false
		}
	}
	return true
}

func (v *relatedValues) addWarnings(ctx context.Context) { v.warn(ctx) }

func (v *relatedValues) compute(computed trailer) { v.computed = computed }

func (v *relatedValues) writeNext(w *wire.Writer, first bool) {
	for i := range v.columns {
		c := &v.columns[i]
		w.Field(c.field.key, first)
		first = false
		c.write(w, c.leads[v.next])
	}
	if v.computed != nil {
		v.computed.writeNext(w, first)
	}
	v.next++
}

// write writes the resources to which one leads.
func (c *relatedColumn) write(w *wire.Writer, leads []int) {
	if w.TooDeep() {
		w.Null()
		return
	}
	if !c.field.relation.Definition.Many {
		if len(leads) == 0 {
			w.Null()
			return
		}
		c.writeResource(w, leads[0])
		return
	}
	w.BeginArray()
	for _, at := range leads {
		if w.Element(); w.Err() != nil {
			break
		}
		c.writeResource(w, at)
	}
	w.EndArray()
}

func (c *relatedColumn) writeResource(w *wire.Writer, at int) {
	if c.below != nil {
		c.below.next = at
	}
	c.field.value.writeSelected(w, c.resources[at], c.subset)
}
