package mutation_test

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/tagparse"
)

// A mutant is the todo service with one change. Deleted text leaves its line ends behind, so that nothing else moves to
// another line: the generated code has the line of each handler, so that a line less would make any mutant stale.
type mutant struct {
	position   string // file:line:col
	what       string // what was changed, such as "delete field Todo.Title"
	structural bool   // the change is to a declaration that generated code depends on: the compiler must notice
	subject    subject
	edits      []edit
}

// subject is what a mutant changes, as far as verdicts depend on it.
type subject struct {
	owner   types.Object // the type or the enum's type; nil for handlers
	field   *types.Var   // the field; nil if it is none
	name    string       // in the field's json tag
	options string       // in the field's json tag, without the comma before them
	aql     bool         // the field has an aql tag
}

func (m mutant) String() string { return m.position + ": " + m.what }

// edit replaces the bytes of a file from start to end.
type edit struct {
	file       string
	start, end int
	text       string
}

// apply returns the files of the service with the mutation in them.
func (m mutant) apply(files map[string][]byte) map[string][]byte {
	changed := map[string][]byte{}
	for name, data := range files {
		changed[name] = data
	}
	edits := slices.Clone(m.edits)
	slices.SortFunc(edits, func(a, b edit) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(b.start, a.start))
	})
	for _, e := range edits {
		old := changed[e.file]
		changed[e.file] = slices.Concat(old[:e.start], []byte(e.text), old[e.end:])
	}
	return changed
}

// breeder walks the syntax of the service and collects mutants.
type breeder struct {
	*service
	subject subject
	mutants []mutant
}

// breed makes every mutant of the service.
func breed(s *service) []mutant {
	b := &breeder{service: s}
	for _, file := range s.sources() {
		for _, decl := range s.syntax[file].Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if s.isHandler(decl) {
					b.subject = subject{}
					b.handler(decl)
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					switch spec := spec.(type) {
					case *ast.TypeSpec:
						if object := s.info.Defs[spec.Name]; s.reached[object] {
							b.subject = subject{owner: object}
							b.declaredType(decl, spec)
						}
					case *ast.ValueSpec:
						if enum := enumOf(s.info.Defs[spec.Names[0]]); decl.Tok == token.CONST && s.reached[enum] {
							b.subject = subject{owner: enum}
							b.constant(decl, spec)
						}
					}
				}
			}
		}
	}
	return b.mutants
}

func (b *breeder) add(structural bool, at token.Pos, what string, edits ...edit) {
	position := b.fset.Position(at)
	b.mutants = append(b.mutants, mutant{
		position: fmt.Sprintf("%s:%d:%d", position.Filename, position.Line, position.Column),
		what:     what, structural: structural, subject: b.subject, edits: edits,
	})
}

// replace makes the edit that puts text in the place of the bytes from start to end.
func (b *breeder) replace(start, end token.Pos, text string) edit {
	from, to := b.fset.Position(start), b.fset.Position(end)
	return edit{file: from.Filename, start: from.Offset, end: to.Offset, text: text}
}

// remove makes the edit that deletes everything but line ends.
func (b *breeder) remove(start, end token.Pos) edit {
	e := b.replace(start, end, "")
	e.text = strings.Repeat("\n", bytes.Count(b.files[e.file][e.start:e.end], []byte("\n")))
	return e
}

func (b *breeder) text(node ast.Node) string {
	e := b.replace(node.Pos(), node.End(), "")
	return string(b.files[e.file][e.start:e.end])
}

// rename makes the edits that rename an object wherever the service's own code names it, as an editor would. A type's
// name is also that of the fields that embed it.
func (b *breeder) rename(object types.Object, name string) []edit {
	same := map[types.Object]bool{object: true}
	if _, ok := object.(*types.TypeName); ok {
		for _, defined := range b.info.Defs {
			if field, ok := defined.(*types.Var); ok && field.Embedded() && field.Name() == object.Name() {
				same[field] = true
			}
		}
	}
	places := map[token.Pos]bool{}
	for _, uses := range []map[*ast.Ident]types.Object{b.info.Defs, b.info.Uses} {
		for ident, used := range uses {
			if same[used] && b.fset.Position(ident.Pos()).Filename != generatedName {
				places[ident.Pos()] = true
			}
		}
	}
	var edits []edit
	for pos := range places {
		edits = append(edits, b.replace(pos, pos+token.Pos(len(object.Name())), name))
	}
	return edits
}

