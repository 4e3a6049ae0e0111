package conform_test

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"

	"github.com/aqltag/aqltag/conform"
)

// inProcess is a server in this process. This one only answers introspect, and wrongly: the operation that it lists has
// no semantic category.
type inProcess struct{}

func (inProcess) Tools(context.Context) ([]conform.Tool, error) {
	return []conform.Tool{{Name: "mcp_aql_read", Description: "Call introspect to list the operations."}}, nil
}

func (inProcess) Call(_ context.Context, _ string, arguments json.RawMessage) (conform.Reply, error) {
	var request struct {
		Params struct{ Query, Name string }
	}
	if err := json.Unmarshal(arguments, &request); err != nil {
		return conform.Reply{}, err
	}
	answers := map[string]string{
		"operations": `{"_protocol":{"version":"1.0.0-draft"},"operations":[` +
			`{"name":"get_todo","endpoint":"read","description":"Reads a todo."}]}`,
		"types": `{"types":[]}`,
	}
	data := answers[request.Params.Query]
	if request.Params.Name != "" {
		data = `{"operation":null}`
	}
	return conform.Reply{Text: `{"success":true,"data":` + data + `}`}, nil
}

// Run probes any implementation of Server, also one that calls handlers directly.
func ExampleRun() {
	report, err := conform.Run(context.Background(), inProcess{}, conform.Options{
		Level: 1, Run: regexp.MustCompile(`^introspect/list-shape$`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, result := range report.Results() {
		fmt.Println(result.Name, result.Verdict)
		for _, finding := range result.Findings {
			fmt.Println("-", finding.Message)
		}
	}
	fmt.Println("exit code", report.ExitCode())
	// Output:
	// introspect/list-shape fail
	// - data.operations[0] lacks the member 'semantic_category'
	// exit code 1
}
