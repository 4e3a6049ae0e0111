package scan

import (
	"fmt"
	"go/constant"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

// constantsOf lists the typed string constants of t that the package being generated can name, in declaration order,
// one for each value: they make t an enum, unless it is open.
func (s *shaper) constantsOf(t types.Type) []model.EnumConst {
	var out []model.EnumConst
	seen := make(map[string]bool)
	for _, c := range s.constants(t, constant.String) {
		if value := constant.StringVal(c.Val()); !seen[value] {
			seen[value] = true
			out = append(out, model.EnumConst{Name: c.Name(), Value: value})
		}
	}
	if len(out) > 0 && s.isOpen(t) {
		return nil
	}
	return out
}

// isOpen reports whether the constants of a string type of another module are not all of its values: a function beside them
// makes values out of any string, as func NewBranchName(name string) ReferenceName does. One that may fail is a parser.
func (s *shaper) isOpen(t types.Type) bool {
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil || s.editable(named.Obj().Pkg()) {
		return false
	}
	scope := s.scopeOf(named.Obj().Pkg())
	for _, name := range scope.Names() {
		fn, ok := scope.Lookup(name).(*types.Func)
		if !ok || !fn.Exported() {
			continue
		}
		signature := fn.Signature()
		if signature.Results().Len() != 1 || !types.Identical(signature.Results().At(0).Type(), t) {
			continue
		}
		for param := range signature.Params().Variables() {
			if types.Identical(param.Type(), types.Typ[types.String]) {
				return true
			}
		}
	}
	return false
}

// knownValues tells the constants of a type that has other values too.
func (s *shaper) knownValues(t types.Type) string {
	var values []string
	for _, c := range s.constants(t, constant.String) {
		values = append(values, constant.StringVal(c.Val()))
	}
	if len(values) == 0 || len(values) > 40 {
		return ""
	}
	return "Known values: " + strings.Join(values, ", ") + "."
}

// enumValues are the values of t with their docs, as introspection shows them, and the constant that declares each.
func (s *shaper) enumValues(t types.Type) ([]gen.EnumValue, []*types.Const) {
	var out []gen.EnumValue
	var declared []*types.Const
	seen := make(map[string]bool)
	for _, c := range s.constants(t, constant.String) {
		value := constant.StringVal(c.Val())
		if seen[value] {
			continue
		}
		seen[value] = true
		doc := describe(s.valueDoc(c), c.Name())
		if !s.editable(c.Pkg()) {
			doc = synopsis(doc)
		}
		out = append(out, gen.EnumValue{Value: value, Description: doc})
		declared = append(declared, c)
	}
	return out, declared
}

// constText is how generated code names a constant.
func (s *shaper) constText(c *types.Const) model.GoType {
	if c.Pkg() == s.own {
		return model.GoType{Text: c.Name()}
	}
	if !canImport(s.own.Path(), c.Pkg().Path()) {
		return model.GoType{}
	}
	return model.GoType{Text: c.Pkg().Name() + "." + c.Name(), Imports: []model.Import{{Path: c.Pkg().Path(), Name: c.Pkg().Name()}}}
}

// constants finds the constants of type t and of a kind in the package that declares t, in declaration order.
func (s *shaper) constants(t types.Type, kind constant.Kind) []*types.Const {
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return nil
	}
	pkg := named.Obj().Pkg()
	var found []*types.Const
	scope := s.scopeOf(pkg)
	for _, name := range scope.Names() {
		c, ok := scope.Lookup(name).(*types.Const)
		if !ok || !types.Identical(c.Type(), t) || c.Val().Kind() != kind {
			continue
		}
		if pkg == s.own || c.Exported() {
			found = append(found, c)
		}
	}
	slices.SortFunc(found, func(a, b *types.Const) int { return s.before(a.Pos(), b.Pos()) })
	return found
}

// typeDoc is the description of a named type.
func (s *shaper) typeDoc(t types.Type) string {
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return ""
	}
	object := named.Origin().Obj()
	doc := describe(s.typeSyntax(object).doc, object.Name())
	if !s.editable(object.Pkg()) {
		doc = synopsis(doc)
	}
	return doc
}

// integerParam is the wire type of an integer. A type with constants is told by them; where they are all there are between
// the smallest and the largest, as iota makes them, no other value is taken. Constants that may be flags to combine bound
// nothing.
func (w *wireTypes) integerParam(shape *model.Shape) gen.Param {
	param := gen.Param{Type: "integer"}
	param.Minimum, param.Maximum = typeBounds(shape)
	t := w.goTypes[shape]
	if isNamed(t, "time", "Duration") {
		param.Description = "Nanoseconds."
		return param
	}
	var values []int64
	var texts []string
	for _, c := range w.constants(t, constant.Int) {
		value, exact := constant.Int64Val(c.Val())
		if !exact || slices.Contains(values, value) {
			continue
		}
		values = append(values, value)
		text := fmt.Sprintf("%d %s", value, strings.TrimPrefix(strings.TrimPrefix(c.Name(), shape.Go.Name), "_"))
		if doc := synopsis(describe(w.valueDoc(c), c.Name())); doc != "" {
			text += " (" + strings.TrimSuffix(doc, ".") + ")"
		}
		texts = append(texts, text)
	}
	if len(values) < 2 || len(values) > 40 {
		return param
	}
	param.Description = "One of " + strings.Join(texts, ", ") + "."
	low, high := slices.Min(values), slices.Max(values)
	if high-low == int64(len(values)-1) && (low != 1 || high != 2) {
		param.Minimum, param.Maximum = strconv.FormatInt(low, 10), strconv.FormatInt(high, 10)
		return param
	}
	param.Description = "Known values: " + strings.Join(texts, ", ") + "."
	return param
}

// typeBounds is what an integer type can hold, where that is not what agents take for granted; empty: no bound.
func typeBounds(shape *model.Shape) (low, high string) {
	bits := shape.Bits
	if shape.Kind == model.ShapeUint {
		if low = "0"; bits > 0 && bits < 64 {
			high = strconv.FormatUint(1<<bits-1, 10)
		}
		return low, high
	}
	if bits > 0 && bits < 64 {
		low, high = strconv.FormatInt(-1<<(bits-1), 10), strconv.FormatInt(1<<(bits-1)-1, 10)
	}
	return low, high
}

// textFormat is the hint that a type's name gives about its text.
func textFormat(t types.Type) string {
	named, ok := t.(*types.Named)
	if !ok {
		return ""
	}
	switch name := strings.ToLower(named.Obj().Name()); {
	case strings.HasSuffix(name, "uuid"):
		return "uuid"
	case isNamed(t, "net/netip", "Addr"), isNamed(t, "net", "IP"):
		return "ip"
	case isNamed(t, "net/netip", "Prefix"):
		return "cidr"
	}
	return ""
}

// ownJSON is the JSON kind of the well-known types that write their own JSON. Nothing says what the others write.
func ownJSON(t types.Type) string {
	if isNamed(t, "math/big", "Int") {
		return "integer"
	}
	return "any"
}
