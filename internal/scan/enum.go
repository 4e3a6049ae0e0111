package scan

import (
	"fmt"
	"go/constant"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/internal/load"
	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

// knownValues tells the constants of a type that has other values too.
func (s *wireTypes) knownValues(t types.Type) string {
	var values []string
	for _, c := range s.constants(t, s.own, constant.String) {
		values = append(values, constant.StringVal(c.Val()))
	}
	if len(values) == 0 || len(values) > 40 {
		return ""
	}
	return "Known values: " + strings.Join(values, ", ") + "."
}

// enumValues are the values of t with their docs, as introspection shows them, and the constant that declares each.
func (s *wireTypes) enumValues(t types.Type) ([]gen.EnumValue, []*types.Const) {
	var out []gen.EnumValue
	var declared []*types.Const
	seen := make(map[string]bool)
	for _, c := range s.constants(t, s.own, constant.String) {
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
func (s *wireTypes) constText(c *types.Const) model.GoType {
	if c.Pkg() == s.own {
		return model.GoType{Text: c.Name()}
	}
	if !load.MayImport(s.own.Path(), c.Pkg().Path()) {
		return model.GoType{}
	}
	return model.GoType{Text: c.Pkg().Name() + "." + c.Name(), Imports: []model.Import{{Path: c.Pkg().Path(), Name: c.Pkg().Name()}}}
}

// typeDoc is the description of a named type.
func (s *wireTypes) typeDoc(t types.Type) string {
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
func (w *wireTypes) integerParam(shape *Shape) gen.Param {
	param := gen.Param{Type: "integer"}
	param.Minimum, param.Maximum = typeBounds(shape)
	t := shape.Type
	if isNamed(t, "time", "Duration") {
		param.Description = "Nanoseconds."
		return param
	}
	var values []int64
	var texts []string
	for _, c := range w.constants(t, w.own, constant.Int) {
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
