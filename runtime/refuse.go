package aql

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
	"github.com/aqltag/aqltag/runtime/words"
)

// refuse makes one failure of everything that is wrong with the parameters: the first stage that found something decides
// (requirements REQ-VO-02), and within it the order of the definition, so that the answer does not depend on the order in
// which a request names its parameters.
func (x *exchange) refuse() *Error {
	problems := slices.Clone(x.problems)
	slices.SortStableFunc(problems, func(a, b wire.Problem) int {
		return cmp.Or(cmp.Compare(a.Stage, b.Stage), cmp.Compare(x.rank(a.Path), x.rank(b.Path)))
	})
	stage := wire.StageUnknown
	if len(problems) > 0 {
		stage = min(stage, problems[0].Stage)
	}
	switch {
	case stage == wire.StageMissing:
		return x.missing(problems[0])
	case stage == wire.StageType:
		p := problems[0]
		value := p.Value
		if x.param(p.Path).Sensitive {
			value = ""
		}
		return invalidType(strings.Clone(p.Path), p.Expected, p.Actual, value)
	case len(x.unknown) > 0:
		return x.unknownParams()
	case problems[0].Stage == wire.StageUnknown:
		return x.unknownFields(problems)
	default:
		return x.brokenRule(problems[0])
	}
}

// rank is the place of a path's parameter in the definition.
func (x *exchange) rank(path string) int {
	name := path
	if end := strings.IndexAny(path, ".["); end >= 0 {
		name = path[:end]
	}
	if original, ok := x.operation.aliases[name]; ok {
		name = original
	}
	return slices.Index(x.operation.params, name)
}

func (x *exchange) missing(p wire.Problem) *Error {
	message := "Missing required parameter '" + p.Path + "'. Expected: " + p.Expected
	// A description that trips the leak check would make the whole message unusable (requirements T-29).
	if description := strings.TrimSuffix(words.FirstSentence(x.param(p.Path).Description), "."); description != "" && words.Leak(description) == "" {
		message += " (" + description + ")"
	}
	details := []detail{{"param_name", strings.Clone(p.Path)}, {"operation", x.operation.definition.Name}}
	if len(x.unknown) > 0 {
		details = append(details, detail{"unknown_params", cloned(x.unknown)})
		details = append(details, x.suggestions()...)
	}
	return failure("VALIDATION_MISSING_PARAM", message, details...)
}

func (x *exchange) unknownParams() *Error {
	name := x.operation.definition.Name
	details := []detail{{"operation", name}, {"unknown_params", cloned(x.unknown)}, {"valid_params", x.operation.params}}
	return failure("VALIDATION_UNKNOWN_PARAM",
		"Unknown parameter(s) for operation '"+name+"': "+strings.Join(x.unknown, ", "),
		append(details, x.suggestions()...)...)
}

// mostSuggestions is the number of unknown names for which it is asked what they meant.
const mostSuggestions = 100

// suggestions maps unknown names to the parameters that were probably meant (requirements T-17).
func (x *exchange) suggestions() []detail {
	w := wire.NewWriter(nil)
	w.BeginObject()
	found := false
	for _, name := range x.unknown[:min(len(x.unknown), mostSuggestions)] {
		if near := words.Nearest(name, x.operation.params, 1); len(near) > 0 {
			found = true
			w.KeyEscaped(name)
			w.String(near[0])
		}
	}
	w.EndObject()
	if !found {
		return nil
	}
	return []detail{{"suggestions", rawJSON(w.Bytes())}}
}

// unknownFields lists all unknown names of the first object that has any.
func (x *exchange) unknownFields(problems []wire.Problem) *Error {
	first := problems[0]
	parent := strings.TrimSuffix(strings.TrimSuffix(first.Path, first.Name), ".")
	var names []string
	for _, p := range problems {
		if p.Stage == wire.StageUnknown && strings.TrimSuffix(strings.TrimSuffix(p.Path, p.Name), ".") == parent {
			names = append(names, strings.Clone(p.Name))
		}
	}
	operation := x.operation.definition.Name
	return failure("VALIDATION_UNKNOWN_FIELD",
		"Unknown field(s) in '"+parent+"' for operation '"+operation+"': "+strings.Join(names, ", "),
		detail{"operation", operation}, detail{"param_name", strings.Clone(parent)},
		detail{"unknown_fields", names}, detail{"valid_fields", first.Allowed})
}

