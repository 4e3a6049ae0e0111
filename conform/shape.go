package conform

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// shape checks the value at a path and returns what is wrong with it.
type shape func(path string, value any) []string

// member is the rule for a member of an object.
type member struct {
	required bool
	shape    shape
}

// closed is the shape of an object with these members and no others.
func closed(members map[string]member) shape {
	return func(path string, value any) []string {
		object, ok := value.(map[string]any)
		if !ok {
			return []string{path + " must be an object"}
		}
		var wrong []string
		for _, name := range slices.Sorted(maps.Keys(object)) {
			m, known := members[name]
			if !known {
				wrong = append(wrong, fmt.Sprintf("%s must not have the member '%s'", path, name))
				continue
			}
			if m.shape != nil {
				wrong = append(wrong, m.shape(path+"."+name, object[name])...)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if _, there := object[name]; members[name].required && !there {
				wrong = append(wrong, fmt.Sprintf("%s lacks the member '%s'", path, name))
			}
		}
		return wrong
	}
}

func isString(path string, value any) []string {
	if _, ok := value.(string); !ok {
		return []string{path + " must be a string"}
	}
	return nil
}

func isNonEmpty(path string, value any) []string {
	if text, ok := value.(string); !ok || text == "" {
		return []string{path + " must be a string that is not empty"}
	}
	return nil
}

func isBool(path string, value any) []string {
	if _, ok := value.(bool); !ok {
		return []string{path + " must be true or false"}
	}
	return nil
}

func isNumber(path string, value any) []string {
	if _, ok := value.(json.Number); !ok {
		return []string{path + " must be a number"}
	}
	return nil
}

func isCount(path string, value any) []string {
	number, ok := value.(json.Number)
	if !ok || strings.ContainsAny(string(number), ".-eE") {
		return []string{path + " must be a whole number that is not negative"}
	}
	return nil
}

func isObject(path string, value any) []string {
	if _, ok := value.(map[string]any); !ok {
		return []string{path + " must be an object"}
	}
	return nil
}

func isNull(path string, value any) []string {
	if value != nil {
		return []string{path + " must be null"}
	}
	return nil
}

func isTrue(path string, value any) []string {
	if value != true {
		return []string{path + " must be true"}
	}
	return nil
}

func isFalse(path string, value any) []string {
	if value != false {
		return []string{path + " must be false"}
	}
	return nil
}

func matches(re *regexp.Regexp) shape {
	return func(path string, value any) []string {
		if text, ok := value.(string); !ok || !re.MatchString(text) {
			return []string{fmt.Sprintf("%s must be a string that matches %s", path, re)}
		}
		return nil
	}
}

func oneOf(allowed ...string) shape {
	return func(path string, value any) []string {
		if text, ok := value.(string); !ok || !slices.Contains(allowed, text) {
			return []string{fmt.Sprintf("%s must be one of %s", path, strings.Join(allowed, ", "))}
		}
		return nil
	}
}

func listOf(item shape) shape {
	return func(path string, value any) []string {
		list, ok := value.([]any)
		if !ok {
			return []string{path + " must be a list"}
		}
		var wrong []string
		for i, each := range list {
			if item != nil {
				wrong = append(wrong, item(fmt.Sprintf("%s[%d]", path, i), each)...)
			}
		}
		return wrong
	}
}

// The closed shapes of introspection (MCP-AQL introspection §3 and §4).
var (
	snakeCase      = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	codePattern    = regexp.MustCompile(`^[A-Z][A-Z0-9_]*$`)
	versionPattern = regexp.MustCompile(`^\d+\.\d+\.\d+(-[a-zA-Z0-9.-]+)?$`)
	tokenPattern   = regexp.MustCompile(`^(conf|quota_continue)_[A-Za-z0-9_-]{1,64}$`)

	category = oneOf("CREATE", "READ", "UPDATE", "DELETE", "EXECUTE")
	typeKind = oneOf("enum", "object", "scalar", "union")

	operationInfo = closed(map[string]member{
		"name": {true, isString}, "semantic_category": {true, category}, "endpoint": {true, isNonEmpty},
		"description": {true, isString},
	})
	typeInfo = closed(map[string]member{"name": {true, isString},
		"kind": {true, typeKind}, "description": {false, isString}})
	parameterInfo = closed(map[string]member{
		"name": {true, isString}, "type": {true, isNonEmpty}, "required": {true, isBool}, "description": {false, isString},
		"default": {},
		"enum":    {false, listOf(nil)}, "minimum": {false, isNumber}, "maximum": {false, isNumber},
		"minLength": {false, isCount},
		"maxLength": {false, isCount}, "pattern": {false, isString}, "format": {false, isString}, "items": {false, isObject},
		"sensitive": {false, isBool},
	})
	operationDetails = closed(map[string]member{
		"name": {true, isString}, "semantic_category": {true, category}, "endpoint": {true, isNonEmpty},
		"mcpTool":     {true, isString},
		"description": {true, isString},
		"permissions": {true, closed(map[string]member{"readOnly": {true, isBool}, "destructive": {true, isBool}})},
		"parameters":  {true, listOf(parameterInfo)}, "returns": {true, typeInfo},
		"examples": {false, listOf(closed(map[string]member{"description": {false, isString}, "request": {true, isObject}}))},
		"computed_fields": {false, listOf(closed(map[string]member{
			"name": {true, matches(snakeCase)}, "type": {true, isString}, "description": {false, isString},
			"filterable": {false, isBool}, "sortable": {false, isBool},
		}))},
		"aggregation_support": {false, closed(map[string]member{
			"supported": {true, isBool}, "default_mode": {false, oneOf("summary_only", "include_items")},
			"functions":        {false, listOf(oneOf("count", "group_by", "sum", "avg", "min", "max"))},
			"groupable_fields": {false, listOf(isString)}, "numeric_fields": {false, listOf(isString)},
		})},
		"relationship_capabilities": {false, closed(map[string]member{
			"supported": {true, isBool}, "directions": {false, listOf(oneOf("incoming", "outgoing", "both"))},
			"relationship_types": {false, listOf(isString)}, "max_depth": {false, isCount},
		})},
		"lifecycle": {false, closed(map[string]member{
			"states": {true, listOf(isString)}, "supports_cancel": {false, isBool}, "supports_retry": {false, isBool},
			"progress_reporting": {false, isBool},
		})},
	})
)

// typeDetailsShape is the shape of a type in full, which depends on its kind.
func typeDetailsShape(path string, value any) []string {
	object, _ := value.(map[string]any)
	members := map[string]member{"name": {true, isString}, "kind": {true, typeKind}, "description": {false, isString}}
	switch object["kind"] {
	case "enum":
		members["values"] = member{true, listOf(isString)}
	case "object":
		members["fields"] = member{true, listOf(parameterInfo)}
	case "union":
		members["members"] = member{true, listOf(isString)}
	}
	return closed(members)(path, value)
}

// The shapes of responses (MCP-AQL core §5; operations §3 and §7).
var (
	failureShape = closed(map[string]member{"code": {true, matches(codePattern)},
		"message": {true, isNonEmpty}, "details": {false, isObject}})
	plainFailure = closed(map[string]member{"code": {true, matches(codePattern)}, "message": {true, isNonEmpty}})
	warningShape = closed(map[string]member{
		"code": {true, matches(codePattern)}, "message": {true, isString}, "details": {false, isObject},
		"severity": {false, oneOf("low", "medium", "high")},
	})
	successShape = closed(map[string]member{
		"success": {true, isTrue}, "data": {true, nil}, "warnings": {false, listOf(warningShape)}, "_meta": {false, isMeta},
	})
	failedShape = closed(map[string]member{
		"success": {true, isFalse}, "error": {true, failureShape}, "confirmation": {false, isObject},
		"deprecated":         {false, isBool},
		"deprecationMessage": {false, isString}, "deprecatedSince": {false, isString}, "removalVersion": {false, isString},
	})
	itemSuccess = closed(map[string]member{"success": {true, isTrue}, "data": {true, nil}})
	itemFailure = closed(map[string]member{"success": {true, isFalse}, "error": {true, failureShape}})
	batchShape  = closed(map[string]member{
		"success": {true, isTrue}, "data": {true, isNull}, "warnings": {false, listOf(warningShape)},
		"results": {true, listOf(closed(map[string]member{
			"index": {true, isCount}, "operation": {true, isString}, "result": {true, itemShape},
			"status": {false, oneOf("completed", "pending_confirmation")},
		}))},
		"summary": {true, closed(map[string]member{
			"total": {true, isCount}, "succeeded": {true, isCount}, "failed": {true, isCount},
			"halted": {false, isCount}, "pending": {false, isCount}, "pending_confirmation": {false, isCount},
		})},
		"halted_at": {false,
			closed(map[string]member{"index": {true, isCount}, "operation": {true, isString}, "result": {true, itemShape}})},
		"pending_operations": {false, listOf(closed(map[string]member{
			"index": {true, isCount}, "operation": {true, isString}, "params": {false, isObject},
		}))},
	})
)

func itemShape(path string, value any) []string {
	if object, _ := value.(map[string]any); object["success"] == false {
		return itemFailure(path, value)
	}
	return itemSuccess(path, value)
}

func isMeta(path string, value any) []string {
	object, ok := value.(map[string]any)
	if !ok {
		return []string{path + " must be an object"}
	}
	var wrong []string
	if id, there := object["request_id"]; there {
		wrong = append(wrong, isString(path+".request_id", id)...)
	}
	if duration, there := object["duration_ms"]; there {
		wrong = append(wrong, isNumber(path+".duration_ms", duration)...)
	}
	return wrong
}

// responseShape returns what is wrong with the shape of an answer.
func responseShape(x *exchange) []string {
	const path = "response"
	switch {
	case x.answer.root == nil:
		return []string{"the response must be a JSON object"}
	case isBool("", x.answer.root["success"]) != nil:
		return []string{"the response lacks a boolean 'success'"}
	case x.introspection && x.answer.root["success"] == true:
		return closed(map[string]member{"success": {true, isTrue}, "data": {true, isObject}})(path, x.answer.root)
	case x.introspection:
		return closed(map[string]member{"success": {true, isFalse}, "error": {true, plainFailure}})(path, x.answer.root)
	case x.answer.root["success"] == false:
		return failedShape(path, x.answer.root)
	case x.answer.root["results"] != nil:
		return batchShape(path, x.answer.root)
	}
	return successShape(path, x.answer.root)
}
