package scan

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/types"

	"golang.org/x/tools/go/packages"
)

// queryTypes returns the types aql.Query and aql.Page. A package whose functions know nothing of queries need not
// import package aql: then they are those that this file declares.
func (b *builder) queryTypes() (query, page types.Type) {
	scope := b.runtimeScope()
	if scope == nil || scope.Lookup("Query") == nil || scope.Lookup("Page") == nil {
		if b.declared == nil {
			b.declared = b.declare(runtimePath, runtimeSource, b.declare("encoding/json", jsonSource),
				b.declare(runtimePath+"/internal/collection", collectionSource))
		}
		scope = b.declared.Scope()
	}
	return scope.Lookup("Query").Type(), scope.Lookup("Page").Type()
}

// runtimeScope returns the scope of package aql as the package that is scanned sees it; nil: it does not.
func (b *builder) runtimeScope() *types.Scope {
	visited := make(map[*types.Package]bool)
	var find func(pkg *types.Package) *types.Package
	find = func(pkg *types.Package) *types.Package {
		if visited[pkg] {
			return nil
		}
		visited[pkg] = true
		if pkg.Path() == runtimePath {
			return pkg
		}
		for _, imported := range pkg.Imports() {
			if found := find(imported); found != nil {
				return found
			}
		}
		return nil
	}
	if found := find(b.own); found != nil {
		return b.ScopeOf(found)
	}
	return nil
}

// declare adds a package to the program. It panics if that does not compile.
func (b *builder) declare(path, source string, imports ...*types.Package) *types.Package {
	file, err := parser.ParseFile(b.Fset, path+"/query.go", source, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		panic(err)
	}
	config := types.Config{Importer: declaredPackages(imports)}
	pkg, err := config.Check(path, b.Fset, []*ast.File{file}, nil)
	if err != nil {
		panic(err)
	}
	b.Packages[pkg] = &packages.Package{
		ID: path, PkgPath: path, Name: pkg.Name(), Types: pkg, Syntax: []*ast.File{file}, Fset: b.Fset,
	}
	return pkg
}

// declaredPackages are packages that a declared one can import.
type declaredPackages []*types.Package

func (d declaredPackages) Import(path string) (*types.Package, error) {
	for _, pkg := range d {
		if pkg.Path() == path {
			return pkg, nil
		}
	}
	return nil, fmt.Errorf("package %s is not declared", path)
}

// collectionSource declares what requests fill in of aql.Query.
const collectionSource = `package collection

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

type Filter[T any] struct{ _ [0]*T }

type Sort[T any] struct {
	Field string ` + "`json:\"field\" aql:\"required\"`" + `
	Order string ` + "`json:\"order\" aql:\"enum=asc|desc,default=asc\"`" + `
}

type Summary[T any] struct {
	Count   bool   ` + "`json:\"count\"`" + `
	GroupBy string ` + "`json:\"group_by\"`" + `
	Sum     string ` + "`json:\"sum\"`" + `
	Avg     string ` + "`json:\"avg\"`" + `
	Min     string ` + "`json:\"min\"`" + `
	Max     string ` + "`json:\"max\"`" + `
}
`

// jsonSource declares what aql.Page has of package encoding/json.
const jsonSource = `package json

type RawMessage []byte
`

// runtimeSource declares what agents see of aql.Query and aql.Page.
const runtimeSource = `package aql

import (
	"encoding/json"

	"github.com/aqltag/aqltag/runtime/internal/collection"
)

type Query[T any] struct{ body collection.Query[T] }

type Page[T any] struct {
	Items []T ` + "`json:\"items,omitzero\"` // Absent where only summaries were asked for" + `
	Info PageInfo ` + "`json:\"pageInfo,omitzero\"` // Absent without items" + `
	Pagination Pagination ` + "`json:\"pagination,omitzero\"` // Absent without items" + `
	Aggregations map[string]json.RawMessage ` +
	"`json:\"aggregations,omitempty\"` // Summaries by their labels in the request" + `
}

type PageInfo struct {
	HasNextPage     bool   ` + "`json:\"hasNextPage\"`           // Whether there are items behind the page" + `
	HasPreviousPage bool   ` + "`json:\"hasPreviousPage\"`       // Whether there are items in front of it" + `
	StartCursor     string ` + "`json:\"startCursor,omitempty\"` // Of the first item; for before" + `
	EndCursor       string ` + "`json:\"endCursor,omitempty\"`   // Of the last item; for after" + `
	TotalCount      *int   ` + "`json:\"totalCount,omitempty\"`  // How many items match, on all pages" + `
}

type Pagination struct {
	Page       int  ` + "`json:\"page\"`                  // Number of the page, from 1" + `
	PageSize   int  ` + "`json:\"page_size\"`             // How many items it may have" + `
	Limit      int  ` + "`json:\"limit\"`                 // How many items it may have" + `
	Offset     int  ` + "`json:\"offset\"`                // How many items are in front of it" + `
	Returned   int  ` + "`json:\"returned\"`              // How many items it has" + `
	TotalItems *int ` + "`json:\"total_items,omitempty\"` // How many items match, on all pages" + `
	TotalPages *int ` + "`json:\"total_pages,omitempty\"` // How many pages they take" + `
	HasMore    bool ` + "`json:\"has_more\"`              // Whether there are items behind the page" + `
}
`
