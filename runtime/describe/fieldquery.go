package describe

import (
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/words"
)

// FieldsQuery is the query of introspect that shows single fields of an operation. Adapters with many types answer it:
// where a request needs many, they would be long to read one after the other (MCP-AQL introspection §8.3).
const FieldsQuery = "fields"

// fieldName is the parameter of introspect that names the field.
const fieldName = "field"

// returnsRoot begins the paths of fields of a result.
const returnsRoot = "returns"

const (
	manyTypes     = 50  // adapters with more types answer FieldsQuery
	largeRequest  = 20  // the details of an operation mention it whose request has more types
	fieldsBudget  = 600 // bytes of the fields in an answer, except for the only one that was found
	summaryLength = 100 // bytes of a description among several
	longestField  = 200 // bytes of a field's name or path
	mostIndirect  = 16  // arrays and maps, in each other, inside which fields are found
)

// fieldsNote is in the details of operations with large requests.
const fieldsNote = "To see what one field of this request takes, introspect with query 'fields', this name, and field"

// ShowsFields reports whether an adapter answers FieldsQuery.
func ShowsFields(a *gen.Definitions) bool { return len(a.Types) > manyTypes }

// fieldsAnswer is the data of FieldsQuery. Fields is null for an unknown operation.
type fieldsAnswer struct {
	Fields []parameterInfo `json:"fields"`
	More   int             `json:"more,omitempty"` // were found, too
}

// Fields returns the answer to FieldsQuery for an operation: the fields of its request with a name or, after others, at
// a path. A path that begins with "returns" is one of its result. A field that is the only one found comes with the
// fields inside it. Where there is none, the answer has those with similar names; where field is empty, those of the
// whole request, its parameters first.
func (i *Introspection) Fields(operation, field string) []byte {
	var answer fieldsAnswer
	if o := i.finder.operations[operation]; o != nil {
		answer = i.finder.answer(o, field)
	}
	return render(success{Success: true, Data: answer})
}

// finder finds fields.
type finder struct {
	operations map[string]*gen.Operation
	types      map[string]*gen.Type
}

// place is a field of a request or of a result. Its path leads there from the root; [] and {} follow arrays and maps
// on the way.
type place struct {
	path  string
	field *gen.Param
}

func (f *finder) answer(o *gen.Operation, field string) fieldsAnswer {
	segments := segmentsOf(field)
	if len(segments) == 0 {
		places, _ := f.everyField(o)
		return shown(nil, places, outlined)
	}
	if len(field) > longestField {
		return fieldsAnswer{Fields: []parameterInfo{}}
	}
	found := f.find(o, segments)
	if len(found) == 1 {
		only := parameterInfoOf(found[0].field)
		only.Name = found[0].path
		return shown([]parameterInfo{only}, f.within(found[0]), summarized)
	}
	if found == nil {
		found = f.similar(o, segments[len(segments)-1])
	}
	return shown(nil, found, summarized)
}

// shown returns an answer with the first fields and with as many places as the budget allows.
func shown(first []parameterInfo, places []place, info func(place) parameterInfo) fieldsAnswer {
	answer := fieldsAnswer{Fields: append(make([]parameterInfo, 0, len(first)), first...)}
	left := fieldsBudget
	for i, p := range places {
		field := info(p)
		left -= len(render(field)) + 1
		if left < 0 && len(answer.Fields) > 0 {
			answer.More = len(places) - i
			break
		}
		answer.Fields = append(answer.Fields, field)
	}
	return answer
}

// outlined returns a field without what it takes.
func outlined(p place) parameterInfo {
	info := parameterInfo{Name: p.path, Type: p.field.Type, Required: &p.field.Required}
	if p.field.Items != nil {
		info.Items = &parameterInfo{Type: p.field.Items.Type}
	}
	return info
}

// summarized returns a field with the beginning of its description.
func summarized(p place) parameterInfo {
	field := *p.field
	field.Description = words.Clip(words.FirstSentence(field.Description), summaryLength)
	info := parameterInfoOf(&field)
	info.Name = p.path
	return info
}

// everyField returns the fields of a request, its parameters first, and how many types they have. The fields of a type
// are there once, at its first place.
func (f *finder) everyField(o *gen.Operation) (places []place, types int) {
	for i := range o.Params {
		places = append(places, place{o.Params[i].Name, &o.Params[i]})
	}
	seen := make(map[*gen.Type]bool)
	for i := 0; i < len(places); i++ {
		marks, objects := f.inside(places[i].field)
		for _, t := range objects {
			if !seen[t] {
				seen[t] = true
				places = append(places, fieldsOf(places[i].path+marks, t)...)
			}
		}
	}
	return places, len(seen)
}

// large reports whether a request has so many types that reading them one by one is long.
func (f *finder) large(o *gen.Operation) bool {
	_, types := f.everyField(o)
	return types > largeRequest
}

