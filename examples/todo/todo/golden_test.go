package todo_test

import (
	"testing"

	"github.com/aqltag/aqltag/examples/todo/todo"
	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/aqltest"
)

// A change of what agents see shows in the diff of testdata/agent.golden, which go test -update writes.
func TestWhatAgentsSee(t *testing.T) {
	aqltest.Golden(t, todo.NewRegistry(nil), "testdata/agent.golden",
		aql.Options{Name: "todo", Version: "1.0.0", SupportsETag: true})
}
