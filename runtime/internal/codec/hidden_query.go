package codec

import (
	"slices"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Hide returns how the requests are decoded of callers from whom a mask keeps fields: as if the elements had none of
// these. What would name one, as a condition, an order or a summary, is answered as a name that does not exist.
func (q *Query) Hide(request *Request, mask *Mask) *Request {
	hides := func(name string) bool { return q.Hides(mask, name) }
	every := func(string) bool { return true }
	object, dropped := request.object.only(every), ""
	for _, p := range q.params {
		f := &object.fields[p.index]
		value := *f.value
		switch p.name {
		case "filter":
			if conditions, ok := value.filter.(*filterReader); ok {
				value.filter = conditions.without(hides)
			}
		case "sort":
			if value.object = value.object.naming(hides, []string{"field"}); value.object.index.find("field") < 0 {
				dropped = p.name
			}
		case "aggregate":
			element := *value.elem
			element.object = element.object.naming(hides, append(q.Functions(nil), gen.GroupBy))
			value.elem = &element
		default:
			continue
		}
		f.value = &value
		if f.defaultValue != nil {
			f.defaultValue, _ = newDefault(&value, f.defaultValue.goType, f.defaultValue.text) // nil: it names a hidden field
		}
	}
	hidden := *request
	hidden.object = object.only(func(name string) bool { return name != dropped })
	return &hidden
}

// only returns a decoder that can be changed, of structs with the fields that keep reports. Their indexes stay.
func (o *structDecoder) only(keep func(name string) bool) *structDecoder {
	loses := func(name string) bool { return !keep(name) }
	some := *o
	some.fields, some.index = slices.Clone(o.fields), nameIndex{}
	for i := range some.fields {
		if f := &some.fields[i]; loses(f.name) {
			f.key = ""
		}
	}
	for _, s := range o.index.slots {
		if s.used && keep(o.fields[s.field].name) {
			some.index.add(s.name, s.field)
		}
	}
	some.names = slices.DeleteFunc(slices.Clone(o.names), loses)
	some.updatable = slices.DeleteFunc(slices.Clone(o.updatable), loses)
	some.requiredOrDefault = slices.DeleteFunc(slices.Clone(o.requiredOrDefault), func(i int) bool {
		f := &some.fields[i]
		return loses(f.name) || !f.required && f.defaultValue == nil
	})
	return &some
}

// naming returns a decoder of structs whose members with these names are names of fields, of which hides reports those
// that there are not. A member that can name none is dropped.
func (o *structDecoder) naming(hides func(name string) bool, members []string) *structDecoder {
	some := o.only(func(string) bool { return true })
	empty := make(map[string]bool)
	for i := range some.fields {
		f := &some.fields[i]
		if !slices.Contains(members, f.name) || f.value.constraints == nil || f.value.constraints.enum == nil {
			continue
		}
		value, limits := *f.value, *f.value.constraints
		limits.enum = slices.DeleteFunc(slices.Clone(limits.enum), hides)
		value.constraints, f.value = &limits, &value
		empty[f.name] = len(limits.enum) == 0
	}
	return some.only(func(name string) bool { return !empty[name] })
}

// without returns a reader of filters that has no conditions on the fields which hides reports.
func (f *filterReader) without(hides func(name string) bool) *filterReader {
	left := &filterReader{compare: f.compare}
	left.names = slices.DeleteFunc(slices.Clone(f.names), hides)
	for _, s := range f.index.slots {
		if s.used && !hides(f.compare[s.field].field.Name) {
			left.index.add(s.name, s.field)
		}
	}
	return left
}
