package aql

import (
	"context"
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unsafe"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/codec"
	"github.com/aqltag/aqltag/runtime/internal/related"
)

// relating are the relations of an adapter.
type relating interface {
	// define makes the definition of the operation query_relationships what agents see.
	define(definitions *gen.Definitions)
	// within returns the context of a request to it.
	within(ctx context.Context, x *exchange) context.Context
	// addTo adds the relations that requests can select to the codecs of results: a *codec.Set, which is not named here
	// so that the linker does not take its methods for those that reflection may call.
	addTo(codecs unsafe.Pointer) error
	// keep leaves out those that are not among definitions.
	keep(definitions *gen.Definitions)
	// selecting returns the context of a request that selects some.
	selecting(ctx context.Context, x *exchange) context.Context
}

// relate compiles the relations of a registry, and returns it with the operation that follows them. Their loaders lead
// to the code behind that, and nothing else does: an adapter without relations does not link it.
func relate(registry *Registry, c *cursors) (*Registry, relating, error) {
	type relater interface {
		relate(registry *Registry, c *cursors) (*Registry, relating, error)
	}
	list := registry.Relations()
	if len(list) == 0 {
		return registry, nil, nil
	}
	first, ok := list[0].Loader.(relater)
	if !ok {
		return registry, nil, noLoader(&list[0].Relation)
	}
	return first.relate(registry, c)
}

func noLoader(r *gen.Relation) error {
	return fmt.Errorf("relation %s.%s has no aql.Loader; the generated code is out of date", r.Of, r.Name)
}

// loads is what all instances of Loader have.
type loads interface {
	key(of any) (key any, ok bool)
	load(ctx context.Context, receivers, keys []any) (map[any][]any, error)
	types() (of, target reflect.Type)
}

// relations are the relations of every adapter that has some.
type relations struct {
	cursors *cursors
	all     []compiled                   // in their order
	byName  map[string]*related.Relation // Type.name
	names   map[string]naming            // by element type: what identifies its resources
	codecs  *codec.Related
}

// compiled is a relation with the Go types between which it leads.
type compiled struct {
	*related.Relation
	of, target reflect.Type
	selectable bool
}

// naming is how a resource of a Go type is identified.
type naming struct {
	typ  reflect.Type
	path []string // of the field
}

// newRelations compiles the relations of a registry. Where query_relationships can follow one, the registry that it
// returns has that operation.
func newRelations(registry *Registry, c *cursors) (*Registry, relating, error) {
	definitions := registry.Definitions()
	definitions.RelateTypes()
	operation := gen.RelationshipOperation(&definitions)
	if operation == nil && !definitions.Relates() {
		return registry, nil, nil
	}
	a := &relations{cursors: c, byName: make(map[string]*related.Relation), names: make(map[string]naming)}
	bound := registry.Relations()
	for i := range bound {
		if err := a.add(&bound[i], &definitions); err != nil {
			return registry, nil, err
		}
	}
	if operation == nil {
		return registry, a, nil
	}
	if err := a.identify(&definitions); err != nil {
		return registry, nil, err
	}
	for _, o := range registry.Operations() {
		if err := a.checkReader(&o, &definitions); err != nil {
			return registry, nil, err
		}
	}
	// The handler refuses relationships and roots that a caller does not see. The codec would list them to him: it is
	// compiled from these definitions, and define comes after that.
	open := *operation
	open.Params = append([]gen.Param(nil), open.Params...)
	for i := range open.Params {
		if p := &open.Params[i]; p.Name == "relationship" {
			p.Enum = nil
		}
	}
	handler := &gen.Handler{
		Name: open.Name, Request: (*relationshipRequest)(nil), Result: (**relationshipAnswer)(nil),
		Call: func(ctx context.Context, _ []any, request any) (any, error) {
			return a.answer(ctx, request.(*relationshipRequest))
		},
	}
	return registry.Extend(handler, open, gen.RelationshipTypes()), a, nil
}