// handler changes the declaration and the comment of a handler.
func (b *breeder) handler(decl *ast.FuncDecl) {
	name, at := decl.Name.Name, decl.Name.Pos()
	object := b.info.Defs[decl.Name]
	start := decl.Pos()
	if decl.Doc != nil {
		start = decl.Doc.Pos()
	}
	b.add(true, at, "delete handler "+name, b.remove(start, decl.End()))
	b.add(true, at, "rename handler "+name, b.rename(object, name+"s")...)
	b.add(true, at, "unexport handler "+name, b.rename(object, strings.ToLower(name[:1])+name[1:])...)

	again := strings.Replace(b.text(decl), ") "+name+"(", ") "+name+"Again(", 1)
	again = strings.Join(strings.Fields(again[:strings.Index(again, "{\n")]), " ")
	b.add(false, at, "add another handler next to "+name, b.replace(decl.End(), decl.End(), "; "+again+` { panic("") }`))

	receiver := decl.Recv.List[0]
	b.add(true, receiver.Type.Pos(), "move handler "+name+" to another type",
		b.replace(receiver.Type.Pos(), receiver.Type.End(), "*Metadata"))
	b.add(true, at, "make handler "+name+" a function", b.remove(decl.Recv.Pos(), decl.Recv.End()))
	params := decl.Type.Params.List
	first, request, run := params[0], b.requestOf(decl), params[len(params)-1]
	b.add(true, first.Pos(), "drop the context of "+name, b.remove(first.Pos(), request.Pos()))
	b.add(true, request.Pos(), "pass the request of "+name+" by pointer",
		b.replace(request.Type.Pos(), request.Type.Pos(), "*"))
	b.add(true, request.Pos(), "drop the request of "+name, b.remove(first.End(), request.End()))
	if run != request {
		b.add(true, run.Pos(), "drop the run of "+name, b.remove(request.End(), run.End()))
	}
	results := decl.Type.Results
	last := results.List[len(results.List)-1]
	if len(results.List) == 2 {
		result := results.List[0]
		b.add(true, result.Pos(), "drop the result of "+name, b.remove(result.Pos(), last.Pos()))
		for _, other := range []string{"Todo", "[]Todo", "*Metadata", "*PurgeResult"} {
			if other != b.text(result.Type) {
				b.add(true, result.Pos(), "change the result of "+name+" to "+other, b.replace(result.Pos(), result.End(), other))
			}
		}
	} else {
		b.add(true, last.Pos(), "give "+name+" a result", b.replace(results.Pos(), results.End(), "(*Todo, error)"))
	}
	b.add(true, last.Pos(), "drop the error of "+name, b.remove(last.Pos(), last.End()))

	if decl.Doc == nil {
		return
	}
	b.comment("handler "+name, decl.Doc)
	for _, line := range decl.Doc.List {
		if strings.HasPrefix(line.Text, "//aql:") {
			b.directive(name, line)
		}
	}
}

// directive deletes and changes one directive of a handler.
func (b *breeder) directive(handler string, line *ast.Comment) {
	kind, text, _ := strings.Cut(strings.TrimPrefix(line.Text, "//aql:"), " ")
	what := fmt.Sprintf("directive //aql:%s of %s", kind, handler)
	b.add(false, line.Pos(), "empty the "+what, b.replace(line.Pos()+2, line.End(), ""))
	b.add(false, line.Pos(), "make a comment of the "+what, b.replace(line.Pos()+2, line.Pos()+2, " "))
	b.add(false, line.Pos(), "misspell the "+what, b.replace(line.Pos()+6, line.Pos()+7, "_"))
	b.add(false, line.Pos(), "take the text of the "+what, b.replace(line.Pos()+6+token.Pos(len(kind)), line.End(), ""))
	b.add(false, line.End(), "lengthen the text of the "+what, b.replace(line.End(), line.End(), " x"))
	start := line.End() - token.Pos(len(text))
	if i := strings.IndexByte(text, '}'); i >= 0 {
		b.add(false, start+token.Pos(i), "take a brace of the "+what, b.remove(start+token.Pos(i), start+token.Pos(i)+1))
	}
	for i := range text { // the names of parameters: "name": in an example, {name} in a confirmation
		rest := text[i+1:]
		end := strings.IndexAny(rest, `"}`)
		if end > 0 && (text[i] == '{' && rest[end] == '}' || text[i] == '"' && strings.HasPrefix(rest[end:], `":`)) {
			b.add(false, start+token.Pos(i)+1, "rename "+rest[:end]+" in the "+what,
				b.replace(start+token.Pos(i+1), start+token.Pos(i+1), "x"))
		}
	}
}

