package params

import (
	"fmt"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/jsonvalue"
	"github.com/aqltag/aqltag/internal/scan/tags"
)

// applyEnum takes the allowed values of a string. A type with constants allows no others.
func (c constrainer) applyEnum(item tags.Item) {
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
			if item.Origin != "" {
				message = fmt.Sprintf("%s lists %q, which is no constant of type %s", item.Origin, value, c.shape.Go.Name)
			}
			c.Report(item.ValueAt, diag.Diagnostic{
				Severity: c.severity(diag.Error), Code: diag.CodeType, FieldPath: c.field.Path, Actual: value, Message: message,
				Suggestion: diag.DidYouMean(value, names),
			})
			continue
		case seen[value]:
			c.fail(item, diag.CodeDuplicate, fmt.Sprintf("enum lists %q twice", value), "remove one of them")
			continue
		}
		seen[value] = true
		allowed = append(allowed, value)
	}
	c.param.Enum = allowed
}

// checkEnum reports allowed values that the field's other constraints refuse.
func (c constrainer) checkEnum() {
	item, ok := c.field.Tag.Item("enum")
	if !ok {
		return
	}
	for _, value := range c.param.Enum {
		if problems := c.scalarProblems(value); len(problems) > 0 {
			c.fail(item, diag.CodeType, fmt.Sprintf("enum value %q can never be given: %s", value, problems[0]), "")
		}
	}
}

// scalarProblems checks a string against the length and pattern of the field.
func (c constrainer) scalarProblems(value string) []string {
	param := *c.param
	param.Enum = nil
	var problems []string
	jsonvalue.CheckString(param, value, func(message string) { problems = append(problems, message) })
	return problems
}
