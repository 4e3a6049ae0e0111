package main

const typesSource = `// Package types holds what the services share.
package types

// Priority is how urgent a thing is.
type Priority string

// The priorities.
const (
	Low  Priority = "low"  // Can wait
	High Priority = "high" // Cannot
)

// Level is how loud a thing is.
type Level int

// The levels.
const (
	Quiet Level = iota
	Normal
	Loud
)

// Pagination is where a page begins.
type Pagination struct {
	Limit  int ` + "`json:\"limit\"`" + `  // How many things there are on a page
	Offset int ` + "`json:\"offset\"`" + ` // How many come before
}

// Page is one page of a list.
type Page[T any] struct {
	Items []T ` + "`json:\"items\"`" + ` // What is on the page
	Pagination
}
`

const packageSource = `// Package %s keeps things.
package %s

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"strings"
	"time"

	"example.com/synth/types"
)

// Service keeps things in a database.
type Service struct {
	DB     *sql.DB
	Client *http.Client
}

// Default is the service that functions use.
var Default = &Service{Client: http.DefaultClient}
`

var requestFields = []string{
	"\tName     string         `json:\"name\" aql:\"required,minlen=1,maxlen=200\"` // Name of the thing that is meant\n",
	"\tPriority types.Priority `json:\"priority,omitempty\" aql:\"default=low\"`    // How urgent the thing is\n",
	"\tCount    int            `json:\"count,omitempty\" aql:\"min=0,max=1000\"`    // How many of them there are\n",
	"\tSince    *time.Time     `json:\"since,omitempty\"`                         // When it was first seen\n",
	"\tTags     []string       `json:\"tags,omitempty\" aql:\"maxitems=20\"`        // Labels attached to it\n",
	"\tLevel    types.Level    `json:\"level,omitempty\"`                         // How loud it is\n",
}

const operationSource = `
// CreateTHINGRequest says which thing to add.
type CreateTHINGRequest struct {
	_ struct{} ` + "`aql:\"category=CREATE\"`" + `
FIELDS}

// THING is a thing in the database.
type THING struct {
	types.Pagination
	ID        string            ` + "`json:\"id\"`" + `         // Identifier
	Title     string            ` + "`json:\"title\"`" + `      // What it is called
	Priority  types.Priority    ` + "`json:\"priority\"`" + `   // How urgent it is
	CreatedAt time.Time         ` + "`json:\"created_at\"`" + ` // When it was added
	Labels    map[string]string ` + "`json:\"labels\"`" + `     // Names and values
	Amount    float64           ` + "`json:\"amount\"`" + `     // What it costs
	Done      bool              ` + "`json:\"done\"`" + `       // Whether it is finished
}

// CreateTHING adds a thing and asks the neighbour what it thinks of it.
func RECEIVERCreateTHING(ctx context.Context, req CreateTHINGRequest) (*THING, error) {
	name := strings.TrimSpace(req.Name)
	if name == "" {
		return nil, fmt.Errorf("no name")
	}
	rows, err := SERVICE.DB.QueryContext(ctx, "select id, title from TABLE where name = ?", name)
	if err != nil {
		return nil, fmt.Errorf("reading TABLE: %w", err)
	}
	defer rows.Close()
	out := &THING{CreatedAt: time.Now(), Labels: map[string]string{}}
	for rows.Next() {
		if err := rows.Scan(&out.ID, &out.Title); err != nil {
			return nil, fmt.Errorf("reading a row of TABLE: %w", err)
		}
		out.Labels[out.ID] = strings.ToUpper(out.Title)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://neighbour/TABLE?name="+name, nil)
	if err != nil {
		return nil, err
	}
	response, err := SERVICE.Client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking the neighbour: %w", err)
	}
	defer response.Body.Close()
	out.Done = response.StatusCode == http.StatusOK
	return out, rows.Err()
}
`

const usesGenerated = `package %s

import aql "github.com/aqltag/aqltag/runtime"

// Uses makes the registry of the package.
func Uses() *aql.Registry { return NewRegistry(Default) }
`

const usesKept = `package %s

import aql "github.com/aqltag/aqltag/runtime"

var kept = []any{
%s}

// Uses keeps the handlers in the binary.
func Uses() *aql.Registry {
	if len(kept) == 0 {
		return nil
	}
	return aql.Merge()
}
`

const serverSource = `// Command server serves all packages.
package main

import (
	"fmt"
	"os"

	aql "github.com/aqltag/aqltag/runtime"

%s)

func main() {
	adapter, err := aql.New(aql.Merge(
%s	), aql.Options{Name: "synth", Version: "1"})
	fmt.Fprintln(os.Stderr, len(adapter.Tools()), err)
}
`
