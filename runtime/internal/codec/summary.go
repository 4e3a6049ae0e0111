package codec

import (
	"fmt"
	"reflect"
	"slices"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/collection"
)

// labelled is every collection.Query.
type labelled interface{ Labels() []collection.Labelled }

// summarisable compiles how the fields are read that the summaries of requests can name.
func (s *Set) summarisable(q *Query, o *gen.Operation) error {
	expression, ok := gen.Expression(o, func(name string) *gen.Type { return s.types[name] })
	if !ok {
		return nil
	}
	q.summarises = make(map[string][]string)
	for _, function := range gen.SummaryFunctions() {
		if slices.ContainsFunc(expression.Fields, func(p gen.Param) bool { return p.Name == function }) {
			q.functions = append(q.functions, function)
		}
	}
	for i := range expression.Fields {
		function := &expression.Fields[i]
		q.summarises[function.Name] = function.Enum
		for _, name := range function.Enum {
			if _, err := s.compared(q.elements, name); err != nil {
				return fmt.Errorf("operation %s: %w", o.Name, err)
			}
		}
	}
	return nil
}

// Labels returns the summaries that the request at place wants.
func (q *Query) Labels(place unsafe.Pointer) []collection.Labelled {
	query, _ := reflect.NewAt(q.goType, unsafe.Add(place, q.offset)).Interface().(labelled)
	return query.Labels()
}

// Functions returns the functions that requests may want, without those of which mask hides every field.
func (q *Query) Functions(mask *Mask) []string {
	return slices.DeleteFunc(slices.Clone(q.functions), func(function string) bool {
		fields := q.summarises[function]
		return len(fields) > 0 && !slices.ContainsFunc(fields, func(name string) bool { return !q.Hides(mask, name) })
	})
}

// Wanted returns a summary with the fields that it is about.
func (q *Query) Wanted(l *collection.Labelled) collection.Wanted {
	field := func(name string) *collection.Field {
		if f := q.elements.fields[name]; f != nil {
			return f.Field
		}
		return nil
	}
	return collection.Wanted{
		Label: l.Label, Count: l.Count, By: field(l.GroupBy), Sum: field(l.Sum), Avg: field(l.Avg), Min: field(l.Min),
		Max: field(l.Max),
	}
}
