package aql

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/aqltag/aqltag/runtime/gen"
)

// budget is the bound of an answer that a request may not exceed although the protocol's limit allows it; zero: none.
// An operation that may have changed something has no budget: the agent would take its refusal for a failure.
func (x *exchange) budget(q *request) int {
	budget := x.adapter.options.AnswerBudget
	if budget == 0 || q.operation.definition.Category != gen.Read {
		return 0
	}
	return budget
}

// watchBudget warns where an answer of so many bytes is near its budget.
func (x *exchange) watchBudget(ctx context.Context, q *request, budget, size int) {
	if budget == 0 || size <= budget/4*3 {
		return
	}
	x.warn(ctx, q, Warning{
		Code:    "PERFORMANCE_LARGE_RESPONSE_WARNING",
		Message: fmt.Sprintf("The answer takes %d of %d bytes", size, budget) + askForLess(q.operation.smaller),
		details: []detail{
			{"limit_value", budget}, {"actual_value", size}, {"unit", "bytes"}, {"smaller_with", q.operation.smaller},
		},
	})
}

// beyondBudget is the failure for an answer that exceeds its budget.
func beyondBudget(o *operation, budget, size int) *Error {
	f := tooLarge("response_size", budget, size, "bytes")
	f.Message += askForLess(o.smaller)
	f.details = append(f.details, detail{"smaller_with", o.smaller})
	return f
}

// askForLess ends a sentence with the parameters that make an answer smaller.
func askForLess(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return "; ask for less with '" + strings.Join(names, "' or '") + "'"
}

// pageSizes are the names of parameters that bound how many items an answer has.
var pageSizes = []string{"first", "last", "limit", "page_size", "per_page", "max_results", "top"}

// smaller returns the parameters that make the answer of an operation smaller: the one that selects fields, and those
// that bound the number of items.
func smaller(o *gen.Operation) []string {
	names := []string{}
	for i := range o.Params {
		p := &o.Params[i]
		if p.Type == gen.TypeSelection || p.Type == "integer" && slices.Contains(pageSizes, p.Name) {
			names = append(names, p.Name)
		}
	}
	return names
}

// checkBudget fails on a budget that no answer fits into.
func checkBudget(bytes int) error {
	const least = 1 * kib
	if bytes != 0 && bytes < least {
		return fmt.Errorf("AnswerBudget is %d; it is in bytes, %s or more, or zero for none", bytes, strconv.Itoa(least))
	}
	return nil
}
