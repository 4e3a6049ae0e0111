package scan

import (
	"cmp"
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// candidate is a field of a struct, or of a struct embedded in it, that may travel.
type candidate struct {
	Declaration
	selector []string
	index    []int // declaration order
	depth    int
	spelt    string // the name in the json tag, which is not the wire name where the protocol does not allow it
}

// fillStruct finds the fields of a struct that travel, with encoding/json's rules for embedding and shadowing.
// label begins the Go paths of the fields.
func (s *shaper) fillStruct(out *Shape, st *types.Struct, label string) {
	found, unfillable := s.collect(st, label)
	candidates := s.dominant(found)
	out.Foreign, out.Fields = unfillable, make([]Field, 0, len(candidates))
	for _, c := range candidates {
		shape, fault := s.shapeOf(c.v.Type(), c.path)
		if fault != nil {
			out.Faulty = true
			if !fault.invalid && !s.editable(c.v.Pkg()) {
				out.Foreign = append(out.Foreign, foreignFault{c.Declaration, fault})
				continue
			}
			s.reportFault(c.Declaration, fault)
			continue
		}
		out.Fields = append(out.Fields, Field{
			Declaration: c.Declaration, Selector: c.selector, Shape: shape, Position: s.position(c.v.Pos()),
			Param: gen.Param{
				Go: pathOf(c.selector), OmitEmpty: c.tag.omitEmpty, OmitZero: c.tag.omitZero, Quoted: c.tag.quoted && canQuote(shape),
			},
		})
	}
}

// pathOf is the Go path of a field.
func pathOf(selector []string) string { return strings.Join(selector, ".") }

// canQuote reports whether encoding/json's string option has an effect.
func canQuote(shape *Shape) bool {
	if shape.Kind == ShapePointer && shape.Go.Name == "" {
		shape = shape.Elem
	}
	switch shape.Kind {
	case ShapeBool, ShapeInt, ShapeUint, ShapeFloat, ShapeString, ShapeNumber:
		return true
	}
	return false
}

// embedded is a struct whose fields are promoted.
type embedded struct {
	label    string // begins the Go paths of its fields
	st       *types.Struct
	selector []string
	index    []int
	through  *Declaration // the user's field that brought it in; nil: it is the user's own
}

// collector holds the fields of a struct while those of its embedded structs are looked for.
type collector struct {
	*shaper
	found      []*candidate
	unfillable []foreignFault // embedded pointers of other modules that no code here can set
	next       []embedded     // structs embedded one level below
}

// collect lists the fields of st and, level by level, of the structs embedded in it.
func (s *shaper) collect(st *types.Struct, label string) (found []*candidate, unfillable []foreignFault) {
	c := &collector{shaper: s, found: make([]*candidate, 0, st.NumFields())}
	level := []embedded{{label: label, st: st}}
	var seen map[*types.Struct]bool
	for depth := 0; len(level) > 0; depth++ {
		c.next = nil
		for _, e := range level {
			if seen[e.st] {
				continue
			}
			for i := range e.st.NumFields() {
				c.add(e, i, depth)
			}
		}
		if len(c.next) > 0 && seen == nil {
			seen = make(map[*types.Struct]bool)
		}
		for _, e := range level {
			if seen != nil {
				seen[e.st] = true
			}
		}
		level = c.next
	}
	return c.found, c.unfillable
}

// add looks at field i of e: a field that travels is found, an embedded struct is for the next level.
func (s *collector) add(e embedded, i, depth int) {
	v := e.st.Field(i)
	if v.Name() == "_" {
		return
	}
	path := e.label + "." + v.Name()
	tag := s.tags.read(v, path)
	spelt := tag.name
	if !isWireName(tag.name) && !isReservedPayload(tag.name) && !inMainModule(s.packages[v.Pkg()]) {
		// Nobody here can edit that tag, so the field goes by the nearest name that the protocol allows.
		tag.name = foreignName(tag.name, v.Name())
	}
	if tag.hidden {
		if tag.hasAQL {
			s.report(tag.tagAt, Diagnostic{
				Code: codeType, FieldPath: path,
				Message:    `the aql tag has no effect: json:"-" keeps the field from agents`,
				Suggestion: "remove one of the two tags",
			})
		}
		return
	}
	selector := append(slices.Clone(e.selector), v.Name())
	index := append(slices.Clone(e.index), i)

	if v.Embedded() {
		inner, pointer := types.Unalias(v.Type()), false
		if p, ok := inner.(*types.Pointer); ok {
			inner, pointer = types.Unalias(p.Elem()), true
		}
		st, isStruct := inner.Underlying().(*types.Struct)
		if !v.Exported() && !isStruct {
			return
		}
		if isStruct && !tag.named {
			if pointer && !v.Exported() && v.Pkg() != s.own {
				field, fault := Declaration{path: path, tag: tag, v: v, through: e.through}, &unsupported{
					message:    fmt.Sprintf("an embedded pointer to the unexported struct %s cannot be filled from outside its package", s.text(inner)),
					suggestion: "embed the struct itself, or export its type",
				}
				if s.editable(v.Pkg()) {
					s.reportFault(field, fault)
				} else {
					s.unfillable = append(s.unfillable, foreignFault{field, fault})
				}
				return
			}
			through := e.through
			if through == nil && s.editable(v.Pkg()) {
				through = &Declaration{path: path, tag: tag, v: v}
			}
			s.next = append(s.next, embedded{s.typeName(inner), st, selector, index, through})
			return
		}
	}
	if !v.Exported() && !isNamedEmbedding(v, tag) {
		if tag.hasAQL {
			s.report(tag.tagAt, Diagnostic{
				Code: codeType, FieldPath: path,
				Message:    fmt.Sprintf("field %s is unexported, so it never travels and its aql tag has no effect", v.Name()),
				Suggestion: fmt.Sprintf("rename it to %s, or remove the tag", exported(v.Name())),
			})
		}
		return
	}
	declaration := Declaration{path: path, tag: tag, v: v, through: e.through}
	s.found = append(s.found, &candidate{declaration, selector, index, depth, spelt})
}

// isNamedEmbedding reports whether a field embeds a struct under a name, which encoding/json takes for a field like any other,
// exported or not.
func isNamedEmbedding(v *types.Var, tag fieldTag) bool {
	_, isStruct := types.Unalias(v.Type()).Underlying().(*types.Struct)
	return v.Embedded() && isStruct && tag.named
}

// dominant keeps, for each wire name, the field that encoding/json would: the shallowest, and among those the tagged one.
// Two that tie vanish there both, and here where nobody can rename them: options of a client that embed two ways to turn
// pages. In the user's own structs they are an error.
func (s *shaper) dominant(all []*candidate) []*candidate {
	names := make(map[string]*candidate, len(all))
	for _, c := range all { // names that are only alike once they are put right
		if other, taken := names[c.tag.name]; !taken {
			names[c.tag.name] = c
		} else if other.spelt != c.spelt && !s.editable(c.v.Pkg()) {
			c.tag.name = snakeCase(c.v.Name())
		}
	}
	slices.SortStableFunc(all, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(a.tag.name, b.tag.name), cmp.Compare(a.depth, b.depth),
			-cmp.Compare(rank(a), rank(b)), slices.Compare(a.index, b.index))
	})
	kept := make([]*candidate, 0, len(all))
	ambiguous := make(map[string]bool)
	for i, c := range all {
		if i > 0 && all[i-1].tag.name == c.tag.name {
			first := kept[len(kept)-1]
			if c.depth == first.depth && rank(c) == rank(first) && !s.editable(c.v.Pkg()) {
				ambiguous[c.tag.name] = true
				s.report(c.tag.nameAt, Diagnostic{
					Severity: SeverityNote, Code: codeDuplicate, FieldPath: c.path, Actual: c.tag.name,
					Message: fmt.Sprintf("agents see neither %s nor %s: both are %q, and encoding/json has neither", c.path, first.path, c.tag.name),
					Related: []Related{s.related(first.v.Pos(), first.path+" is here")},
				})
			} else if c.depth == first.depth && rank(c) == rank(first) {
				s.report(c.tag.nameAt, Diagnostic{
					Code: codeDuplicate, FieldPath: c.path, Actual: c.tag.name,
					Message:    fmt.Sprintf("wire name %q is taken by field %s", c.tag.name, first.path),
					Suggestion: "rename one of the two fields",
					Related:    []Related{s.related(first.v.Pos(), first.path+" is here")},
				})
			}
			continue
		}
		kept = append(kept, c)
	}
	if len(ambiguous) > 0 {
		kept = slices.DeleteFunc(kept, func(c *candidate) bool { return ambiguous[c.tag.name] })
	}
	slices.SortFunc(kept, func(a, b *candidate) int { return slices.Compare(a.index, b.index) })
	s.checkAliases(kept)
	return kept
}

