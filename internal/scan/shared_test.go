package scan_test

import (
	"testing"

	"github.com/aqltag/aqltag/internal/load"
	"github.com/aqltag/aqltag/internal/scan"
	"github.com/aqltag/aqltag/internal/scantest"
)

// The parameters of aql.Query follow from the elements and the tags of each collection, so lint asks for no one default
// of them, and names no place in the runtime, where nobody can follow its advice, also if a directory replaces it.
func TestLintLeavesTheParametersOfQueriesAlone(t *testing.T) {
	dir := scantest.Write(t, `
-- app.go --
package app

import (
	"context"

	aql "github.com/aqltag/aqltag/runtime"
)

// User is somebody.
type User struct {
	UserID string `+"`json:\"user_id\" aql:\"id,sort\"`"+`
	Age    int    `+"`json:\"age\" aql:\"sort,filter\"`"+`
}

// ListRequest selects users.
type ListRequest struct {
	_ struct{} `+"`aql:\"category=READ,sort=age\"`"+`
	aql.Query[User]
}

// ListUsers lists users.
//
//aql:example {"filter":{"age":1}}
func ListUsers(ctx context.Context, req ListRequest) (*aql.Page[User], error) { return req.Slice(ctx, nil) }

// OldestRequest selects users.
type OldestRequest struct {
	_ struct{} `+"`aql:\"category=READ,sort=-age\"`"+`
	aql.Query[User]
}

// ListOldest lists the oldest users first.
//
//aql:example {"filter":{"age":1}}
func ListOldest(ctx context.Context, req OldestRequest) (*aql.Page[User], error) { return req.Slice(ctx, nil) }
`)
	options := scan.Options{Dir: dir, Env: []string{"GOWORK=off", "GOFLAGS=", "GOPROXY=off"}, Cache: scantest.Cache,
		Lint: true}
	for _, options.Loader = range []load.Loader{load.GoPackages, load.Own} {
		result, err := scan.Load(t.Context(), options)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range result.Diagnostics {
			t.Errorf("loader %v: %v: %s", options.Loader, d.Position, d.Message)
		}
	}
}