// inside returns the types of the objects in a value of a field's type: one, or the members of a union. marks are those
// of the arrays and maps around them.
func (f *finder) inside(p *gen.Param) (marks string, objects []*gen.Type) {
	for range mostIndirect {
		t := f.types[p.Type]
		switch {
		case p.Type == "array" && p.Items != nil:
			marks, p = marks+"[]", p.Items
		case p.Type == "object" && p.Items != nil:
			marks, p = marks+"{}", p.Items
		case t == nil:
			return marks, nil
		case t.Items != nil:
			marks, p = marks+"{}", t.Items
		case t.Kind == gen.KindUnion:
			for _, member := range t.Members {
				if m := f.types[member]; m != nil && m.Kind == gen.KindObject {
					objects = append(objects, m)
				}
			}
			return marks, objects
		default:
			return marks, []*gen.Type{t}
		}
	}
	return marks, nil
}

// within returns the fields inside a field.
func (f *finder) within(p place) []place {
	marks, objects := f.inside(p.field)
	var places []place
	for _, t := range objects {
		places = append(places, fieldsOf(p.path+marks, t)...)
	}
	return places
}

func fieldsOf(path string, t *gen.Type) []place {
	fields := writtenFields(t)
	places := make([]place, 0, len(fields))
	for i := range fields {
		places = append(places, place{path + "." + fields[i].Name, &fields[i]})
	}
	return places
}

// find returns the fields at a path from the root or, if there is none, at the end of which is the path.
func (f *finder) find(o *gen.Operation, segments []string) []place {
	var found []place
	everywhere, _ := f.everyField(o)
	if len(segments) > 1 {
		for _, p := range everywhere[:len(o.Params)] {
			found = append(found, f.walk(p, segments)...)
		}
	}
	if _, own := o.Param(returnsRoot); !own && segments[0] == returnsRoot {
		found = append(found, f.walk(place{returnsRoot, &gen.Param{Name: returnsRoot, Type: o.Returns.Name}}, segments)...)
	}
	if found != nil {
		return found
	}
	for _, p := range everywhere {
		found = append(found, f.walk(p, segments)...)
	}
	return found
}

// walk returns the fields at a path whose first segment is the name of the field at start. After a map, a segment may
// be one of its keys.
func (f *finder) walk(start place, segments []string) []place {
	if !sameName(start.field.Name, segments[0]) {
		return nil
	}
	type step struct {
		place
		key bool // the last segment is one of a map
	}
	steps := []step{{place: start}}
	for _, segment := range segments[1:] {
		var next []step
		reached := make(map[step]bool) // by several members of unions
		add := func(s step) {
			if !reached[s] {
				reached[s] = true
				next = append(next, s)
			}
		}
		for _, at := range steps {
			for _, inner := range f.within(at.place) {
				if sameName(inner.field.Name, segment) {
					add(step{place: inner})
				}
			}
			if marks, _ := f.inside(at.field); strings.Contains(marks, "{}") && !at.key {
				add(step{at.place, true})
			}
		}
		steps = next
	}
	var named, keys []place
	for _, at := range steps {
		if at.key {
			keys = append(keys, at.place)
		} else {
			named = append(named, at.place)
		}
	}
	if named == nil {
		return keys
	}
	return named
}

// similar returns the fields whose names contain a name or are spelt nearly like it.
func (f *finder) similar(o *gen.Operation, name string) []place {
	places, _ := f.everyField(o)
	name = simplified(name)
	var names []string
	var containing []place
	for _, p := range places {
		if other := simplified(p.field.Name); strings.Contains(other, name) {
			containing = append(containing, p)
		} else {
			names = append(names, other)
		}
	}
	if containing != nil {
		return containing
	}
	slices.Sort(names)
	nearest := words.Nearest(name, slices.Compact(names), 3)
	return slices.DeleteFunc(places, func(p place) bool { return !slices.Contains(nearest, simplified(p.field.Name)) })
}

// segmentsOf returns the names in a path, without the marks of arrays and maps.
func segmentsOf(path string) []string {
	unmarked := strings.NewReplacer("[]", "", "{}", "", "*", "").Replace(path)
	return slices.DeleteFunc(strings.Split(unmarked, "."), func(name string) bool { return name == "" })
}

// simplified returns a name as it compares with others, however its words are separated.
func simplified(name string) string {
	simple := make([]byte, 0, len(name))
	for i := range len(name) {
		if c := name[i]; c != '_' && c != '-' && c != ' ' {
			simple = append(simple, c)
		}
	}
	return strings.ToLower(string(simple))
}

// sameName reports whether two names are the same when they are simplified.
func sameName(a, b string) bool {
	return a == b || len(a) > 0 && len(b) > 0 && a[0]|0x20 == b[0]|0x20 && simplified(a) == simplified(b)
}
