package wiretype

import (
	"fmt"
	"go/constant"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/internal/load"
	"github.com/aqltag/aqltag/internal/scan/comment"
	"github.com/aqltag/aqltag/internal/scan/gotype"
	"github.com/aqltag/aqltag/internal/scan/shapes"
	"github.com/aqltag/aqltag/model"
	"github.com/aqltag/aqltag/runtime/gen"
)

// knownValues describes the constants of a type that has other values too.
func (s *Set) knownValues(t types.Type) string {
	var values []string
	for _, c := range s.Constants(t, s.own, constant.String) {
		values = append(values, constant.StringVal(c.Val()))
	}
	if len(values) == 0 || len(values) > 40 {
		return ""
	}
	return "Known values: " + strings.Join(values, ", ") + "."
}

// enumValues returns the values of t with their comments, and the constant of each.
func (s *Set) enumValues(t types.Type) ([]gen.EnumValue, []*types.Const) {
	var out []gen.EnumValue
	var declared []*types.Const
	seen := make(map[string]bool)
	for _, c := range s.Constants(t, s.own, constant.String) {
		value := constant.StringVal(c.Val())
		if seen[value] {
			continue
		}
		seen[value] = true
		doc := comment.Describe(s.ValueDoc(c), c.Name())
		if !s.Editable(c.Pkg()) {
			doc = comment.Synopsis(doc)
		}
		out = append(out, gen.EnumValue{Value: value, Description: doc})
		declared = append(declared, c)
	}
	return out, declared
}

// messageValues returns the values of an enum in a message with their comments.
func (s *Set) messageValues(shape *shapes.Shape) []gen.EnumValue {
	var out []gen.EnumValue
	for _, value := range shape.Enum {
		doc := ""
		if value.Const != nil {
			if doc = comment.Describe(s.ValueDoc(value.Const), value.Value); !s.Editable(value.Const.Pkg()) {
				doc = comment.Synopsis(doc)
			}
		}
		out = append(out, gen.EnumValue{Value: value.Value, Description: doc})
	}
	return out
}

// constText is how generated code names a constant.
func (s *Set) constText(c *types.Const) model.GoType {
	if c.Pkg() == s.own {
		return model.GoType{Text: c.Name()}
	}
	if !load.MayImport(s.own.Path(), c.Pkg().Path()) {
		return model.GoType{}
	}
	return model.GoType{
		Text: c.Pkg().Name() + "." + c.Name(), Imports: []model.Import{{Path: c.Pkg().Path(), Name: c.Pkg().Name()}},
	}
}

// typeDoc is the description of a named type.
func (s *Set) typeDoc(t types.Type) string {
	named, ok := t.(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return ""
	}
	object := named.Origin().Obj()
	doc := comment.Describe(s.TypeSyntax(object).Doc, object.Name())
	if !s.Editable(object.Pkg()) {
		doc = comment.Synopsis(doc)
	}
	return doc
}

// integerParam is the wire type of an integer. The constants of its type are its description. If they are all integers
// between the smallest and the largest, as iota makes them, those are its bounds; constants that may be flags to
// combine are not.
func (s *Set) integerParam(shape *shapes.Shape) gen.Param {
	param := gen.Param{Type: "integer"}
	param.Minimum, param.Maximum = shapes.TypeBounds(shape)
	t := shape.Type
	if gotype.Is(t, "time", "Duration") {
		param.Description = "Nanoseconds."
		return param
	}
	var values []int64
	var texts []string
	for _, c := range s.Constants(t, s.own, constant.Int) {
		value, exact := constant.Int64Val(c.Val())
		if !exact || slices.Contains(values, value) {
			continue
		}
		values = append(values, value)
		text := fmt.Sprintf("%d %s", value, strings.TrimPrefix(strings.TrimPrefix(c.Name(), shape.Go.Name), "_"))
		if doc := comment.Synopsis(comment.Describe(s.ValueDoc(c), c.Name())); doc != "" {
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

// textFormat is the format that the name of a type stands for.
func textFormat(t types.Type) string {
	named, ok := t.(*types.Named)
	if !ok {
		return ""
	}
	switch name := strings.ToLower(named.Obj().Name()); {
	case strings.HasSuffix(name, "uuid"):
		return "uuid"
	case gotype.Is(t, "net/netip", "Addr"), gotype.Is(t, "net", "IP"):
		return "ip"
	case gotype.Is(t, "net/netip", "Prefix"):
		return "cidr"
	}
	return ""
}
