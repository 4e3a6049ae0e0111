package params

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan/jsonvalue"
	"github.com/aqltag/aqltag/internal/scan/tags"
)

// number checks a bound and returns it as written, empty if it is not one.
func (c constrainer) number(item tags.Item) string {
	value, ok := jsonvalue.ParseNumber(item.Value)
	if !ok {
		c.fail(item, diag.CodeType, fmt.Sprintf("%s needs a JSON number, not %q", item.Key, item.Value),
			"write it like 10 or 0.5")
		return ""
	}
	if message := jsonvalue.OutOfRange(c.shape, c.text(c.field.Var.Type()), item.Value, value); message != "" {
		c.fail(item, diag.CodeType, item.Key+": "+message, "")
		return ""
	}
	return item.Value
}

// count reads a number of characters or elements.
func (c constrainer) count(item tags.Item) int {
	n, err := strconv.Atoi(item.Value)
	if err != nil || n < 0 {
		c.fail(item, diag.CodeType, fmt.Sprintf("%s needs a whole number from 0, not %q", item.Key, item.Value), "")
		return 0
	}
	if n == 0 && strings.HasPrefix(item.Key, "max") {
		c.fail(item, diag.CodeType, fmt.Sprintf("%s=0 would leave only the empty value", item.Key),
			"remove it, or name a larger number")
	}
	return n
}

// applyPattern takes a regular expression that Go can run.
func (c constrainer) applyPattern(item tags.Item) {
	if _, err := regexp.Compile(item.Value); err != nil {
		message, suggestion := fmt.Sprintf("pattern is not a valid regular expression: %v", err), ""
		switch {
		case strings.Contains(item.Value, "(?=") || strings.Contains(item.Value, "(?!") ||
			strings.Contains(item.Value, "(?<=") || strings.Contains(item.Value, "(?<!"):
			message = "pattern uses look-ahead or look-behind, which RE2, Go's regular expressions, does not have"
			suggestion = "check this part in the handler, or split it into simpler constraints"
		case hasBackreference(item.Value):
			message = "pattern uses a backreference, which RE2, Go's regular expressions, does not have"
			suggestion = "check this part in the handler"
		}
		c.fail(item, diag.CodeType, message, suggestion)
		return
	}
	c.param.Pattern = item.Value
}

func hasBackreference(pattern string) bool {
	for i := 0; i+1 < len(pattern); i++ {
		if pattern[i] != '\\' {
			continue
		}
		if pattern[i+1] >= '1' && pattern[i+1] <= '9' || pattern[i+1] == 'k' {
			return true
		}
		i++
	}
	return false
}

// checkRanges reports bounds that no value can satisfy, if one of them comes from another library's tag.
func (c constrainer) checkRanges() {
	for _, suffix := range []string{"", "len", "items"} {
		low, ok := c.field.Tag.Item("min" + suffix)
		high, both := c.field.Tag.Item("max" + suffix)
		if !ok || !both || low.Origin == "" && high.Origin == "" {
			continue
		}
		a, lowOK := jsonvalue.ParseNumber(low.Value)
		b, highOK := jsonvalue.ParseNumber(high.Value)
		if !lowOK || !highOK || a.Cmp(b) <= 0 {
			continue
		}
		at, other, severity := low, high, diag.Error
		switch {
		case low.Origin != "" && high.Origin != "":
			severity = diag.Warning // the service has that contradiction itself
		case low.Origin != "":
			at, other = high, low
		}
		if !c.Editable(c.field.Var.Pkg()) {
			severity = diag.Note
		}
		c.Report(at.At, diag.Diagnostic{
			Severity: severity, Code: diag.CodeType, FieldPath: c.field.Path, Actual: at.Value,
			Suggestion: "make the two agree, or remove one of them",
			Message:    fmt.Sprintf("%s and %s contradict each other: no value can satisfy both", at.Spelled(), other.Spelled()),
			Related:    []diag.Related{c.Related(other.At.Start, other.Spelled()+" is here")},
		})
	}
}
