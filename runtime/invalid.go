package aql

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/wire"
	"github.com/aqltag/aqltag/runtime/words"
)

// invalid is what is wrong with the parameters of a request.
type invalid struct {
	operation   *operation
	problems    []wire.Problem
	unknown     []string // names that are not parameters
	legacyCodes bool
	lenient     bool // unknown names are no fault of their own
	unwrapped   bool // the request has no params
}

// failure reports the problems as one failure. The first stage of validation that found one decides, and within it the
// order of the definition, so that the answer does not depend on the order in which a request names its parameters.
func (v *invalid) failure() *Error {
	problems := slices.Clone(v.problems)
	slices.SortStableFunc(problems, func(a, b wire.Problem) int {
		return cmp.Or(cmp.Compare(a.Stage, b.Stage), cmp.Compare(v.operation.rank(a.Path), v.operation.rank(b.Path)))
	})
	stage := wire.StageUnknown
	if len(problems) > 0 {
		stage = min(stage, problems[0].Stage)
	}
	switch {
	case stage == wire.StageMissing:
		return v.missing(problems[0])
	case stage == wire.StageType:
		p := problems[0]
		value, reason := p.Value, p.Reason
		if v.operation.param(p.Path).Sensitive {
			value, reason = "", ""
		}
		refused := invalidType(strings.Clone(p.Path), p.Expected, p.Actual, value)
		if p.Provided != nil {
			refused.details = append(refused.details, detail{"provided", p.Provided})
		}
		if len(p.Allowed) > 0 {
			refused.details = append(refused.details, detail{"valid_fields", p.Allowed})
		}
		if hint := cmp.Or(p.Hint, hintOf(&p)); hint != "" {
			refused.details = append(refused.details, detail{"hint", hint})
		}
		if what, _ := words.Leak(reason); what == "" && reason != "" {
			refused.details = append(refused.details, detail{"reason", words.Clip(reason, mostReason)})
		}
		return refused
	case len(v.unknown) > 0 && !v.lenient:
		return v.unknownParams()
	case problems[0].Stage == wire.StageUnknown:
		return v.unknownFields(problems)
	default:
		return v.brokenRule(problems[0])
	}
}

// longestName is how much of a name that is none is repeated.
const longestName = 64

// mostReason is how much of what a type says of a value that it refuses is passed on.
const mostReason = 200

// hintOf says what to send in place of a value of another type; empty: the type says it.
func hintOf(p *wire.Problem) string {
	switch {
	case p.Expected == "date-time":
		return `RFC 3339 with a zone, such as "2026-03-01T00:00:00Z"`
	case p.Path == "sort" && slices.Equal(p.Allowed, []string{"field", "order"}):
		return `Use an object such as {"field":…,"order":"desc"}`
	case strings.HasPrefix(p.Path, "aggregate.") && slices.Contains(p.Allowed, gen.GroupBy):
		return `Give each summary a name: {"a":{"count":true}}`
	}
	return ""
}

func (v *invalid) missing(p wire.Problem) *Error {
	message := "Missing required parameter '" + p.Path + "'. Expected: " + p.Expected
	description := strings.TrimSuffix(words.FirstSentence(v.operation.param(p.Path).Description), ".")
	// A description that fails the leak check would make the whole message unusable.
	if words.StaticLeak(description) != "" {
		description = ""
	}
	if len(p.Allowed) > 0 {
		description = cmp.Or(description, "one of") + ": '" + strings.Join(p.Allowed, "', '") + "'"
	}
	if description != "" {
		message += " (" + description + ")"
	}
	details := []detail{{"param_name", strings.Clone(p.Path)}, {"operation", v.operation.definition.Name}}
	if len(p.Allowed) > 0 {
		details = append(details, detail{"allowed", p.Allowed})
	}
	if len(v.unknown) > 0 {
		details = append(details, detail{"unknown_params", cloned(v.unknown)})
		details = append(details, v.suggestions()...)
	} else if unknown, valid := v.unknownIn(parentOf(&p)); len(unknown) > 0 {
		details = append(details, detail{"unknown_fields", unknown})
		details = append(details, suggestions(unknown, valid)...)
	}
	return failure(CodeMissingParam, message, details...)
}

