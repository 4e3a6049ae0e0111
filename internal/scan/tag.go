package scan

import (
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"strings"
	"unicode"

	"github.com/aqltag/aqltag/tagparse"
)

// placedItem is an item of an aql tag or directive with the bytes at which its key and value stand.
type placedItem struct {
	tagparse.Item
	whole  span
	value  span
	origin string // the rule of another library that it stands for; empty: it is in our own grammar
}

// fieldTag is what the tags of a struct field say.
type fieldTag struct {
	goName    string
	name      string // wire name
	named     bool   // the name comes from a tag
	hidden    bool   // json:"-"
	omitEmpty bool
	omitZero  bool
	quoted    bool
	hasAQL    bool
	faulty    bool // the aql tag could not be read whole
	items     []placedItem
	foreign   foreignTag
	field     *ast.Field // nil where there is no syntax
	at        span       // the field's name
	nameAt    span       // where the wire name comes from
	tagAt     span       // the aql key and value
}

// tagReader reads the tags of struct fields.
type tagReader struct {
	*program
	seen map[token.Pos]bool // the fields that read was called for, by the position of their name
}

func newTagReader(p *program) *tagReader { return &tagReader{p, make(map[token.Pos]bool)} }

// read reads the tags of field v and reports what is wrong with them. path is the field's Go path.
func (p *tagReader) read(v *types.Var, path string) fieldTag {
	p.seen[v.Pos()] = true
	tag := fieldTag{goName: v.Name(), at: span{v.Pos(), v.Pos() + token.Pos(len(v.Name()))}}
	tag.nameAt = tag.at
	tag.field = p.fieldSyntax(v)
	scope := tagparse.Parameter
	if v.Name() == "_" {
		scope = tagparse.Operation
	}
	if tag.field != nil && tag.field.Tag != nil {
		p.readLiteral(&tag, tag.field.Tag, scope, path, inMainModule(p.packages[v.Pkg()]))
	}
	for _, item := range tag.items {
		if item.Key == "name" && !item.Flag {
			tag.name, tag.named, tag.nameAt = item.Value, true, item.value
		}
	}
	if tag.name == "" {
		tag.name = snakeCase(v.Name())
	}
	return tag
}

// readLiteral reads a struct tag as it stands in the source.
func (p *tagReader) readLiteral(tag *fieldTag, literal *ast.BasicLit, scope tagparse.Scope, path string, strict bool) {
	base := literal.Pos()
	pairs, problems := tagparse.StructTag(literal.Value)
	if strict {
		for i, problem := range problems {
			if i > 0 && problem.Offset == problems[i-1].Offset {
				continue // follows from the one before
			}
			p.reportProblem(SeverityError, problem, path, func(i int) token.Pos { return base + token.Pos(i) })
		}
	}
	for _, pair := range pairs {
		place := func(i int) token.Pos { return base + token.Pos(pair.Map(i)) }
		whole := span{base + token.Pos(pair.KeyOffset), place(len(pair.Value)) + 1} // with the closing quote
		switch pair.Key {
		case "json":
			tag.readJSON(pair.Value, span{place(0), place(len(pair.Value))})
		case "aql":
			tag.hasAQL, tag.tagAt = true, whole
			items, problems := tagparse.Parse(pair.Value, scope)
			for _, problem := range problems {
				tag.faulty = true
				p.reportProblem(SeverityError, problem, path, place)
			}
			tag.items = placeItems(items, place)
		default:
			for _, problem := range tag.foreign.read(pair, place) {
				if strict {
					problem.Message = pair.Key + " tag: " + problem.Message
					p.reportProblem(SeverityWarning, problem, path, place)
				}
			}
		}
	}
}

// readJSON applies encoding/json's rules for tags.
func (tag *fieldTag) readJSON(value string, at span) {
	if value == "-" {
		tag.hidden = true
		return
	}
	name, options, _ := strings.Cut(value, ",")
	if isJSONName(name) {
		tag.name, tag.named = name, true
		tag.nameAt = span{at.start, at.start + token.Pos(len(name))}
	}
	for option := range strings.SplitSeq(options, ",") {
		switch option {
		case "omitempty":
			tag.omitEmpty = true
		case "omitzero":
			tag.omitZero = true
		case "string":
			tag.quoted = true
		}
	}
}

// isJSONName reports whether encoding/json takes name from a tag; it falls back to the Go name for others.
func isJSONName(name string) bool {
	for _, r := range name {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("!#$%&()*+-./:;<=>?@[]^_{|}~ ", r) {
			return false
		}
	}
	return name != ""
}

// item finds an item by key.
func (tag *fieldTag) item(key string) (placedItem, bool) { return findItem(tag.items, key) }

func findItem(items []placedItem, key string) (placedItem, bool) {
	for _, item := range items {
		if item.Key == key {
			return item, true
		}
	}
	return placedItem{}, false
}

// placeItems gives items their places; place maps an offset in the parsed text.
func placeItems(items []tagparse.Item, place func(int) token.Pos) []placedItem {
	out := make([]placedItem, len(items))
	for i, item := range items {
		out[i] = placedItem{Item: item, whole: span{place(item.KeyOffset), place(item.End)}}
		out[i].value = out[i].whole
		if !item.Flag {
			out[i].value = span{place(item.ValueOffset), place(item.End)}
		}
	}
	return out
}

// reportProblem reports a problem that tagparse found.
func (p *program) reportProblem(severity Severity, problem tagparse.Problem, path string, place func(int) token.Pos) {
	p.report(span{place(problem.Offset), place(problem.End)}, Diagnostic{
		Severity: severity, Code: problem.Code, Message: problem.Message, Expected: problem.Expected, Actual: problem.Actual,
		Suggestion: problem.Suggestion, FieldPath: path,
	})
}

// checkName reports a wire name outside the grammar (REQ-RF-07).
func (p *program) checkName(tag fieldTag, path string) {
	if isWireName(tag.name) || isReservedPayload(tag.name) {
		return
	}
	d := Diagnostic{
		Code: codeName, Message: fmt.Sprintf("wire name %q does not match ^[a-z][a-z0-9_]*$", tag.name),
		Expected: "^[a-z][a-z0-9_]*$", Actual: tag.name, Suggestion: useName(tag.name), FieldPath: path,
	}
	if strings.HasPrefix(tag.name, "_") {
		d.Message = fmt.Sprintf("wire name %q begins with an underscore, which only the protocol's own _etag, _version and _computed may", tag.name)
	}
	p.report(tag.nameAt, d)
}

// spelled is the item as it was written.
func (item placedItem) spelled() string {
	switch {
	case item.origin != "":
		return item.origin
	case item.Flag:
		return "aql " + item.Key
	}
	return "aql " + item.Key + "=" + item.Value
}
