package shapes

import (
	"cmp"
	"fmt"
	"go/types"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/gotype"
	"github.com/aqltag/aqltag/internal/scan/naming"
	"github.com/aqltag/aqltag/internal/scan/source"
	"github.com/aqltag/aqltag/internal/scan/tags"
	"github.com/aqltag/aqltag/runtime/gen"
)

// candidate is a field of a struct, or of a struct embedded in it, that JSON may carry.
type candidate struct {
	Declaration
	selector []string
	index    []int // declaration order
	depth    int
	spelt    string // the name in the json tag; the wire name differs if that is not valid
}

// fillStruct finds the fields of a struct that JSON carries, with encoding/json's rules for embedding and shadowing.
// label begins the Go paths of the fields.
func (m *Maker) fillStruct(out *Shape, st *types.Struct, label string) {
	found, unfillable := m.collect(st, label)
	candidates := m.dominant(found)
	out.Foreign, out.Fields = unfillable, make([]Field, 0, len(candidates))
	for _, c := range candidates {
		if c.Tag.Original != "" {
			m.folded = append(m.folded, c.Declaration)
		}
		shape, fault := m.Of(c.Var.Type(), c.Path)
		if fault != nil {
			out.Faulty = true
			if !fault.Invalid && !m.Editable(c.Var.Pkg()) {
				out.Foreign = append(out.Foreign, ForeignFault{c.Declaration, fault})
				continue
			}
			m.reportFault(c.Declaration, fault)
			continue
		}
		out.Fields = append(out.Fields, Field{
			Declaration: c.Declaration, Selector: c.selector, Shape: shape, Position: m.Position(c.Var.Pos()),
			Param: gen.Param{
				Go: PathOf(c.selector), OmitEmpty: c.Tag.OmitEmpty && canBeEmpty(c.Var.Type()),
				OmitZero: c.Tag.OmitZero || shape.Kind == Optional, Quoted: c.Tag.Quoted && canQuote(shape),
			},
		})
	}
}

// PathOf is the Go path of a field.
func PathOf(selector []string) string { return strings.Join(selector, ".") }