// comment changes and deletes what agents read of a comment.
func (b *breeder) comment(what string, group *ast.CommentGroup) {
	if group == nil {
		return
	}
	var text []*ast.Comment
	for _, line := range group.List {
		if !strings.HasPrefix(line.Text, "//aql:") && strings.Trim(line.Text, "/ ") != "" {
			text = append(text, line)
		}
	}
	end := text[len(text)-1].End()
	if b.files[b.fset.Position(end).Filename][b.fset.Position(end).Offset-1] == '.' {
		end-- // so that the first sentence changes
	}
	b.add(false, text[0].Pos(), "change the comment of "+what, b.replace(end, end, " indeed"))
	b.add(false, text[0].Pos(), "delete the comment of "+what, b.remove(text[0].Pos(), text[len(text)-1].End()))
}

// declaredType changes a type that requests or results consist of.
func (b *breeder) declaredType(decl *ast.GenDecl, spec *ast.TypeSpec) {
	name, at := spec.Name.Name, spec.Name.Pos()
	b.add(true, at, "delete type "+name, b.remove(decl.Pos(), decl.End()))
	b.add(true, at, "rename type "+name, b.rename(b.info.Defs[spec.Name], name+"s")...)
	// what converts to one converts to the other
	b.add(false, at, "make an alias of type "+name, b.replace(spec.Type.Pos(), spec.Type.Pos(), "= "))
	b.comment("type "+name, decl.Doc)
	st, ok := spec.Type.(*ast.StructType)
	if !ok {
		b.add(true, at, "make type "+name+" an int", b.replace(spec.Type.Pos(), spec.Type.End(), "int"))
		return
	}
	b.add(true, st.Fields.Closing, "add a field to "+name,
		b.replace(st.Fields.Closing, st.Fields.Closing, "Another string "))
	for i, field := range st.Fields.List {
		b.field(name, field)
		if i > 0 {
			before := st.Fields.List[i-1]
			b.add(true, field.Pos(), fmt.Sprintf("swap %s with the field before it", fieldName(name, field)),
				b.replace(before.Pos(), before.End(), b.text(field)), b.replace(field.Pos(), field.End(), b.text(before)))
		}
	}
}

func fieldName(owner string, field *ast.Field) string {
	if len(field.Names) == 0 {
		return owner + "." + types.ExprString(field.Type)
	}
	return owner + "." + field.Names[0].Name
}

// fieldSubject returns the subject of a change of a field.
func (b *breeder) fieldSubject(field *ast.Field) subject {
	s := subject{owner: b.subject.owner}
	st := s.owner.Type().Underlying().(*types.Struct)
	for i := range st.NumFields() {
		if f := st.Field(i); f.Pos() >= field.Pos() && f.Pos() < field.End() {
			tag := reflect.StructTag(st.Tag(i))
			s.field = f
			s.name, s.options, _ = strings.Cut(tag.Get("json"), ",")
			_, s.aql = tag.Lookup("aql")
		}
	}
	return s
}

// otherTypes lists plausible other types for the types that fields of the service have.
var otherTypes = map[string][]string{
	"string":            {"[]byte", "int", "*string", "any", "[]string", "Status"},
	"int":               {"int32", "int64", "uint", "float64", "*int", "string"},
	"bool":              {"int", "*bool"},
	"time.Time":         {"*time.Time", "string", "int64"},
	"*time.Time":        {"time.Time", "*string", "**time.Time"},
	"[]string":          {"string", "[]byte", "[]int", "[2]string", "[]*string", "map[string]string"},
	"map[string]string": {"map[string]int", "map[string]any", "map[int]string", "[]string"},
	"[]Todo":            {"[]*Todo", "Todo", "map[string]Todo", "[]Metadata"},
	"aql.Patch[Todo]":   {"Todo", "aql.Patch[Metadata]", "*aql.Patch[Todo]"},
	"struct{}":          {"int", "struct{ x int }"},
}

