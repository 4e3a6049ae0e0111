// Package state tests adapters that share their state: processes that race, processes that are killed, and servers that
// go away. Its test binary runs itself as the other processes.
package state

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/execution"
	"github.com/aqltag/aqltag/runtime/execution/river"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/store"
	"github.com/aqltag/aqltag/runtime/store/postgres"
	"github.com/aqltag/aqltag/runtime/store/postgres/postgrestest"
	"github.com/aqltag/aqltag/runtime/store/redis"
	"github.com/aqltag/aqltag/runtime/store/redis/redistest"
	"github.com/aqltag/aqltag/runtime/store/sqlite"
)

// workerVariable makes the test binary a worker; its value is the kind of worker.
const workerVariable = "AQL_STATE_WORKER"

func TestMain(m *testing.M) {
	if work := os.Getenv(workerVariable); work != "" {
		if err := runWorker(work, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, "worker:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// place is where a kind of store keeps its state in a test.
type place struct {
	name      string
	processes int // that race there
	open      func(t *testing.T) (location string)
}

func places() []place {
	return []place{
		{"sqlite", 4, func(t *testing.T) string { return filepath.Join(t.TempDir(), "state.db") }},
		{"redis", 3, func(t *testing.T) string { return redistest.Start(t).Location() }},
		{"postgres", 3, func(t *testing.T) string { return postgrestest.Start(t).Location() }},
	}
}

// executionPlaces are the kinds of stores, and River beside one of them.
func executionPlaces() []place {
	return append(places(), place{"river", 3, func(t *testing.T) string {
		return byRiver + postgrestest.Start(t).Location()
	}})
}

// byRiver is before a location whose executions River hands out.
const byRiver = "river:"

// dispatcherOf returns what hands out the executions of a store; nil: the store does.
func dispatcherOf(s store.Store) execution.Dispatcher {
	d, _ := s.(execution.Dispatcher)
	return d
}

// openStore opens a store as serve.Main does, by the scheme of its location.
func openStore(ctx context.Context, location string) (store.Store, error) {
	if at, is := strings.CutPrefix(location, byRiver); is {
		return river.Open(ctx, at)
	}
	scheme, _, found := strings.Cut(location, "://")
	if !found {
		scheme = ""
	}
	for _, driver := range slices.Concat(sqlite.Drivers(), redis.Drivers(), postgres.Drivers()) {
		if driver.Scheme == scheme {
			return driver.Open(ctx, location)
		}
	}
	return nil, fmt.Errorf("no store for %s", scheme)
}

// thing is the request of every operation.
type thing struct{ ID string }

// newAdapter makes an adapter whose operations do no more than tell which thing they were called for.
func newAdapter(options aql.Options, run func(id string)) (*aql.Adapter, error) {
	operation := func(name string, category gen.Category, danger gen.Danger) gen.Handler {
		return gen.Handler{
			Name: name, Category: category, Danger: danger, Returns: "Nothing",
			Params:  []gen.Field{{Name: "id", Go: "ID", Type: "string", Required: true}},
			Request: (*thing)(nil),
			Call: func(_ context.Context, _ []any, request any) (any, error) {
				run(request.(*thing).ID)
				return nil, nil
			},
		}
	}
	options.Name = "things"
	return aql.New(gen.NewRegistry([]gen.Handler{
		operation("get_thing", gen.Read, gen.Safe), operation("delete_thing", gen.Delete, gen.Destructive),
	}, []gen.WireType{{Name: "Nothing", Kind: gen.KindScalar}}), options)
}

// answer is a reply.
type answer struct {
	Success bool
	Error   struct {
		Code, Message string
		Details       struct {
			Token      string `json:"confirmation_token"`
			RetryAfter int    `json:"retry_after_seconds"`
			Approval   string `json:"approval_id"`
		}
	}
}

// call calls an operation for a caller; token may be empty.
func call(ctx context.Context, session *aql.Session, caller, tool, operation, id, token string) (answer, error) {
	request, err := json.Marshal(map[string]any{"operation": operation, "params": map[string]string{"id": id},
		"_confirmation": token})
	if err != nil {
		return answer{}, err
	}
	reply := session.Call(aql.WithCaller(ctx, aql.Caller{Subject: caller, Issuer: "test"}), tool, request)
	var a answer
	return a, json.Unmarshal(reply.JSON, &a)
}

func remove(ctx context.Context, session *aql.Session, caller, id, token string) (answer, error) {
	return call(ctx, session, caller, "mcp_aql_delete", "delete_thing", id, token)
}

// rounds is how many rounds a race has.
func rounds(t *testing.T) int {
	if testing.Short() {
		return 50
	}
	return 1000
}

const patience = time.Minute
