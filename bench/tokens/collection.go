package main

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/tiktoken-go/tokenizer"
)

// collectionBudget is the promise for the parameters of a collection in the details of an operation, in o200k_base
// tokens.
const collectionBudget = 300

// collection prints what the parameters of aql.Query take of the details of list_todos. What agents may summarise,
// which the details say once more for those that look for it, is not among them.
func collection(codec tokenizer.Codec, adapter *gen.Definitions) error {
	with, err := details(codec, adapter, "list_todos")
	if err != nil {
		return err
	}
	plain := *adapter
	plain.Operations = slices.Clone(adapter.Operations)
	for i := range plain.Operations {
		o := &plain.Operations[i]
		o.Params = slices.DeleteFunc(slices.Clone(o.Params), func(p gen.Param) bool {
			return p.Name != "fields" && p.Name != "preset"
		})
	}
	without, err := details(codec, &plain, "list_todos")
	if err != nil {
		return err
	}
	support, err := summarySupport(codec, adapter, "list_todos")
	if err != nil {
		return err
	}
	parameters := with - without - support
	fmt.Printf("\ndetails of list_todos: %d, of them for the parameters of its collection: %d, for its summaries: %d\n",
		with, parameters, support)
	if parameters > collectionBudget {
		return fmt.Errorf("the parameters of a collection cost %d tokens, more than %d", parameters, collectionBudget)
	}
	return nil
}

// summarySupport counts what the details of an operation say of its summaries beside its parameters.
func summarySupport(codec tokenizer.Codec, adapter *gen.Definitions, operation string) (int, error) {
	text, err := introspected(adapter, operation)
	if err != nil {
		return 0, err
	}
	var answer struct {
		Data struct {
			Operation struct {
				Support json.RawMessage `json:"aggregation_support"`
			}
		}
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return 0, fmt.Errorf("reading the details of %s: %w", operation, err)
	}
	n, err := codec.Count(`,"aggregation_support":` + string(answer.Data.Operation.Support))
	if err != nil {
		return 0, fmt.Errorf("counting tokens: %w", err)
	}
	return n, nil
}

// details counts what introspect answers about an operation.
func details(codec tokenizer.Codec, adapter *gen.Definitions, operation string) (int, error) {
	text, err := introspected(adapter, operation)
	if err != nil {
		return 0, err
	}
	n, err := codec.Count(string(text))
	if err != nil {
		return 0, fmt.Errorf("counting tokens: %w", err)
	}
	return n, nil
}

// introspected returns what introspect answers about an operation.
func introspected(adapter *gen.Definitions, operation string) ([]byte, error) {
	profile, err := describe.FindProfile("", nil)
	if err != nil {
		return nil, err
	}
	surface := describe.Surface{Mode: describe.Semantic, Profile: profile}
	in, err := describe.Introspect(adapter, surface, describe.Protocol{})
	if err != nil {
		return nil, err
	}
	return in.Operation(operation), nil
}