// field changes one field of a struct: its declaration, its tags and its comments.
func (b *breeder) field(owner string, field *ast.Field) {
	what := fieldName(owner, field)
	outer := b.subject
	defer func() { b.subject = outer }()
	b.subject = b.fieldSubject(field)
	b.add(true, field.Pos(), "delete field "+what, b.remove(field.Pos(), field.End()))
	text := types.ExprString(field.Type)
	others, known := otherTypes[text]
	if !known { // named types of the package
		others = []string{"*" + text, "[]" + text, "string"}
	}
	switch {
	case len(field.Names) == 0:
		others = []string{"*" + text, "Metadata"}
		b.add(true, field.Pos(), "name the embedded field "+what, b.replace(field.Pos(), field.Pos(), "Page "))
	case field.Names[0].Name == "_":
		b.add(true, field.Pos(), "name the blank field of "+owner, b.replace(field.Pos(), field.Pos()+1, "Blank"))
	default:
		name := field.Names[0].Name
		b.add(true, field.Pos(), "rename field "+what, b.rename(b.info.Defs[field.Names[0]], name+"s")...)
		b.add(true, field.Pos(), "unexport field "+what,
			b.rename(b.info.Defs[field.Names[0]], strings.ToLower(name[:1])+name[1:])...)
	}
	for _, other := range others {
		b.add(true, field.Type.Pos(), fmt.Sprintf("change the type of %s to %s", what, other),
			b.replace(field.Type.Pos(), field.Type.End(), other))
	}
	b.comment("field "+what, field.Doc)
	b.comment("field "+what, field.Comment)
	if field.Tag != nil {
		b.tag(what, field)
	}
}

// tag deletes, renames and changes the struct tag of a field, its keys and the items of its aql key.
func (b *breeder) tag(what string, field *ast.Field) {
	tag := field.Tag
	b.add(false, tag.Pos(), "delete the tag of "+what, b.remove(tag.Pos(), tag.End()))
	b.add(false, tag.Pos(), "open the quotes of the tag of "+what, b.remove(tag.End()-2, tag.End()-1))
	pairs, _ := tagparse.StructTag(tag.Value)
	for _, pair := range pairs {
		place := func(i int) token.Pos { return tag.Pos() + token.Pos(pair.Map(i)) }
		key := tag.Pos() + token.Pos(pair.KeyOffset)
		of := fmt.Sprintf("the %s tag of %s", pair.Key, what)
		b.add(false, key, "delete "+of, b.remove(key, place(len(pair.Value))+1))
		b.add(false, key, "misspell the key of "+of, b.replace(key, key+1, pair.Key[:1]+pair.Key[:1]))
		switch pair.Key {
		case "json":
			name, options, _ := strings.Cut(pair.Value, ",")
			end := place(len(name))
			b.add(false, key, "change the name in "+of, b.replace(end, end, "s"))
			b.add(false, key, "hide the field by "+of, b.replace(place(0), place(len(pair.Value)), "-"))
			b.add(false, key, "take the name from "+of, b.remove(place(0), end))
			if options == "" {
				b.add(false, key, "add omitempty to "+of, b.replace(end, end, ",omitempty"))
				b.add(false, key, "add omitzero to "+of, b.replace(end, end, ",omitzero"))
			} else {
				b.add(false, key, "take "+options+" from "+of, b.remove(end, place(len(pair.Value))))
			}
		case "aql":
			b.items(what, field, pair.Value, place)
		}
	}
}