func rank(c *candidate) int {
	if c.tag.named {
		return 1
	}
	return 0
}

// checkAliases reports other names of fields that are outside the grammar or taken.
func (s *shaper) checkAliases(fields []*candidate) {
	if !slices.ContainsFunc(fields, func(c *candidate) bool { _, ok := c.tag.item("alias"); return ok }) {
		return
	}
	taken := make(map[string]*candidate, len(fields))
	for _, c := range fields {
		taken[c.tag.name] = c
	}
	for _, c := range fields {
		item, ok := c.tag.item("alias")
		if !ok {
			continue
		}
		for _, alias := range item.List {
			first, clash := taken[alias]
			switch {
			case !isWireName(alias):
				s.report(item.value, Diagnostic{
					Code: codeName, FieldPath: c.path, Expected: "^[a-z][a-z0-9_]*$", Actual: alias,
					Message: fmt.Sprintf("alias %q does not match ^[a-z][a-z0-9_]*$", alias), Suggestion: useName(alias),
				})
			case clash:
				s.report(item.value, Diagnostic{
					Code: codeDuplicate, FieldPath: c.path, Actual: alias,
					Message: fmt.Sprintf("alias %q is taken by field %s", alias, first.path),
					Related: []Related{s.related(first.v.Pos(), first.path+" is here")},
				})
			default:
				taken[alias] = c
			}
		}
	}
}

// typeName is the Go name of t for field paths.
func (s *shaper) typeName(t types.Type) string {
	if named, ok := t.(*types.Named); ok {
		return named.Obj().Name()
	}
	return s.text(t)
}

// reportFault reports that the type of a field cannot travel.
func (s *shaper) reportFault(f Declaration, fault *unsupported) {
	at := f.tag.at
	if f.tag.field != nil {
		at = span{f.tag.field.Type.Pos(), f.tag.field.Type.End()}
	}
	if fault.invalid {
		s.reportInvalid(f.v.Pkg(), at, f.path)
		return
	}
	s.report(at, Diagnostic{
		Code: codeType, FieldPath: f.path, Actual: s.text(f.v.Type()),
		Message: fmt.Sprintf("field %s: %s", f.path, fault.message), Suggestion: fault.suggestion,
	})
}