func (v *invalid) unknownParams() *Error {
	name := v.operation.definition.Name
	details := []detail{{"operation", name}, {"unknown_params", cloned(v.unknown)}, {"valid_params", v.operation.params}}
	message := "Unknown parameter(s) for operation '" + name + "': " + strings.Join(v.unknown, ", ")
	if name == "introspect" { // its failures have no details
		message += ". Valid parameters: " + strings.Join(v.operation.params, ", ")
	}
	return failure("VALIDATION_UNKNOWN_PARAM", message,
		append(details, v.suggestions()...)...)
}

// unknownFields lists all unknown names of the first object that has any.
func (v *invalid) unknownFields(problems []wire.Problem) *Error {
	parent := parentOf(&problems[0])
	names, valid := v.unknownIn(parent)
	operation := v.operation.definition.Name
	return failure("VALIDATION_UNKNOWN_FIELD",
		"Unknown field(s) in '"+parent+"' for operation '"+operation+"': "+strings.Join(names, ", "),
		append([]detail{{"operation", operation}, {"param_name", strings.Clone(parent)}, {"unknown_fields", names},
			{"valid_fields", valid}}, suggestions(names, valid)...)...)
}

// unknownIn returns the names of an object that are unknown, and those that it may have.
func (v *invalid) unknownIn(path string) (names, valid []string) {
	for i := range v.problems {
		if p := &v.problems[i]; p.Stage == wire.StageUnknown && parentOf(p) == path {
			if names == nil {
				valid = p.Allowed
			}
			names = append(names, strings.Clone(p.Name))
		}
	}
	return names, valid
}

// parentOf returns the path of the object that a problem with one of its names is about.
func parentOf(p *wire.Problem) string {
	return strings.TrimSuffix(strings.TrimSuffix(p.Path, p.Name), ".")
}

// brokenRule is the failure for a value of the right type that breaks a constraint or a rule of updates.
func (v *invalid) brokenRule(p wire.Problem) *Error {
	path, operation := strings.Clone(p.Path), v.operation.definition.Name
	switch p.Rule {
	case "read_only":
		return failure(CodeReadOnlyField, "Field '"+path+"' is read-only and cannot be updated.",
			detail{"field", path}, detail{"operation", operation})
	case "excludes":
		return failure("VALIDATION_DUPLICATE_PARAM",
			"Parameter '"+path+"' excludes '"+p.Limit+"'. Send one of the two.", detail{"param_name", path})
	case "append_only":
		return failure(CodeAppendOnly, "Field '"+path+"' is append-only and cannot be replaced.",
			detail{"field", path}, detail{"operation", operation})
	}
	details := []detail{{"param_name", path}}
	if p.Value != "" && !v.operation.param(p.Path).Sensitive {
		details = append(details, detail{"value", rawJSON(strings.Clone(p.Value))})
	}
	subject := "Parameter '" + path + "' must "
	code, message := CodeOutOfRange, ""
	switch p.Rule {
	case "enum":
		if p.Name != "" {
			subject = "Parameter '" + path + "' has '" + words.Clip(p.Name, longestName) + "', which must "
		}
		code, message = CodeInvalidEnum, subject+"be one of: '"+strings.Join(p.Allowed, "', '")+"'"
		details = append(details, detail{"allowed", p.Allowed})
		var given string
		if json.Unmarshal([]byte(p.Value), &given) == nil && (isFieldName(path) || p.Name != "") {
			details = append(details, suggestions([]string{given}, p.Allowed)...)
		}
	case "pattern":
		code, message = CodePatternMismatch, subject+"match pattern '"+p.Limit+"'"
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
	case "max_depth":
		message = subject + "have a depth <= '" + p.Limit + "'"
	case "max_comparisons":
		message = subject + "have a number of comparisons <= '" + p.Limit + "'"
	case "max_items":
		message = subject + "have a number of items <= '" + p.Limit + "'"
	}
	if code == CodeOutOfRange {
		details = append(details, detail{p.Rule, rawJSON(p.Limit)})
	}
	if p.Hint != "" {
		details = append(details, detail{"hint", p.Hint})
	}
	if v.legacyCodes {
		code = CodeInvalidType
	}
	return failure(code, message, details...)
}

func cloned(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = strings.Clone(name)
	}
	return out
}
