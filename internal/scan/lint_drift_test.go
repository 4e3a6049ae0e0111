package scan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scan"
	"github.com/aqltag/aqltag/internal/scantest"
)

// Lint names the first call, in the order of the source, by which a computed field depends on the time.
func TestDriftNamesTheFirstCall(t *testing.T) {
	body := map[string]string{
		"OneCall":       "return int(time.Since(t.At))",
		"ThenAnother":   "now := time.Now()\n\treturn int(now.Sub(t.At) + time.Since(t.At))",
		"InOneBranch":   "if t.At.IsZero() {\n\t\treturn int(time.Until(t.At))\n\t}\n\treturn time.Now().Day()",
		"AsAnArgument":  "return int(time.Since(time.Now()) + time.Until(t.At))",
		"AsAnOperand":   "return int(time.Now().Sub(t.At) + time.Until(t.At))",
		"InAFunction":   "day := func() int { return time.Now().Day() }\n\treturn day() + int(time.Since(t.At))",
		"WithoutAClock": "return t.At.Day() + int(time.Duration(1))",
	}
	methods := ""
	for name, text := range body {
		methods += "\n// " + name + " is computed.\n//\n//aql:computed sort\n" +
			"func (t *Task) " + name + "() int {\n\t" + text + "\n}\n"
	}
	dir := scantest.Write(t, `
-- app.go --
package app

import (
	"context"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
)

// Task is something to do.
type Task struct {
	TaskID string    `+"`json:\"task_id\" aql:\"id,filter,sort\"`"+`
	At     time.Time `+"`json:\"at\"`"+`
}
`+methods+`
// ListTasksRequest selects tasks.
type ListTasksRequest struct {
	_ struct{} `+"`aql:\"category=READ\"`"+`
	aql.Query[Task]
}

// ListTasks lists tasks.
func ListTasks(ctx context.Context, req ListTasksRequest) (*aql.Page[Task], error) { return req.Slice(ctx, nil) }
`)
	result, err := scan.Load(t.Context(), scan.Options{
		Dir: dir, Env: []string{"GOWORK=off", "GOFLAGS=", "GOPROXY=off"}, Cache: scantest.Cache, Lint: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	named := make(map[string]string)
	for _, d := range result.Diagnostics {
		if d.Severity == diag.Error {
			t.Error(d.Message)
		}
		if d.Kind == diag.KindDrift {
			call, _, _ := strings.Cut(strings.TrimPrefix(d.Message, d.FieldPath+" calls "), ":")
			named[d.FieldPath] = call
		}
	}
	want := map[string]string{
		"OneCall": "time.Since", "ThenAnother": "time.Now", "InOneBranch": "time.Until", "AsAnArgument": "time.Since",
		"AsAnOperand": "time.Now", "InAFunction": "time.Now",
	}
	if diff := cmp.Diff(want, named); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