// add compiles one relation.
func (a *relations) add(r *gen.BoundRelation, definitions *gen.Definitions) error {
	loader, ok := r.Loader.(loads)
	if !ok {
		return noLoader(&r.Relation)
	}
	added := &related.Relation{
		Definition: r.Relation, Of: gen.ElementType(r.Of), Target: gen.ElementType(r.Target), Key: loader.key,
		Load: func(ctx context.Context, keys []any) (map[any][]any, error) {
			receivers, err := r.LoadWith(ctx)
			if err != nil {
				return nil, err
			}
			return loader.load(ctx, receivers, keys)
		},
	}
	of, target := loader.types()
	t, _ := definitions.Type(r.Of)
	a.byName[r.Of+"."+r.Name] = added
	a.all = append(a.all, compiled{added, of, target, !r.Opaque && t != nil && t.Related != nil})
	return nil
}

// identify finds the fields that identify the resources which relations have and to which they lead.
func (a *relations) identify(definitions *gen.Definitions) error {
	for _, r := range a.all {
		d := &r.Definition
		for typ, goType := range map[string]reflect.Type{d.Of: r.of, d.Target: r.target} {
			if err := a.identifyType(definitions, typ, goType); err != nil {
				return fmt.Errorf("relation %s.%s: %w", d.Of, d.Name, err)
			}
		}
	}
	return nil
}

// identifyType finds the field that identifies the values of a type.
func (a *relations) identifyType(definitions *gen.Definitions, typ string, goType reflect.Type) error {
	t, known := definitions.Type(typ)
	if !known {
		return fmt.Errorf("there is no type %s; the generated code is out of date", typ)
	}
	element := gen.ElementType(typ)
	if other, taken := a.names[element]; taken && other.typ != goType {
		return fmt.Errorf("%s and %s are both called %s in relationships; rename one of them", other.typ, goType, element)
	}
	found := gen.Identifiers(t.Fields)
	if len(found) != 1 {
		a.names[element] = naming{typ: goType}
		return nil
	}
	a.names[element] = naming{goType, strings.Split(t.Fields[found[0]].Go, ".")}
	return nil
}

// checkReader fails where an operation that reads the root of queries returns another Go type than its relations have.
func (a *relations) checkReader(o *gen.Bound, definitions *gen.Definitions) error {
	named, related := a.names[gen.ElementType(o.Returns.Name)]
	reader, _, _ := definitions.Reader(o.Returns.Name)
	if !related || reader != o.Name {
		return nil
	}
	result := o.Result()
	for result.Kind() == reflect.Pointer {
		result = result.Elem()
	}
	if result != named.typ {
		return fmt.Errorf("operation %s returns %s, and relations are those of %s; the generated code is out of date",
			o.Name, result, named.typ)
	}
	return nil
}

func (a *relations) define(definitions *gen.Definitions) {
	for i := range definitions.Operations {
		if o := &definitions.Operations[i]; o.Relationships != nil {
			*o = *gen.RelationshipOperation(definitions)
		}
	}
	definitions.NameRoots()
	definitions.RelateTypes()
}

// name returns what identifies a resource of an element type; empty: nothing does.
func (a *relations) name(elementType string, resource any) (string, error) {
	v := reflect.ValueOf(resource)
	for _, field := range append([]string{""}, a.names[elementType].path...) {
		if field != "" {
			v = v.FieldByName(field)
		}
		for v.Kind() == reflect.Pointer {
			if v.IsNil() {
				return "", nil
			}
			v = v.Elem()
		}
	}
	text, err := textOf(v)
	if err != nil {
		return "", fmt.Errorf("the id of a %s has no text: %w", elementType, err)
	}
	return text, nil
}

// textOf returns the text of an identifier, which is a field of what a pointer leads to.
func textOf(v reflect.Value) (string, error) {
	if text, ok := v.Addr().Interface().(encoding.TextMarshaler); ok {
		out, err := text.MarshalText()
		return string(out), err
	}
	switch {
	case v.Kind() == reflect.String:
		return v.String(), nil
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10), nil
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10), nil
	default:
		return "", nil
	}
}
