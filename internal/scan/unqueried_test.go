package scan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/diag"
	"github.com/aqltag/aqltag/internal/scantest"
)

// Tags of collections have no effect on structs of which no operation lists elements; search has none in a part of an
// element, either.
func TestTagsOfCollectionsWithoutEffect(t *testing.T) {
	dir := scantest.Write(t, `
-- app.go --
package app

import (
	"context"

	aql "github.com/aqltag/aqltag/runtime"
)

// Part is a part of both.
type Part struct {
	Code string `+"`json:\"code\" aql:\"filter,search\"`"+`
}

// Listed is listed.
type Listed struct {
	ID   string `+"`json:\"id\" aql:\"id,filter,sort,group,search\"`"+`
	Part Part   `+"`json:\"part\"`"+`
}

// Read is read alone.
type Read struct {
	ID   int    `+"`json:\"id\" aql:\"sort,sum\"`"+`
	Name string `+"`json:\"name\" aql:\"filter,group,search\"`"+`
}

// ListRequest selects.
type ListRequest struct {
	_ struct{} `+"`aql:\"category=READ,op=list_things\"`"+`
	aql.Query[Listed]
}

// List lists.
func List(ctx context.Context, req ListRequest) (*aql.Page[Listed], error) { return nil, nil }

// Get reads.
//
//aql:op category=READ,op=get_thing
func Get(ctx context.Context, id string) (*Read, error) { return nil, nil }
`)
	var said []string
	for _, d := range scantest.Load(t, dir).Diagnostics {
		if d.Severity != diag.Note {
			said = append(said, d.Message)
		}
	}
	want := []string{
		"search has no effect: no operation takes aql.Query[Part]",
		"sort has no effect: no operation takes aql.Query[Read]",
		"sum has no effect: no operation takes aql.Query[Read]",
		"filter has no effect: no operation takes aql.Query[Read]",
		"group has no effect: no operation takes aql.Query[Read]",
		"search has no effect: no operation takes aql.Query[Read]",
	}
	if diff := cmp.Diff(want, said); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
