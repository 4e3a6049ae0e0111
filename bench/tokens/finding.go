package main

import (
	"encoding/json"
	"fmt"

	"github.com/aqltag/aqltag/internal/catalogue"
	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/tiktoken-go/tokenizer"
)

// findingBudget is the promise for finding one of 1,000 operations, in o200k_base tokens.
const findingBudget = 600

// finding prints what it costs an agent to find one of 1,000 operations: the requests and the answers, and beside them
// one tool for each operation.
func finding(codec tokenizer.Codec) error {
	definitions := catalogue.Definitions()
	profile, err := describe.FindProfile("", nil)
	if err != nil {
		return err
	}
	surface := describe.Surface{Mode: describe.Single, Profile: profile}
	in, err := describe.Introspect(definitions, surface, describe.Protocol{})
	if err != nil {
		return err
	}
	found, _ := in.Select(describe.Selection{Search: "give a customer money back"})
	const operation = "refund_payment"
	texts := []struct{ what, text string }{
		{"search", `{"operation":"introspect","params":{"query":"operations","search":"give a customer money back"}}`},
		{"its answer", string(found)},
		{"details", `{"operation":"introspect","params":{"query":"details","names":["` + operation + `"]}}`},
		{"their answer", string(in.Details([]string{operation}))},
	}
	fmt.Printf("\nfinding %s among %d operations:\n", operation, len(definitions.Operations))
	total := 0
	for _, t := range texts {
		n, err := codec.Count(t.text)
		if err != nil {
			return fmt.Errorf("counting tokens: %w", err)
		}
		total += n
		fmt.Printf("%-44s %8d\n", t.what, n)
	}
	fmt.Printf("%-44s %8d\n", "together", total)
	discrete := describe.Surface{Mode: describe.Discrete, Profile: profile}
	tools, err := discrete.Tools(definitions, describe.Protocol{})
	if err != nil {
		return err
	}
	all, err := count(codec, tools)
	if err != nil {
		return err
	}
	fmt.Printf("%-44s %8d\n", "one tool for each operation", all)
	var schemas int
	for _, name := range names(found) {
		for i := range tools {
			if tools[i].Name == name {
				n, err := count(codec, tools[i:i+1])
				if err != nil {
					return err
				}
				schemas += n
			}
		}
	}
	fmt.Printf("%-44s %8d\n", "a search that answers with five such tools", schemas)
	if total > findingBudget {
		return fmt.Errorf("finding an operation costs %d tokens, more than %d", total, findingBudget)
	}
	return nil
}

// names returns the names of the operations in an answer of introspect.
func names(answer []byte) []string {
	var parsed struct {
		Data struct{ Operations []struct{ Name string } }
	}
	if json.Unmarshal(answer, &parsed) != nil {
		return nil
	}
	var list []string
	for _, o := range parsed.Data.Operations {
		list = append(list, o.Name)
	}
	return list
}
