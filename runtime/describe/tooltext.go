package describe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// Tool descriptions cost tokens in every conversation, so their length is bounded, however many operations there are.
// The budgets are in estimated tokens. Introspect lists the operations that are left out.
const (
	familyBudget  = 150 // names in the tool of one family
	unifiedBudget = 130 // names in the unified tool
	exampleLength = 80  // bytes of the params of an example
)

// openings are the first lines in the descriptions of the CRUDE families, and effects describe what their operations do
// (MCP-AQL MCP integration §2.1.1).
var (
	openings = map[string]string{
		"create":  "Additive, non-destructive operations.",
		"read":    "Safe, read-only operations.",
		"update":  "Modifying operations that overwrite data.",
		"delete":  "Destructive operations that remove data.",
		"execute": "Runtime lifecycle operations with effects beyond stored data.",
	}
	effects = map[string]string{
		"create":  "Adds data; leaves existing data as it is.",
		"read":    "Changes nothing.",
		"update":  "Overwrites existing values.",
		"delete":  "Removed data may be gone for good.",
		"execute": "Potentially destructive and non-idempotent.",
	}
)

// familyText returns the description of a family's tool (MCP-AQL MCP integration §2.1.1).
func (s Surface) familyText(family *Family, operations []*gen.Operation) string {
	var lines []string
	opening, crude := openings[family.Name]
	if family.Description != "" {
		opening = family.Description
	}
	if opening != "" {
		lines = append(lines, opening)
	}
	if !crude && len(family.Categories) > 0 {
		lines = append(lines, "Primary semantic categories: "+joinCategories(family.Categories))
	}
	if len(operations) == 0 {
		lines = append(lines, "Supported operations: none; no operations are available here.")
	} else {
		lines = append(lines, "Supported operations: "+listNames(operations, familyBudget))
	}
	if effect := effects[family.Name]; effect != "" && len(operations) > 0 {
		lines = append(lines, effect)
	}
	if example, ok := s.quickStart(operations); ok {
		lines = append(lines, "Example: "+example)
	}
	introspection := s.Profile.introspectFamily()
	switch {
	case family.Name == introspection:
		lines = append(lines, "Discover all operations: "+introspectCall(""), s.addName(operations), batchLine)
	case len(operations) == 0:
		lines = append(lines, "Discover operations (via "+s.toolName(introspection)+"): "+introspectCall(""))
	default:
		lines = append(lines,
			"Discover required parameters (via "+s.toolName(introspection)+"): "+introspectCall(operations[0].Name))
	}
	return strings.Join(lines, "\n")
}

// unifiedText returns the description of the tool for all operations (MCP-AQL MCP integration §2.1.2).
func (s Surface) unifiedText(a *gen.Definitions) string {
	lines := []string{title(a) + ": " + domain(a) + "All operations in one tool, routed automatically by operation name."}
	groups := make([][]*gen.Operation, len(gen.Categories()))
	for _, o := range s.everyOperation(a) {
		if i := slices.Index(gen.Categories(), o.Category); i >= 0 {
			groups[i] = append(groups[i], o)
		}
	}
	shown := share(groups, unifiedBudget)
	for i, category := range gen.Categories() {
		if len(groups[i]) > 0 {
			lines = append(lines, string(category)+": "+names(groups[i], shown[i]))
		}
	}
	lines = append(lines, "Quick start: "+introspectCall(""), s.addName(s.everyOperation(a)), batchLine)
	return strings.Join(lines, "\n")
}

// batchLine explains the member operations of the input schema (MCP-AQL operations §7).
const batchLine = `Types: query "types". Batch: { operations: [{ operation, params }, …] }`

func joinCategories(categories []gen.Category) string {
	var text []string
	for _, category := range categories {
		text = append(text, string(category))
	}
	return strings.Join(text, ", ")
}

// addName returns the line, below a call of introspect for all operations, about introspecting one.
func (s Surface) addName(operations []*gen.Operation) string {
	name := IntrospectName
	if own := slices.IndexFunc(operations, func(o *gen.Operation) bool { return !s.isBuiltIn(o.Name) }); own >= 0 {
		name = operations[own].Name
	}
	return fmt.Sprintf("Discover required parameters: add name: %q to its params", name)
}

// introspectCall returns a call of introspect for one operation, or for all if name is empty.
func introspectCall(name string) string {
	if name == "" {
		return `{ operation: "introspect", params: { query: "operations" } }`
	}
	return `{ operation: "introspect", params: { query: "operations", name: "` + name + `" } }`
}

// listNames returns the names of as many operations as the budget allows.
func listNames(operations []*gen.Operation, budget int) string {
	return names(operations, share([][]*gen.Operation{operations}, budget)[0])
}

func names(operations []*gen.Operation, shown int) string {
	var list []string
	for _, o := range operations[:shown] {
		list = append(list, o.Name)
	}
	if more := len(operations) - shown; more > 0 {
		list = append(list, fmt.Sprintf("+%d more", more))
	}
	return strings.Join(list, ", ")
}

// share divides a budget of tokens among groups of operations, one name for each group in turn, so that a large group
// does not displace a small one. It returns how many operations of each group are shown, at least one of each.
func share(groups [][]*gen.Operation, budget int) []int {
	shown := make([]int, len(groups))
	for round := 0; ; round++ {
		dealt := false
		for i, group := range groups {
			if shown[i] < round || round >= len(group) {
				continue
			}
			cost := tokens(group[round].Name)
			if round > 0 && cost > budget {
				continue
			}
			budget -= cost
			shown[i]++
			dealt = true
		}
		if !dealt {
			return shown
		}
	}
}

// tokens estimates the cost of a name and the comma after it: a token for each word, two for a long one.
func tokens(name string) int {
	cost := 1
	for word := range strings.SplitSeq(name, "_") {
		cost += 1 + len(word)/9
	}
	return cost
}

// quickStart returns a short request: the first example in a definition, else an operation without required parameters,
// else one with the names of its required parameters.
func (s Surface) quickStart(operations []*gen.Operation) (string, bool) {
	for _, o := range operations {
		for _, example := range o.Examples {
			if !s.isBuiltIn(o.Name) && len(example.Params) <= exampleLength {
				return fmt.Sprintf("{ operation: %q, params: %s }", o.Name, example.Params), true
			}
		}
	}
	var outline string
	for _, o := range operations {
		var required []string
		for i := range o.Params {
			if o.Params[i].Required {
				required = append(required, o.Params[i].Name+": …")
			}
		}
		params := strings.Join(required, ", ")
		switch {
		case s.isBuiltIn(o.Name):
		case params == "":
			return fmt.Sprintf("{ operation: %q }", o.Name), true
		case outline == "" && len(params) <= exampleLength:
			outline = fmt.Sprintf("{ operation: %q, params: { %s } }", o.Name, params)
		}
	}
	return outline, outline != ""
}