// items deletes, renames and changes each item of an aql tag, and adds some.
func (b *breeder) items(what string, field *ast.Field, text string, place func(int) token.Pos) {
	scope := tagparse.Parameter
	if len(field.Names) == 1 && field.Names[0].Name == "_" {
		scope = tagparse.Operation
	}
	items, _ := tagparse.Parse(text, scope)
	for i, item := range items {
		of := fmt.Sprintf("%s in the aql tag of %s", text[item.KeyOffset:item.End], what)
		at := place(item.KeyOffset)
		start, end := item.KeyOffset, item.End
		if i > 0 {
			start-- // with the comma before it
		} else if len(items) > 1 {
			end++
		}
		b.add(false, at, "delete "+of, b.remove(place(start), place(end)))
		b.add(false, at, "misspell "+of, b.replace(at, at+1, "x"+item.Key[:1]))
		for _, other := range otherItems(item, b.constantsOf(field)) {
			b.add(false, at, "write "+other+" for "+of, b.replace(at, place(item.End), other))
		}
	}
	added := []string{"required", "readonly", "sensitive", "deprecated", "name=other", "desc=Other"}
	if scope == tagparse.Operation {
		added = []string{"op=other", "endpoint=other", "timeout=1s", "deprecated", "danger=forbidden"}
	}
	for _, other := range added {
		key, _, _ := strings.Cut(other, "=")
		if !slices.ContainsFunc(items, func(i tagparse.Item) bool { return i.Key == key }) {
			end := place(len(text))
			b.add(false, end, fmt.Sprintf("add %s to the aql tag of %s", other, what), b.replace(end, end, ","+other))
		}
	}
}

// otherItems lists plausible replacements for an item of a tag. constants are the values of the field's type, if it is
// an enum.
func otherItems(item tagparse.Item, constants []string) []string {
	with := func(values ...string) []string {
		var out []string
		for _, value := range values {
			if value != item.Value {
				out = append(out, item.Key+"="+value)
			}
		}
		return out
	}
	if item.Flag {
		out := []string{item.Key + "=true"}
		for _, flag := range []string{"required", "readonly", "appendonly", "sensitive", "id"} {
			if flag != item.Key {
				out = append(out, flag)
			}
		}
		return out
	}
	switch item.Key {
	case "category":
		return with("CREATE", "READ", "UPDATE", "DELETE", "EXECUTE", "read")
	case "danger":
		return with("safe", "reversible", "destructive", "dangerous", "forbidden", "none")
	}
	if number, err := strconv.Atoi(item.Value); err == nil {
		return with(strconv.Itoa(number+1), strconv.Itoa(number+number), "many", "-1", "1.5")
	}
	return append(with(constants...), with(item.Value+"x", "1")...)
}

// constantsOf lists the values of the constants of a field's type.
func (b *breeder) constantsOf(field *ast.Field) []string {
	var values []string
	for _, object := range b.info.Defs {
		if c, ok := object.(*types.Const); ok && enumOf(c) != nil && types.Identical(c.Type(), b.info.TypeOf(field.Type)) {
			if value, err := strconv.Unquote(c.Val().ExactString()); err == nil {
				values = append(values, value)
			}
		}
	}
	slices.Sort(values)
	return values
}

// constant changes a value of an enum.
func (b *breeder) constant(decl *ast.GenDecl, spec *ast.ValueSpec) {
	name, value := spec.Names[0].Name, spec.Values[0]
	b.add(true, spec.Pos(), "delete constant "+name, b.remove(spec.Pos(), spec.End()))
	b.add(true, spec.Pos(), "rename constant "+name, b.rename(b.info.Defs[spec.Names[0]], name+"s")...)
	b.add(false, spec.Pos(), "change the value of constant "+name, b.replace(value.End()-1, value.End()-1, "s"))
	b.add(false, spec.Pos(), "take the type of constant "+name, b.remove(spec.Type.Pos(), spec.Type.End()))
	b.add(false, spec.Pos(), "make constant "+name+" a string", b.replace(spec.Type.Pos(), spec.Type.End(), "string"))
	b.add(false, spec.Pos(), "add a constant before "+name,
		b.replace(spec.Pos(), spec.Pos(), "Added "+b.text(spec.Type)+` = "added"; `))
	b.comment("constant "+name, spec.Comment)
	if i := slices.Index(decl.Specs, ast.Spec(spec)); i > 0 {
		before := decl.Specs[i-1].(*ast.ValueSpec)
		b.add(false, spec.Pos(), "give constant "+name+" the value of the one before it",
			b.replace(value.Pos(), value.End(), b.text(before.Values[0])))
		b.add(false, spec.Pos(), "swap constant "+name+" with the one before it",
			b.replace(before.Pos(), before.End(), b.text(spec)), b.replace(spec.Pos(), spec.End(), b.text(before)))
	}
}
