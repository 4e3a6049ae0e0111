package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/tiktoken-go/tokenizer"

	"github.com/aqltag/aqltag/internal/scratch"
)

// mostControls is the promise for the parameters with which agents filter, sort, page and summarise one list.
const mostControls = 300

// The controls of a list operation cost an agent that asks for its details no more than is promised.
func TestControlsOfAList(t *testing.T) {
	root, err := scratch.Root()
	if err != nil {
		t.Fatal(err)
	}
	scenario, err := os.ReadFile(filepath.Join(root, "testdata", "golden", "collections", "summaries.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	_, answer, _ := bytes.Cut(scenario, []byte(`{"query":"operations","name":"list_shipments"}}`+"\n"))
	answer, _, _ = bytes.Cut(answer, []byte("\n"))
	var details struct {
		Data struct {
			Operation struct{ Parameters []json.RawMessage }
		}
	}
	if err := json.Unmarshal(answer, &details); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	codec, err := tokenizer.Get(tokenizer.O200kBase)
	if err != nil {
		t.Fatal(err)
	}
	controls := []string{"filter", "sort", "first", "after", "last", "before", "aggregate", "include_items"}
	found, sum := 0, 0
	for _, text := range details.Data.Operation.Parameters {
		var parameter struct{ Name string }
		if err := json.Unmarshal(text, &parameter); err != nil {
			t.Fatal(err)
		}
		if !slices.Contains(controls, parameter.Name) {
			continue
		}
		n, err := codec.Count(string(text))
		if err != nil {
			t.Fatal(err)
		}
		found, sum = found+1, sum+n
	}
	if found != len(controls) || sum > mostControls {
		t.Errorf("%d of %d controls take %d tokens, more than %d", found, len(controls), sum, mostControls)
	}
}
