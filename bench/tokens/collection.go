package main

import (
	"fmt"
	"slices"

	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/tiktoken-go/tokenizer"
)

// collectionBudget is the promise for what the parameters of a collection add to the details of an operation, in
// o200k_base tokens.
const collectionBudget = 330

// collection prints what the parameters of aql.Query add to the details of list_todos.
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
	fmt.Printf("\ndetails of list_todos: %d, of them for its collection: %d\n", with, with-without)
	if with-without > collectionBudget {
		return fmt.Errorf("the parameters of a collection cost %d tokens, more than %d", with-without, collectionBudget)
	}
	return nil
}

// details counts what introspect answers about an operation.
func details(codec tokenizer.Codec, adapter *gen.Definitions, operation string) (int, error) {
	profile, err := describe.FindProfile("", nil)
	if err != nil {
		return 0, err
	}
	surface := describe.Surface{Mode: describe.Semantic, Profile: profile}
	in, err := describe.Introspect(adapter, surface, describe.Protocol{})
	if err != nil {
		return 0, err
	}
	n, err := codec.Count(string(in.Operation(operation)))
	if err != nil {
		return 0, fmt.Errorf("counting tokens: %w", err)
	}
	return n, nil
}
