package scan_test

import (
	"testing"

	"github.com/aqltag/aqltag/internal/scantest"
)

// Summaries are values of any type in a page, and hold none of sensitive fields: nothing is reported in package aql.
func TestSensitiveFieldsBesideSummaries(t *testing.T) {
	dir := scantest.Write(t, `
-- app.go --
package app

import (
	"context"

	aql "github.com/aqltag/aqltag/runtime"
)

// User is somebody.
type User struct {
	UserID string `+"`json:\"user_id\" aql:\"id,filter\"`"+`
	Age    int    `+"`json:\"age\" aql:\"sum\"`"+`
	Email  string `+"`json:\"email\" aql:\"sensitive\"`"+`
}

// ListRequest selects users.
type ListRequest struct {
	_ struct{} `+"`aql:\"category=READ\"`"+`
	aql.Query[User]
}

// ListUsers lists users.
//
//aql:example {"filter":{"user_id":"u1"}}
func ListUsers(ctx context.Context, req ListRequest) (*aql.Page[User], error) { return req.Slice(ctx, nil) }
`)
	for _, d := range scantest.Load(t, dir).Diagnostics {
		t.Errorf("%v: %s", d.Position, d.Message)
	}
}
