// Package tags reads the struct tags of fields, each item with its place in the source.
package tags

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
	"unicode"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/tagparse"
)

// Item is an item of an aql tag or directive, with its place.
type Item struct {
	tagparse.Item
	At      source.Span
	ValueAt source.Span
	Origin  string // the rule of another library that it stands for; empty: it is an aql item
}

// Flag returns an item without a value.
func Flag(key string, at source.Span) Item {
	return Item{Item: tagparse.Item{Key: key, Flag: true}, At: at}
}

// Tag is the struct tag of a field.
type Tag struct {
	GoName    string
	Name      string // wire name
	Named     bool   // the name comes from a tag
	Hidden    bool   // json:"-"
	OmitEmpty bool
	OmitZero  bool
	Quoted    bool
	HasAQL    bool
	Faulty    bool // the aql tag has mistakes
	FromJSON  bool // the name is that of the json tag
	// Original is the name in the json tag, if the wire name was made of it.
	Original string
	// Parameter is the name that the field has as a parameter, and Nested the one that it has below a parameter. They are
	// set where the package keeps names, Parameter if Name is the nested one, and Nested if it is that of a parameter.
	Parameter, Nested string
	Items             []Item
	Foreign           Foreign
	Field             *ast.Field  // nil: its source was not read
	At                source.Span // the field's name
	NameAt            source.Span // where the wire name comes from
	TagAt             source.Span // the aql key and value
}

// Reader reads the tags of struct fields.
type Reader struct {
	*source.Program
	seen map[token.Pos]bool      // fields that were read, by the position of their name
	in   map[*types.Package]bool // packages with such fields
}

// NewReader makes a reader for the fields of a program.
func NewReader(p *source.Program) *Reader {
	return &Reader{p, make(map[token.Pos]bool), make(map[*types.Package]bool)}
}

// Read reads the tag of field v and reports its mistakes. path is the field's Go path.
func (r *Reader) Read(v *types.Var, path string) Tag {
	r.seen[v.Pos()], r.in[v.Pkg()] = true, true
	tag := Tag{GoName: v.Name(), At: source.Span{Start: v.Pos(), End: v.Pos() + token.Pos(len(v.Name()))}}
	tag.NameAt = tag.At
	tag.Field = r.FieldSyntax(v)
	scope := tagparse.Parameter
	if v.Name() == "_" {
		scope = tagparse.Operation
	}
	if tag.Field != nil && tag.Field.Tag != nil {
		r.readLiteral(&tag, tag.Field.Tag, scope, path, source.InMainModule(r.Packages[v.Pkg()]))
	}
	for _, item := range tag.Items {
		if item.Key == "name" && !item.Flag {
			tag.Name, tag.Named, tag.FromJSON, tag.NameAt = item.Value, true, false, item.ValueAt
		}
	}
	if tag.Name == "" {
		tag.Name = naming.SnakeCase(v.Name())
	}
	return tag
}

// readLiteral reads the text of a struct tag.
func (r *Reader) readLiteral(tag *Tag, literal *ast.BasicLit, scope tagparse.Scope, path string, strict bool) {
	base := literal.Pos()
	pairs, problems := tagparse.StructTag(literal.Value)
	if strict {
		for i, problem := range problems {
			if i > 0 && problem.Offset == problems[i-1].Offset {
				continue // it follows from the problem before it
			}
			r.ReportProblem(diag.Error, problem, path, func(i int) token.Pos { return base + token.Pos(i) })
		}
	}
	for _, pair := range pairs {
		place := func(i int) token.Pos { return base + token.Pos(pair.Map(i)) }
		// with the closing quote
		whole := source.Span{Start: base + token.Pos(pair.KeyOffset), End: place(len(pair.Value)) + 1}
		switch pair.Key {
		case "json":
			tag.readJSON(pair.Value, source.Span{Start: place(0), End: place(len(pair.Value))})
		case "aql":
			tag.HasAQL, tag.TagAt = true, whole
			items, problems := tagparse.Parse(pair.Value, scope)
			for _, problem := range problems {
				tag.Faulty = true
				r.ReportProblem(diag.Error, problem, path, place)
			}
			tag.Items = Place(items, place)
		default:
			for _, problem := range tag.Foreign.read(pair, place) {
				if strict {
					problem.Message = pair.Key + " tag: " + problem.Message
					r.ReportProblem(diag.Warning, problem, path, place)
				}
			}
		}
	}
}

// readJSON applies encoding/json's rules for tags.
func (t *Tag) readJSON(value string, at source.Span) {
	if value == "-" {
		t.Hidden = true
		return
	}
	name, options, _ := strings.Cut(value, ",")
	if isJSONName(name) {
		t.Name, t.Named, t.FromJSON = name, true, true
		t.NameAt = source.Span{Start: at.Start, End: at.Start + token.Pos(len(name))}
	}
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "omitempty":
			t.OmitEmpty = true
		case "omitzero":
			t.OmitZero = true
		case "string":
			t.Quoted = true
		}
	}
}

// isJSONName reports whether encoding/json takes name from a tag. For other names it uses the Go name.
func isJSONName(name string) bool {
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) {
			return false
		}
	}
	return name != ""
}

// Item finds an item by key.
func (t *Tag) Item(key string) (Item, bool) { return Find(t.Items, key) }

// Find returns the item with a key.
func Find(items []Item, key string) (Item, bool) {
	for _, item := range items {
		if item.Key == key {
			return item, true
		}
	}
	return Item{}, false
}

// Place gives items their places. place maps an offset in the parsed text to its position.
func Place(items []tagparse.Item, place func(int) token.Pos) []Item {
	out := make([]Item, len(items))
	for i, item := range items {
		out[i] = Item{Item: item, At: source.Span{Start: place(item.KeyOffset), End: place(item.End)}}
		out[i].ValueAt = out[i].At
		if !item.Flag {
			out[i].ValueAt = source.Span{Start: place(item.ValueOffset), End: place(item.End)}
		}
	}
	return out
}

// Spelled is the item as the source has it.
func (item Item) Spelled() string {
	switch {
	case item.Origin != "":
		return item.Origin
	case item.Flag:
		return "aql " + item.Key
	}
	return "aql " + item.Key + "=" + item.Value
}
