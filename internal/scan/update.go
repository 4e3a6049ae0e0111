package scan

import (
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/gotype"
	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

// mergeThroughGetter applies the //aql:update directive of an operation: its input becomes the changes of what the
// handler that the directive names returns (MCP-AQL core §4.5.1).
func (b *builder) mergeThroughGetter(o operation, h *handled) {
	i := slices.IndexFunc(o.directives, func(d directive) bool { return d.Name == "update" })
	if i < 0 || o.directives[i].faulty || h.request.Faulty || b.readers == nil {
		return
	}
	d := o.directives[i]
	item, ok := tags.Find(d.items, "get")
	report := func(at source.Span, code, message, suggestion string) {
		b.Report(at, diag.Diagnostic{Code: code, FieldPath: o.name(), Message: message, Suggestion: suggestion})
	}
	switch {
	case slices.ContainsFunc(o.directives[i+1:], func(d directive) bool { return d.Name == "update" }):
		report(d.at, diag.CodeDuplicate, "there is more than one //aql:update", "remove one of them")
		return
	case !ok:
		report(d.at, diag.CodeMissing, "//aql:update names no handler", "//aql:update get=NAME")
		return
	case h.Operation.Category == "": // which is reported
		return
	case h.Operation.Category != gen.Update:
		report(d.at, diag.CodeType, fmt.Sprintf("//aql:update is for UPDATE operations, and %s is %s", o.name(),
			h.Operation.Category), "remove it, or use category=UPDATE")
		return
	}
	input := slices.IndexFunc(h.request.Fields, func(f shapes.Field) bool { return f.Param.Name == "input" })
	if input < 0 {
		return // which is reported
	}
	getter, why := b.getter(o, item.Value)
	if getter.fn == nil {
		var names []string
		for _, other := range b.readers.all {
			names = append(names, other.name())
		}
		report(item.ValueAt, diag.CodeUnresolved, why, diag.DidYouMean(item.Value, names))
		return
	}
	get, ok := b.readers.built(getter)
	if !ok {
		h.request.Faulty = true // what is wrong with it is reported
		return
	}
	merge, fault := b.fit(h, get, input)
	if fault != nil {
		b.Report(item.ValueAt, diag.Diagnostic{
			Code: diag.CodeType, FieldPath: o.name(), Actual: item.Value, Suggestion: fault.Suggestion,
			Message: fmt.Sprintf("%s cannot read what %s updates: %s", item.Value, o.name(), fault.Message),
			Related: []diag.Related{b.Related(getter.at().Start, getter.name()+" is here")},
		})
		return
	}
	h.Merge = merge
	h.request = h.request.Clone()
	field := &h.request.Fields[input]
	field.Shape = &shapes.Shape{Kind: shapes.Patch, Elem: shapes.Indirect(field.Shape)}
	if field.Param.Description == "" {
		field.Param.Description = changesDescription
	}
}

// getter finds the READ operation with a name: of its handler, of its handler with the type of the receiver in front,
// or its own. It returns why there is none.
func (b *builder) getter(o operation, name string) (operation, string) {
	found := b.readers.named[name]
	if len(found) > 1 { // the one of the same receiver is meant
		same := slices.DeleteFunc(slices.Clone(found), func(other operation) bool {
			return receiverName(other) != receiverName(o)
		})
		if len(same) == 1 {
			found = same
		}
	}
	switch len(found) {
	case 1:
		return found[0], ""
	case 0:
		return operation{}, fmt.Sprintf("this package has no READ operation %s", name)
	default:
		return operation{}, fmt.Sprintf("there are several READ operations %s", name)
	}
}

// receiverName is the name of the type that a method belongs to, empty for a function.
func receiverName(o operation) string {
	if o.adopted != nil {
		if o.adopted.receiver == nil {
			return ""
		}
		return o.adopted.receiver.Name()
	}
	recv := o.fn.Signature().Recv()
	if recv == nil {
		return ""
	}
	t := gotype.Pointee(recv.Type())
	if named, ok := t.(*types.Named); ok {
		return named.Obj().Name()
	}
	return ""
}

// fittingGetter returns the name of a READ operation that can read what an update changes; empty: there is none, or
// several are equally likely.
func (b *builder) fittingGetter(h *handled) string {
	input := slices.IndexFunc(h.request.Fields, func(f shapes.Field) bool { return f.Param.Name == "input" })
	if b.readers == nil || input < 0 {
		return ""
	}
	fitting := ""
	for _, other := range b.readers.all {
		if len(b.readers.named[other.name()]) > 1 {
			continue
		}
		if get, ok := b.readers.built(other); ok {
			if _, fault := b.fit(h, get, input); fault == nil {
				if fitting != "" {
					return ""
				}
				fitting = other.name()
			}
		}
	}
	return fitting
}

// fit finds out how an update reads the resource with a getter, and what it hands on. It returns why it cannot.
func (b *builder) fit(h, get *handled, input int) (*model.Merge, *shapes.Fault) {
	field := h.request.Fields[input]
	target := shapes.Indirect(field.Shape)
	resource := get.result
	pointer := resource != nil && resource.Kind == shapes.Pointer
	if pointer {
		resource = resource.Elem
	}
	switch {
	case target.Kind != shapes.Struct || field.Shape != target && (field.Shape.Kind != shapes.Pointer ||
		field.Shape.Elem != target):
		return nil, &shapes.Fault{
			Message:    "the input is not a plain struct",
			Suggestion: "take the resource itself as input; a handler with an aql.Patch reads the resource and calls Apply",
		}
	case resource == nil || resource.Kind != shapes.Struct:
		return nil, &shapes.Fault{
			Message: "it does not return a struct", Suggestion: "name the handler that returns the resource",
		}
	}
	if h.request.Message || get.request.Message || (target.Message || resource.Message) && target != resource {
		return nil, &shapes.Fault{
			Message:    "a message of protocol buffers is read and merged as a whole",
			Suggestion: "write a handler that takes its identifiers and an aql.Patch of the message, reads it and calls Apply",
		}
	}
	if isEnveloped(get) || h.fromHTTP {
		return nil, &shapes.Fault{
			Message:    "its request and its result are in envelopes",
			Suggestion: "write a function that takes the identifiers and returns the resource",
		}
	}
	merge, base := &model.Merge{Get: get.Handler, GetPointer: pointer}, h.request.Type
	if fault := b.fitIdentifiers(merge, h, get); fault != nil {
		return nil, fault
	}
	if gathered := field.Param.Go == ""; !gathered {
		merge.Input, merge.InputPointer = field.Param.Go, field.Shape.Kind == shapes.Pointer
		if throughPointer(h.request.Type, field.Selector) {
			return nil, embedded(field)
		}
		text, _ := b.speller.Spell(target.Type) // its struct or argument can be named, so it can
		merge.Resource, base = text, target.Type
	}
	if merge.Input == "" || !types.Identical(target.Type, resource.Type) {
		if fault := copyFields(merge, target.Fields, base, resource); fault != nil {
			return nil, fault
		}
	}
	fitVersion(merge, h, resource)
	return merge, nil
}

// isEnveloped reports whether the request or the result of a handler is a part of what its function takes or returns.
func isEnveloped(h *handled) bool {
	a := h.Adopted
	return a != nil && (h.fromHTTP || a.Wrap.Func != "" || a.Field != "")
}

// fitIdentifiers finds the values of the getter's parameters among those of the update.
func (b *builder) fitIdentifiers(merge *model.Merge, h, get *handled) *shapes.Fault {
	var given []shapes.Field
	for _, f := range h.request.Fields {
		if f.Param.Name != "input" {
			given = append(given, f)
		}
	}
	needed := slices.DeleteFunc(slices.Clone(get.request.Fields), func(f shapes.Field) bool { return !f.Param.Required })
	for _, f := range get.request.Fields {
		i := slices.IndexFunc(given, func(g shapes.Field) bool { return g.Param.Name == f.Param.Name })
		if i < 0 && f.Param.Required && len(needed) == 1 && len(given) == 1 {
			i = 0 // each has one identifier, under two names
		}
		switch {
		case i < 0 && !f.Param.Required && f.Param.Default == "" && (get.request.Type != nil || shapes.IsNilable(f.Shape)):
			continue
		case i < 0:
			return &shapes.Fault{
				Message:    fmt.Sprintf("it takes %s, which the update has not", f.Param.Name),
				Suggestion: "give the update a parameter of that name, or write a handler that needs none",
			}
		case !types.Identical(f.Var.Type(), given[i].Var.Type()):
			return &shapes.Fault{
				Message: fmt.Sprintf("it takes %s as %s, and the update has %s", f.Param.Name, b.text(f.Var.Type()),
					b.text(given[i].Var.Type())),
				Suggestion: "give the two the same type",
			}
		case len(f.Selector) > 1 || throughPointer(h.request.Type, given[i].Selector):
			return embedded(f)
		}
		merge.Identifiers = append(merge.Identifiers, model.Copy{To: f.Param.Go, From: given[i].Param.Go})
	}
	return nil
}

// embedded is the fault of a field that generated code cannot set or read with a plain selector.
func embedded(f shapes.Field) *shapes.Fault {
	return &shapes.Fault{
		Message: fmt.Sprintf("%s is in an embedded struct", f.Param.Name), Suggestion: "declare it in the request itself",
	}
}

// copyFields finds the fields of the input, which are those of a struct type, in what the getter returns. A field that
// is not there would be lost.
func copyFields(merge *model.Merge, fields []shapes.Field, in types.Type, resource *shapes.Shape) *shapes.Fault {
	var lost []string
	for _, f := range fields {
		i := slices.IndexFunc(resource.Fields, func(r shapes.Field) bool { return r.Param.Name == f.Param.Name })
		if i < 0 || !types.Identical(f.Var.Type(), resource.Fields[i].Var.Type()) ||
			throughPointer(in, f.Selector) || throughPointer(resource.Type, resource.Fields[i].Selector) {
			lost = append(lost, f.Param.Name)
			continue
		}
		merge.Copies = append(merge.Copies, model.Copy{
			To: shapes.PathOf(f.Selector), From: shapes.PathOf(resource.Fields[i].Selector),
		})
	}
	if len(lost) == 0 {
		return nil
	}
	return &shapes.Fault{
		Message: "what it returns has no field of the same name and type for " + strings.Join(lost, ", "),
		Suggestion: "give the input the type that it returns, or fields of the same types; " +
			"or merge in the handler, with aql.Patch",
	}
}

// fitVersion finds the version in what the getter returns, and the parameter if_match that takes it (MCP-AQL core
// §9.3.2).
func fitVersion(merge *model.Merge, h *handled, resource *shapes.Shape) {
	i := slices.IndexFunc(h.request.Fields, func(f shapes.Field) bool { return f.Param.Name == "if_match" })
	if i < 0 || throughPointer(h.request.Type, h.request.Fields[i].Selector) {
		return
	}
	match := h.request.Fields[i]
	for _, name := range []string{"_etag", "_version"} {
		for _, f := range resource.Fields {
			if f.Param.Name == name && f.Shape.Kind == shapes.String && types.Identical(f.Var.Type(), match.Var.Type()) &&
				!throughPointer(resource.Type, f.Selector) {
				merge.Version = &model.Copy{To: match.Param.Go, From: shapes.PathOf(f.Selector)}
				return
			}
		}
	}
}

// throughPointer reports whether a path of fields leads through an embedded pointer, which may be nil.
func throughPointer(t types.Type, selector []string) bool {
	for _, name := range selector {
		if t == nil {
			return false
		}
		st, ok := t.Underlying().(*types.Struct)
		if !ok {
			return true
		}
		t = nil
		for f := range st.Fields() {
			if f.Name() == name {
				t = f.Type()
			}
		}
	}
	return false
}

// readers are the READ operations of a package, which //aql:update names.
type readers struct {
	all   []operation
	named map[string][]operation // by the names that a directive may use; see readerNames
	// built returns the handler of one; false: its types cannot be carried.
	built func(o operation) (*handled, bool)
}

// newReaders returns the READ operations among those of a package.
func newReaders(operations []operation, built func(o operation) (*handled, bool)) *readers {
	r := &readers{named: make(map[string][]operation), built: built}
	for _, o := range operations {
		r.add(o)
	}
	return r
}

// add adds an operation if it is READ.
func (r *readers) add(o operation) {
	if item, ok := tags.Find(o.items, "category"); !ok || item.Value != string(gen.Read) {
		return
	}
	r.all = append(r.all, o)
	for _, name := range readerNames(o) {
		r.named[name] = append(r.named[name], o)
	}
}

// readerNames are the different names by which a directive may mean an operation: its own, and that of its handler,
// alone and with the type of the receiver in front.
func readerNames(o operation) []string {
	own := naming.SnakeCase(o.name())
	if item, ok := tags.Find(o.items, "op"); ok {
		own = item.Value
	}
	names := []string{o.name(), receiverName(o) + "." + o.name()}
	if own != o.name() {
		names = append(names, own)
	}
	return names
}