// brokenRule is the failure for a value of the right type that breaks a constraint or a rule of updates.
func (x *exchange) brokenRule(p wire.Problem) *Error {
	path, operation := strings.Clone(p.Path), x.operation.definition.Name
	switch p.Rule {
	case "read_only":
		return failure("VALIDATION_READ_ONLY_FIELD", "Field '"+path+"' is read-only and cannot be updated.",
			detail{"field", path}, detail{"operation", operation})
	case "append_only":
		return failure("VALIDATION_APPEND_ONLY", "Field '"+path+"' is append-only and cannot be replaced.",
			detail{"field", path}, detail{"operation", operation})
	}
	details := []detail{{"param_name", path}}
	if p.Value != "" && !x.param(p.Path).Sensitive {
		details = append(details, detail{"value", rawJSON(strings.Clone(p.Value))})
	}
	subject := "Parameter '" + path + "' must "
	code, message := "VALIDATION_OUT_OF_RANGE", ""
	switch p.Rule {
	case "enum":
		code, message = "VALIDATION_INVALID_ENUM", subject+"be one of: '"+strings.Join(p.Allowed, "', '")+"'"
		details = append(details, detail{"allowed", p.Allowed})
	case "pattern":
		code, message = "VALIDATION_PATTERN_MISMATCH", subject+"match pattern '"+p.Limit+"'"
		details = append(details, detail{"pattern", p.Limit})
	case "minimum":
		message = subject + "be >= '" + p.Limit + "'"
	case "maximum":
		message = subject + "be <= '" + p.Limit + "'"
	case "min_length":
		message = subject + "have a length >= '" + p.Limit + "'"
	case "max_length":
		message = subject + "have a length <= '" + p.Limit + "'"
	case "min_items":
		message = subject + "have a number of items >= '" + p.Limit + "'"
	case "max_items":
		message = subject + "have a number of items <= '" + p.Limit + "'"
	}
	if code == "VALIDATION_OUT_OF_RANGE" {
		details = append(details, detail{string(p.Rule), rawJSON(p.Limit)})
	}
	if x.adapter.options.MVPErrorCodes {
		code = "VALIDATION_INVALID_TYPE"
	}
	return failure(code, message, details...)
}

// param finds the definition of what a path names, through items and types; a zero Param where there is none. It is
// sensitive when any part of the path is.
func (x *exchange) param(path string) gen.Param {
	fields := x.operation.definition.Params
	var found gen.Param
	sensitive := false
	for path != "" {
		name, rest := path, ""
		if end := strings.IndexAny(path, ".["); end >= 0 {
			name, rest = path[:end], path[end:]
		}
		at := slices.IndexFunc(fields, func(p gen.Param) bool { return p.Name == name || slices.Contains(p.Aliases, name) })
		if at >= 0 {
			found = fields[at]
		} else if found.Items != nil { // the member of a map
			found = *found.Items
		} else {
			return gen.Param{Sensitive: sensitive}
		}
		sensitive = sensitive || found.Sensitive
		for strings.HasPrefix(rest, "[") {
			_, rest, _ = strings.Cut(rest, "]")
			if found.Items != nil {
				found = *found.Items
			}
		}
		path, fields = strings.TrimPrefix(rest, "."), nil
		if t, ok := x.adapter.definitions.Type(found.Type); ok {
			fields = t.Fields
		}
	}
	found.Sensitive = sensitive
	return found
}

func cloned(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = strings.Clone(name)
	}
	return out
}

func decimal(n int) string { return strconv.Itoa(n) }