// canQuote reports whether encoding/json's string option has an effect on a shape.
func canQuote(shape *Shape) bool {
	if shape.Kind == Pointer && shape.Go.Name == "" {
		if shape = shape.Elem; shape == nil { // a pointer to the struct that is being shaped
			return false
		}
	}
	switch shape.Kind {
	case Bool, Int, Uint, Float, String, Number:
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
	through  *Declaration // the user's field that embeds it; nil: the struct is the user's own
	open     *instance    // the generic type that it is in
}

// collector collects the fields of a struct, level by level.
type collector struct {
	*Maker
	found      []*candidate
	unfillable []ForeignFault // embedded pointers of other modules that code here cannot set
	next       []embedded     // structs embedded one level deeper
}

// collect lists the fields of st and, level by level, of the structs embedded in it.
func (m *Maker) collect(st *types.Struct, label string) (found []*candidate, unfillable []ForeignFault) {
	c := &collector{Maker: m, found: make([]*candidate, 0, st.NumFields())}
	level := []embedded{{label: label, st: st, open: m.open}}
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

// add adds field i of e, or notes the struct that it embeds for the next level.
func (c *collector) add(e embedded, i, depth int) {
	v := e.st.Field(i)
	if v.Name() == "_" {
		return
	}
	path := e.label + "." + v.Name()
	tag := c.tags.Read(v, path)
	spelt := tag.Name
	c.keepName(&tag, v)
	own := source.InMainModule(c.Packages[v.Pkg()])
	if inner, ok := v.Type().(*types.Named); ok && gotype.Is(inner, collectionPath, "Query") {
		c.next = append(c.next, embedded{
			e.label, inner.Underlying().(*types.Struct), append(slices.Clone(e.selector), v.Name()),
			append(slices.Clone(e.index), i), e.through, e.open,
		})
		return
	}
	if tag.Parameter == "" && !naming.IsValid(tag.Name) && !IsRuntime(v.Pkg()) && !naming.IsReservedField(tag.Name) &&
		(!own || tag.FromJSON && !strings.HasPrefix(tag.Name, "_")) {
		// The tag is for other clients too, or in a module that the user cannot edit.
		tag.Name, tag.Original = naming.ForField(tag.Name, v.Name()), tag.Name
	}
	if c.hides(v) {
		return
	}
	if tag.Hidden {
		if tag.HasAQL {
			c.Report(tag.TagAt, diag.Diagnostic{
				Code: diag.CodeType, FieldPath: path,
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
		if isStruct && !tag.Named {
			if pointer && !v.Exported() && v.Pkg() != c.own {
				field, fault := Declaration{Path: path, Tag: tag, Var: v, Through: e.through}, &Fault{
					Message: fmt.Sprintf("an embedded pointer to the unexported struct %s cannot be filled from outside its package",
						c.text(inner)),
					Suggestion: "embed the struct itself, or export its type",
				}
				if c.Editable(v.Pkg()) {
					c.reportFault(field, fault)
				} else {
					c.unfillable = append(c.unfillable, ForeignFault{field, fault})
				}
				return
			}
			through := e.through
			if through == nil && c.Editable(v.Pkg()) {
				through = &Declaration{Path: path, Tag: tag, Var: v}
			}
			open, fault := c.within(e.open, inner)
			if fault != nil {
				c.reportFault(Declaration{Path: path, Tag: tag, Var: v, Through: e.through}, fault)
				return
			}
			c.next = append(c.next, embedded{c.typeName(inner), st, selector, index, through, open})
			return
		}
	}
	if !v.Exported() && !isNamedEmbedding(v, tag) {
		if tag.HasAQL {
			c.Report(tag.TagAt, diag.Diagnostic{
				Code: diag.CodeType, FieldPath: path,
				Message:    fmt.Sprintf("field %s is unexported, so it never travels and its aql tag has no effect", v.Name()),
				Suggestion: fmt.Sprintf("rename it to %s, or remove the tag", naming.Exported(v.Name())),
			})
		}
		return
	}
	declaration := Declaration{Path: path, Tag: tag, Var: v, Through: e.through}
	c.found = append(c.found, &candidate{declaration, selector, index, depth, spelt})
}

// IsRuntime reports whether a package is the aql package or a part of it, whose names are those of the protocol.
func IsRuntime(pkg *types.Package) bool {
	return pkg != nil && (pkg.Path() == runtimePath || pkg.Path() == collectionPath)
}

// isNamedEmbedding reports whether a field embeds a struct under a name. To encoding/json that is a field like any
// other, exported or not.
func isNamedEmbedding(v *types.Var, tag tags.Tag) bool {
	_, isStruct := types.Unalias(v.Type()).Underlying().(*types.Struct)
	return v.Embedded() && isStruct && tag.Named
}

// dominant returns for each wire name the field that encoding/json would choose: the shallowest, and among those the
// tagged one. If two are equal, encoding/json drops both. That is a note in other modules, where the user cannot rename
// them, and an error in the user's own structs.
func (m *Maker) dominant(all []*candidate) []*candidate {
	m.qualifyQueryFields(all)
	names := make(map[string]*candidate, len(all))
	for _, c := range all { // different names may have the same nearest valid name
		if other, taken := names[c.Tag.Name]; !taken {
			names[c.Tag.Name] = c
		} else if other.spelt != c.spelt && !m.Editable(c.Var.Pkg()) {
			c.Tag.Name = naming.SnakeCase(c.Var.Name())
		}
	}
	slices.SortStableFunc(all, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(a.Tag.Name, b.Tag.Name), cmp.Compare(a.depth, b.depth),
			-cmp.Compare(rank(a), rank(b)), slices.Compare(a.index, b.index))
	})
	kept := make([]*candidate, 0, len(all))
	ambiguous := make(map[string]bool)
	for i, c := range all {
		if i > 0 && all[i-1].Tag.Name == c.Tag.Name {
			first := kept[len(kept)-1]
			if c.depth == first.depth && rank(c) == rank(first) && !m.Editable(c.Var.Pkg()) {
				ambiguous[c.Tag.Name] = true
				m.Report(c.Tag.NameAt, diag.Diagnostic{
					Severity: diag.Note, Code: diag.CodeDuplicate, FieldPath: c.Path, Actual: c.Tag.Name,
					Message: fmt.Sprintf("agents see neither %s nor %s: both are %q, and encoding/json has neither", c.Path,
						first.Path, c.Tag.Name),
					Related: []diag.Related{m.Related(first.Var.Pos(), first.Path+" is here")},
				})
			} else if c.depth == first.depth && rank(c) == rank(first) {
				m.Report(c.Tag.NameAt, diag.Diagnostic{
					Code: diag.CodeDuplicate, FieldPath: c.Path, Actual: c.Tag.Name,
					Message:    fmt.Sprintf("wire name %q is taken by field %s", c.Tag.Name, first.Path),
					Suggestion: "rename one of the two fields",
					Related:    []diag.Related{m.Related(first.Var.Pos(), first.Path+" is here")},
				})
			}
			continue
		}
		kept = append(kept, c)
	}
	if len(ambiguous) > 0 {
		kept = slices.DeleteFunc(kept, func(c *candidate) bool { return ambiguous[c.Tag.Name] })
	}
	slices.SortFunc(kept, func(a, b *candidate) int { return slices.Compare(a.index, b.index) })
	m.checkAliases(kept)
	return kept
}

func rank(c *candidate) int {
	if c.Tag.Named {
		return 1
	}
	return 0
}

// checkAliases reports aliases of fields that are not valid names, or taken.
func (m *Maker) checkAliases(fields []*candidate) {
	if !slices.ContainsFunc(fields, func(c *candidate) bool { _, ok := c.Tag.Item("alias"); return ok }) {
		return
	}
	taken := make(map[string]*candidate, len(fields))
	for _, c := range fields {
		taken[c.Tag.Name] = c
	}
	for _, c := range fields {
		item, ok := c.Tag.Item("alias")
		if !ok {
			continue
		}
		for _, alias := range item.List {
			first, clash := taken[alias]
			switch {
			case !naming.IsValid(alias):
				m.Report(item.ValueAt, diag.Diagnostic{
					Code: diag.CodeName, FieldPath: c.Path, Expected: "^[a-z][a-z0-9_]*$", Actual: alias,
					Message: fmt.Sprintf("alias %q does not match ^[a-z][a-z0-9_]*$", alias), Suggestion: naming.Use(alias),
				})
			case clash:
				m.Report(item.ValueAt, diag.Diagnostic{
					Code: diag.CodeDuplicate, FieldPath: c.Path, Actual: alias,
					Message: fmt.Sprintf("alias %q is taken by field %s", alias, first.Path),
					Related: []diag.Related{m.Related(first.Var.Pos(), first.Path+" is here")},
				})
			default:
				taken[alias] = c
			}
		}
	}
}

// typeName is the Go name of t for field paths.
func (m *Maker) typeName(t types.Type) string {
	if named, ok := t.(*types.Named); ok {
		return named.Obj().Name()
	}
	return m.text(t)
}

// reportFault reports that the type of a field cannot be carried.
func (m *Maker) reportFault(f Declaration, fault *Fault) {
	at := f.Tag.At
	if f.Tag.Field != nil {
		at = source.Span{Start: f.Tag.Field.Type.Pos(), End: f.Tag.Field.Type.End()}
	}
	if fault.Invalid {
		m.ReportInvalid(f.Var.Pkg(), at, f.Path)
		return
	}
	m.Report(at, diag.Diagnostic{
		Code: diag.CodeType, FieldPath: f.Path, Actual: m.text(f.Var.Type()),
		Message: fmt.Sprintf("field %s: %s", f.Path, fault.Message), Suggestion: fault.Suggestion,
	})
}
