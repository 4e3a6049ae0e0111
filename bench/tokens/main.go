// Command tokens counts the tokens that the tool list and the instructions of an adapter take of a model's context,
// with the o200k_base tokenizer. It fails when an adapter of 50 operations takes more than the project promises.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/aqltag/aqltag/examples/todo/todo"
	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/tiktoken-go/tokenizer"
)

// The promises for 50 operations, in o200k_base tokens.
const (
	singleBudget   = 350
	semanticBudget = 1300
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "tokens:", err)
		os.Exit(1)
	}
}

func run() error {
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		return fmt.Errorf("loading the tokenizer: %w", err)
	}
	todoAdapter := todo.NewRegistry(nil).Definitions()
	todoAdapter.Name = "todo"
	gen.AddExecutions(&todoAdapter)
	fifty := synthetic(50)
	fmt.Println("o200k_base tokens of tools/list with one tool, five, and one for each operation, and of instructions:")
	fmt.Printf("%-12s %10s %10s %10s %12s\n", "adapter", "single", "semantic", "discrete", "instructions")
	over := false
	for _, adapter := range []*gen.Definitions{&todoAdapter, fifty} {
		single, err := cost(codec, adapter, describe.Single)
		if err != nil {
			return err
		}
		semantic, err := cost(codec, adapter, describe.Semantic)
		if err != nil {
			return err
		}
		discrete, err := cost(codec, adapter, describe.Discrete)
		if err != nil {
			return err
		}
		page, err := instructions(codec, adapter)
		if err != nil {
			return err
		}
		operations := len(adapter.Operations)
		fmt.Printf("%-12s %10d %10d %10d %12d   %d operations\n", adapter.Name, single, semantic, discrete, page, operations)
		over = over || adapter == fifty && (single > singleBudget || semantic > semanticBudget)
	}
	if over {
		return fmt.Errorf("50 operations cost more than %d (single) or %d (semantic) tokens", singleBudget, semanticBudget)
	}
	if err := collection(codec, &todoAdapter); err != nil {
		return err
	}
	if err := cursors(context.Background(), codec); err != nil {
		return err
	}
	return finding(codec)
}

func cost(codec tokenizer.Codec, adapter *gen.Definitions, mode describe.Mode) (int, error) {
	profile, err := describe.FindProfile("", nil)
	if err != nil {
		return 0, err
	}
	tools, err := describe.Surface{Mode: mode, Profile: profile}.Tools(adapter, describe.Protocol{})
	if err != nil {
		return 0, err
	}
	if mode == describe.Discrete {
		tools = tools[1:] // introspect, which a server without MCP-AQL does not have
	}
	return count(codec, tools)
}

// instructions counts what an adapter with default options tells a model when it connects.
func instructions(codec tokenizer.Codec, adapter *gen.Definitions) (int, error) {
	profile, err := describe.FindProfile("", nil)
	if err != nil {
		return 0, err
	}
	surface := describe.Surface{Mode: describe.Semantic, Profile: profile}
	protocol := describe.Protocol{Capabilities: describe.Capabilities{Confirmation: true}}
	n, err := codec.Count(surface.Instructions(adapter, protocol))
	if err != nil {
		return 0, fmt.Errorf("counting tokens: %w", err)
	}
	return n, nil
}

// wireTool is a tool in an answer to tools/list.
type wireTool struct {
	Annotations annotations     `json:"annotations"`
	Description string          `json:"description"`
	InputSchema json.RawMessage `json:"inputSchema"`
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
}

type annotations struct {
	Destructive bool `json:"destructiveHint"`
	Idempotent  bool `json:"idempotentHint"`
	ReadOnly    bool `json:"readOnlyHint"`
}

func count(codec tokenizer.Codec, tools []describe.Tool) (int, error) {
	list := make([]wireTool, 0, len(tools))
	for _, tool := range tools {
		list = append(list, wireTool{
			Annotations: annotations{Destructive: tool.Destructive, ReadOnly: tool.ReadOnly},
			Description: tool.Description, InputSchema: tool.InputSchema, Name: tool.Name, Title: tool.Title,
		})
	}
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(list); err != nil {
		return 0, fmt.Errorf("encoding the tool list: %w", err)
	}
	n, err := codec.Count(text.String())
	if err != nil {
		return 0, fmt.Errorf("counting tokens: %w", err)
	}
	return n, nil
}

// synthetic is an adapter of n operations over ten kinds of resources, five operations each, with parameters like those
// of a real service.
func synthetic(n int) *gen.Definitions {
	resources := []string{
		"invoice", "customer", "product", "shipment", "payment", "warehouse", "contract", "employee", "campaign", "ticket",
	}
	kinds := []struct {
		verb     string
		category gen.Category
		danger   gen.Danger
	}{
		{"create", gen.Create, gen.Reversible}, {"get", gen.Read, gen.Safe}, {"list", gen.Read, gen.Safe},
		{"update", gen.Update, gen.Reversible}, {"delete", gen.Delete, gen.Destructive},
	}
	adapter := &gen.Definitions{
		Name: "synthetic", Version: "1.0.0", Description: "Orders, stock and staff of a trading company.",
	}
	for i := range n {
		resource, kind := resources[i/len(kinds)%len(resources)], kinds[i%len(kinds)]
		plural := resource
		if kind.verb == "list" {
			plural += "s"
		}
		operation := gen.Operation{
			Name: kind.verb + "_" + plural, Category: kind.category, Danger: kind.danger,
			Description: "Handles one " + resource + " of the company: " + kind.verb + ".",
			Returns:     gen.Returns{Name: "Nothing", Kind: gen.KindScalar},
		}
		switch kind.verb {
		case "list":
			operation.Params = []gen.Param{
				{Name: "query", Type: "string", Description: "Text to look for"},
				{Name: "limit", Type: "integer", Default: "25", Minimum: "1", Maximum: "100", Description: "Page size"},
				{Name: "offset", Type: "integer", Default: "0", Minimum: "0", Description: "How many to skip"},
			}
		case "create":
			operation.Params = []gen.Param{
				{
					Name: "name", Type: "string", Required: true, MinLength: 1, MaxLength: 200,
					Description: "Name of the " + resource,
				},
				{Name: "notes", Type: "string", MaxLength: 4000, Description: "Free text"},
				{
					Name: "status", Type: "string", Enum: []string{"draft", "active", "closed"}, Default: `"draft"`,
					Description: "Where it stands",
				},
				{Name: "due_at", Type: "string", Format: "date-time", Description: "When it is due"},
				{Name: "tags", Type: "array", Items: &gen.Param{Type: "string"}, MaxItems: 20, Description: "Tags"},
			}
		default:
			operation.Params = []gen.Param{
				{Name: resource + "_id", Type: "string", Required: true, Description: "Which " + resource},
			}
			if kind.verb == "update" {
				input := gen.Param{Name: "input", Type: "object", Required: true, Description: "What changes"}
				operation.Params = append(operation.Params, input)
			}
		}
		adapter.Operations = append(adapter.Operations, operation)
	}
	return adapter
}
