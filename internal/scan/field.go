package scan

import (
	"fmt"
	"go/token"
	"go/types"

	"github.com/aqltag/aqltag/runtime/gen"
)

// paramMaker makes parameters of fields and arguments: from their tags, comments and shapes.
type paramMaker struct {
	*program
	own      *types.Package
	remarked map[foreignRemark]token.Pos // where rules of other modules were first remarked on
}

// foreignRemark is a remark on a rule in the tags of a type of another module.
type foreignRemark struct {
	pkg       *types.Package
	typ, rule string
}

func newParamMaker(p *program, own *types.Package) *paramMaker {
	return &paramMaker{program: p, own: own, remarked: make(map[foreignRemark]token.Pos)}
}

// text is a Go type as the user writes it.
func (s *paramMaker) text(t types.Type) string { return typeText(t, s.own) }

// fill fills in the parameters of the fields of structs.
func (s *paramMaker) fill(structs []*Shape) {
	for _, shape := range structs {
		for i := range shape.Fields {
			s.fillField(&shape.Fields[i])
		}
	}
}

// fillField fills in the parameter of a field. What depends on the names of types comes later: Type, Items and the values
// of an enum type. What encoding/json's tag options say is there already.
func (s *paramMaker) fillField(field *Field) {
	param := s.paramOf(field.Declaration, field.Shape, field.Param.Quoted)
	param.Go, param.OmitEmpty, param.OmitZero, param.Quoted = field.Param.Go, field.Param.OmitEmpty, field.Param.OmitZero, field.Param.Quoted
	field.Param = param
}

func (s *paramMaker) paramOf(f Declaration, shape *Shape, quotedNumber bool) gen.Param {
	s.checkName(f.tag, f.path)
	param := gen.Param{Name: f.tag.name, ReadOnly: isReservedPayload(f.tag.name)}
	if f.tag.field != nil {
		param.Description = describe(firstComment(f.tag.field.Doc, f.tag.field.Comment), f.tag.goName)
		if !s.editable(f.v.Pkg()) {
			param.Description = synopsis(param.Description)
		}
	}
	if f.tag.foreign.description != "" {
		param.Description = f.tag.foreign.description
	}
	elements := s.settle(&f, shape)
	c := constrainer{s, f, pointed(shape), &param}
	for _, item := range f.tag.items {
		c.apply(item)
	}
	c.checkEnum()
	c.checkRanges()
	s.applyElements(f, shape, &param, elements)
	if item, ok := f.tag.item("default"); ok {
		c.applyDefault(item, quotedNumber)
	}
	return param
}

// apply takes one item of the tag.
func (c constrainer) apply(item placedItem) {
	if !c.applicable(item) {
		return
	}
	switch item.Key {
	case "required":
		c.param.Required = true
	case "sensitive":
		c.param.Sensitive = true
	case "readonly":
		c.param.ReadOnly = true
	case "appendonly":
		c.param.AppendOnly = true
	case "id":
		c.param.ID = true
	case "desc":
		c.param.Description = item.Value
	case "deprecated":
		c.param.Deprecated = item.Value
		if item.Flag {
			c.param.Deprecated = "Deprecated."
		}
	case "format":
		c.param.Format = item.Value
	case "alias":
		c.param.Aliases = item.List
	case "preset":
		c.param.Presets = item.List
	case "enum":
		c.applyEnum(item)
	case "min":
		c.param.Minimum = c.number(item)
	case "max":
		c.param.Maximum = c.number(item)
	case "minlen":
		c.param.MinLength = c.count(item)
	case "maxlen":
		c.param.MaxLength = c.count(item)
	case "minitems":
		c.param.MinItems = c.count(item)
	case "maxitems":
		c.param.MaxItems = c.count(item)
	case "pattern":
		c.applyPattern(item)
	}
}

// applyEnum takes the allowed values of a string; a type with constants of its own allows no others.
func (c constrainer) applyEnum(item placedItem) {
	declared := make(map[string]bool)
	var names []string
	for _, constant := range c.shape.Enum {
		declared[constant.Value] = true
		names = append(names, constant.Value)
	}
	seen := make(map[string]bool)
	var allowed []string
	for _, value := range item.List {
		switch {
		case len(declared) > 0 && !declared[value]:
			message := fmt.Sprintf("enum value %q is no constant of type %s", value, c.shape.Go.Name)
			if item.origin != "" {
				message = fmt.Sprintf("%s lists %q, which is no constant of type %s", item.origin, value, c.shape.Go.Name)
			}
			c.report(item.value, Diagnostic{
				Severity: c.severity(SeverityError), Code: codeType, FieldPath: c.field.path, Actual: value, Message: message, Suggestion: suggestWord(value, names),
			})
			continue
		case seen[value]:
			c.fail(item, codeDuplicate, fmt.Sprintf("enum lists %q twice", value), "remove one of them")
			continue
		}
		seen[value] = true
		allowed = append(allowed, value)
	}
	c.param.Enum = allowed
}
