package scan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/scan"
	"github.com/aqltag/aqltag/internal/scantest"
)

// sound is a package of which lint says nothing.
const sound = `
-- app.go --
// Package app keeps tasks.
package app

import (
	"context"

	aql "github.com/aqltag/aqltag/runtime"
)

// Task is something to do.
type Task struct {
	TaskID string §json:"task_id" aql:"id,filter,sort"§ // Which task
	Owner  string §json:"owner" aql:"filter=eq|in,sort"§ // Who does it
	Hours  int    §json:"hours" aql:"filter,sort,sum,group"§ // How long it takes
}

// ListTasksRequest selects tasks.
type ListTasksRequest struct {
	_ struct{} §aql:"category=READ"§
	aql.Query[Task]
}

// ListTasks lists tasks.
//
//aql:example {} All of them
func ListTasks(ctx context.Context, req ListTasksRequest) (*aql.Page[Task], error) { return nil, nil }

// Mark is set on a task.
type Mark struct {
	Text string §json:"text"§ // What it says
}

// MarkTask marks a task.
//
//aql:op category=EXECUTE
//aql:param taskID desc="Which task"
//aql:example {"task_id":"t1"} One of them
func MarkTask(ctx context.Context, taskID string) (*Mark, error) { return nil, nil }
`

// One mistake is reported once: lint warns of nothing that only follows from it.
func TestConsequencesAreNotReported(t *testing.T) {
	for _, tt := range []struct {
		name, sound, mistaken string
		want                  []string
	}{
		{"no mistake", "", "", nil},
		{
			"a blank line behind a directive", "//aql:op category=EXECUTE\n", "//aql:op category=EXECUTE\n\n",
			[]string{"//aql:op has no effect: a line that is no comment separates it from MarkTask"},
		},
		{
			"a query of no struct", "aql.Query[Task]", "aql.Query[*Task]",
			[]string{"aql.Query needs a struct type"},
		},
		{
			"an example without its parameter", `{"task_id":"t1"}`, `{"task":"t1"}`,
			[]string{`example: there is no parameter "task"`},
		},
		{
			"a category that is none", "category=READ", "category=REED",
			[]string{`key "category" takes one of CREATE, READ, UPDATE, DELETE, EXECUTE`},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := strings.ReplaceAll(strings.Replace(sound, tt.sound, tt.mistaken, 1), "§", "`")
			result, err := scan.Load(t.Context(), scan.Options{
				Dir: scantest.Write(t, text), Env: []string{"GOWORK=off", "GOFLAGS=", "GOPROXY=off"}, Cache: scantest.Cache,
				Lint: true,
			})
			if err != nil {
				t.Fatal(err)
			}
			var said []string
			for _, d := range result.Diagnostics {
				said = append(said, d.Message)
			}
			if diff := cmp.Diff(tt.want, said); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}
