// Package scantest makes modules for tests of the scanner and scans them with both loaders.
package scantest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/aqltag/aqltag/internal/load"
	"github.com/aqltag/aqltag/internal/scan"
)

// runtimeStub stands in for the runtime module: the scanner knows aql.Patch by its import path and name alone.
const runtimeStub = `
-- aqltag/go.mod --
module github.com/aqltag/aqltag

go 1.26
-- aqltag/runtime/internal/collection/collection.go --
package collection

type Query[T any] struct {
	Filter Filter[T] ` + "`json:\"filter\"`" + `
	Text   string    ` + "`json:\"query\"`" + `
	Sort   Sort[T]   ` + "`json:\"sort\"`" + `
	First  int       ` + "`json:\"first\" aql:\"min=0\"`" + `
	After  string    ` + "`json:\"after\"`" + `
	Last   int       ` + "`json:\"last\" aql:\"min=0\"`" + `
	Before string    ` + "`json:\"before\"`" + `

	Page     int ` + "`json:\"page\" aql:\"min=1\"`" + `
	PageSize int ` + "`json:\"page_size\" aql:\"min=1\"`" + `
	Limit    int ` + "`json:\"limit\" aql:\"min=0\"`" + `
	Offset   int ` + "`json:\"offset\" aql:\"min=0\"`" + `

	Aggregate    map[string]Summary[T] ` + "`json:\"aggregate\" aql:\"minitems=1,maxitems=10\"`" + `
	IncludeItems bool                  ` + "`json:\"include_items\"`" + `
}

type Summary[T any] struct {
	Count   bool   ` + "`json:\"count\"`" + `
	GroupBy string ` + "`json:\"group_by\"`" + `
	Sum     string ` + "`json:\"sum\"`" + `
	Avg     string ` + "`json:\"avg\"`" + `
	Min     string ` + "`json:\"min\"`" + `
	Max     string ` + "`json:\"max\"`" + `
}

type Filter[T any] struct{ of [0]*T }

type Sort[T any] struct {
	Field string ` + "`json:\"field\" aql:\"required\"`" + `
	Order string ` + "`json:\"order\" aql:\"enum=asc|desc,default=asc\"`" + `
}
-- aqltag/runtime/aql.go --
package aql

import (
	"context"

	"github.com/aqltag/aqltag/runtime/internal/collection"
)

type Run struct{ id string }

type Patch[T any] struct{ raw string }

func (p *Patch[T]) Apply(v *T) error { return nil }

type Optional[T any] struct{ value T }

type Selection struct{ chosen []string }

type Query[T any] struct{ body collection.Query[T] }

func (q *Query[T]) Slice(ctx context.Context, all []T) (*Page[T], error) { return nil, nil }

type Page[T any] struct {
	Items        []T            ` + "`json:\"items,omitzero\"`" + `
	Info         PageInfo       ` + "`json:\"pageInfo,omitzero\"`" + `
	Pagination   Pagination     ` + "`json:\"pagination,omitzero\"`" + `
	Aggregations map[string]any ` + "`json:\"aggregations,omitempty\"`" + `
}

type PageInfo struct {
	HasNextPage bool ` + "`json:\"hasNextPage\"`" + `
}

type Pagination struct {
	Page       int  ` + "`json:\"page\"`" + `
	PageSize   int  ` + "`json:\"page_size\"`" + `
	Limit      int  ` + "`json:\"limit\"`" + `
	Offset     int  ` + "`json:\"offset\"`" + `
	Returned   int  ` + "`json:\"returned\"`" + `
	TotalItems *int ` + "`json:\"total_items,omitempty\"`" + `
	TotalPages *int ` + "`json:\"total_pages,omitempty\"`" + `
	HasMore    bool ` + "`json:\"has_more\"`" + `
}

type Fields struct {
	Fields Selection ` + "`json:\"fields,omitzero\"`" + `
	Preset string    ` + "`json:\"preset,omitempty\"`" + `
}

type Registry struct{}
`

const moduleFile = `
-- go.mod --
module example.com/app

go 1.26

require github.com/aqltag/aqltag v0.0.0

replace github.com/aqltag/aqltag => ./aqltag
`

// Write materialises a module example.com/app from the files of a txtar archive and returns its directory.
func Write(t *testing.T, archive string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{moduleFile, runtimeStub, archive} {
		for _, file := range txtar.Parse([]byte(text)).Files {
			path := filepath.Join(dir, filepath.FromSlash(file.Name))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, file.Data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir
}

// Cache is where Load keeps export data from test to test, apart from the user's own. It is for tests that run in Main.
var Cache string

// Main runs the tests of a package with a Cache of their own, and ends the process.
func Main(m *testing.M) {
	dir, err := os.MkdirTemp("", "aql-tag-scan")
	if err != nil {
		panic(err)
	}
	Cache = dir
	code := m.Run()
	os.RemoveAll(dir)
	os.Exit(code)
}

// Load scans the packages in dir that match patterns, the package in dir itself by default, with both loaders, and
// demands that they agree. Sources that the own loader leaves to go/packages are scanned by that alone.
func Load(t *testing.T, dir string, patterns ...string) scan.Result {
	t.Helper()
	result, reason := LoadEnv(t, []string{"GOWORK=off", "GOFLAGS=", "GOPROXY=off"}, dir, patterns...)
	if reason != nil {
		t.Logf("own loader: %v", reason)
	}
	return result
}

// LoadEnv is Load with variables of the environment. It also returns why the own loader left the work to go/packages.
func LoadEnv(t *testing.T, env []string, dir string, patterns ...string) (scan.Result, error) {
	t.Helper()
	options := scan.Options{Dir: dir, Patterns: patterns, Env: env, Cache: Cache, Loader: load.GoPackages}
	result, err := scan.Load(context.Background(), options)
	if err != nil {
		t.Fatal(err)
	}
	options.Loader = load.Own
	own, err := scan.Load(context.Background(), options)
	if err != nil {
		return result, err
	}
	if diff := cmp.Diff(result, own); diff != "" {
		t.Errorf("the two loaders do not agree (-go/packages +own):\n%s", diff)
	}
	return result, nil
}

// Render is what a user sees of the diagnostics.
func Render(t *testing.T, dir string, result scan.Result) string {
	t.Helper()
	var out bytes.Buffer
	for _, d := range result.Diagnostics {
		if err := d.Write(&out, dir, false); err != nil {
			t.Fatal(err)
		}
	}
	return out.String()
}
