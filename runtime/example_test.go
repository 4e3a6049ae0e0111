package aql_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"strings"
	"time"

	aql "github.com/aqltag/aqltag/runtime"
	"github.com/aqltag/aqltag/runtime/describe"
	"github.com/aqltag/aqltag/runtime/gen"
	"github.com/aqltag/aqltag/runtime/internal/notes"
)

// show calls operations of a new service, one after the other, through the one tool of single mode. A long answer is
// indented.
func show(requests ...string) {
	adapter, err := aql.New(notes.NewRegistry(notes.New()), aql.Options{Mode: aql.ModeSingle})
	if err != nil {
		log.Fatal(err)
	}
	session := adapter.NewSession()
	defer session.Close()
	for _, request := range requests {
		answer := session.Call(context.Background(), "mcp_aql", []byte(request)).JSON
		if len(answer) > 110 {
			var indented bytes.Buffer
			if err := json.Indent(&indented, answer, "", "  "); err != nil {
				log.Fatal(err)
			}
			answer = indented.Bytes()
		}
		fmt.Printf("%s\n", answer)
	}
}

// An adapter answers requests that come through its tools: without options, through one for each category that
// an operation has.
func ExampleNew() {
	adapter, err := aql.New(notes.NewRegistry(notes.New()), aql.Options{Name: "notes", Version: "1.0.0"})
	if err != nil {
		log.Fatal(err)
	}
	for _, tool := range adapter.Tools() {
		fmt.Println(tool.Name)
	}
	session := adapter.NewSession()
	defer session.Close()
	request := []byte(`{"operation":"get_note","params":{"note_id":"n1"}}`)
	reply := session.Call(context.Background(), adapter.Tool("get_note"), request)
	fmt.Printf("%s\n", reply.JSON)
	// Output:
	// mcp_aql_create
	// mcp_aql_read
	// mcp_aql_update
	// mcp_aql_delete
	// {"success":true,"data":{"id":"n1","title":"Buy milk","labels":{"shop":"corner","when":"today"}}}
}

// The handler of update_note has a request with a Patch[Note] called Input, and merges it into the note:
//
//	n := s.notes[req.NoteID]
//	return n, req.Input.Apply(n)
//
// Objects merge at every depth, and null removes.
func ExamplePatch_Apply() {
	show(`{"operation":"update_note","params":{"note_id":"n1",
		"input":{"title":"Buy bread","labels":{"when":null,"who":"Ann"}}}}`)
	// Output:
	// {"success":true,"data":{"id":"n1","title":"Buy bread","labels":{"shop":"corner","who":"Ann"}}}
}

// The handler of paint_note has a request with an Optional[string] called Color, and applies it to the note:
//
//	req.Input.Color.Apply(&n.Color)
//
// It does nothing if the color is absent, and removes it if it is null.
func ExampleOptional() {
	show(
		`{"operation":"paint_note","params":{"note_id":"n1","input":{"color":"red"}}}`,
		`{"operation":"paint_note","params":{"note_id":"n1","input":{}}}`,
		`{"operation":"paint_note","params":{"note_id":"n1","input":{"color":null}}}`,
	)
	// Output:
	// {"success":true,"data":{"id":"n1","title":"Buy milk","color":"red","labels":{"shop":"corner","when":"today"}}}
	// {"success":true,"data":{"id":"n1","title":"Buy milk","color":"red","labels":{"shop":"corner","when":"today"}}}
	// {"success":true,"data":{"id":"n1","title":"Buy milk","labels":{"shop":"corner","when":"today"}}}
}

// The handler of get_note returns aql.NotFound("note", req.NoteID): the agent gets a code, a message and details.
func ExampleNotFound() {
	show(`{"operation":"get_note","params":{"note_id":"n7"}}`)
	// Output:
	// {
	//   "success": false,
	//   "error": {
	//     "code": "NOT_FOUND_RESOURCE",
	//     "message": "Resource 'note' not found: 'n7'",
	//     "details": {
	//       "resource_type": "note",
	//       "resource_id": "n7"
	//     }
	//   }
	// }
}

// A failure can have any code with one of the protocol's prefixes, and the package has constants for the common ones.
// The handler of paint_note returns
//
//	aql.Errorf(aql.CodeInvalidEnum, "A note cannot be %s", color).WithDetail("param_name", "input.color")
func ExampleErrorf() {
	show(`{"operation":"paint_note","params":{"note_id":"n1","input":{"color":"invisible"}}}`)
	err := aql.Errorf("CONFLICT_LOCKED", "Note %s is locked", "n1")
	fmt.Println(err.Code.Valid(), err)
	// Output:
	// {
	//   "success": false,
	//   "error": {
	//     "code": "VALIDATION_INVALID_ENUM",
	//     "message": "A note cannot be invisible",
	//     "details": {
	//       "param_name": "input.color"
	//     }
	//   }
	// }
	// true CONFLICT_LOCKED: Note n1 is locked
}

// The handler of create_note warns of a title that another note has:
//
//	same := aql.Warning{Code: "SAME_TITLE_WARNING", Message: "Another note has this title"}
//	aql.Warn(ctx, same.WithDetail("id", n.ID))
func ExampleWarn() {
	show(`{"operation":"create_note","params":{"title":"Buy milk"}}`)
	// Output:
	// {
	//   "success": true,
	//   "data": {
	//     "id": "n2",
	//     "title": "Buy milk"
	//   },
	//   "warnings": [
	//     {
	//       "code": "SAME_TITLE_WARNING",
	//       "message": "Another note has this title",
	//       "severity": "medium",
	//       "details": {
	//         "id": "n1"
	//       }
	//     }
	//   ]
	// }
}

// A service can spread its operations over tools of its own.
func ExampleOptions_customProfile() {
	desk := describe.Profile{Name: "desk", Introspect: "look", Families: []describe.Family{
		{Name: "look", Description: "Find and read notes.", Categories: []gen.Category{gen.Read}},
		{Name: "work", Description: "Change notes.", Categories: []gen.Category{
			gen.Create, gen.Update, gen.Delete, gen.Execute,
		}},
	}}
	adapter, err := aql.New(notes.NewRegistry(notes.New()), aql.Options{
		Profile: "desk", Profiles: []describe.Profile{desk}, Prefix: "notes_",
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(adapter.Tool("get_note"), adapter.Tool("delete_note"))
	// Output:
	// notes_mcp_aql_look notes_mcp_aql_work
}

// A transport of one's own: it reads lines with the name of a tool and a request, and writes the answers.
func ExampleSession_Call() {
	adapter, err := aql.New(notes.NewRegistry(notes.New()), aql.Options{})
	if err != nil {
		log.Fatal(err)
	}
	session := adapter.NewSession()
	defer session.Close()
	ctx := aql.WithCaller(context.Background(), aql.Caller{Subject: "ann", Issuer: "console"})

	input := strings.NewReader(`mcp_aql_read {"operation":"get_note","params":{"note_id":"n1"}}
mcp_aql_read {"operation":"get_nots"}
mcp_aql_read {"operation":
`)
	lines := bufio.NewScanner(input)
	lines.Buffer(nil, adapter.Limits().RequestSize+100)
	for lines.Scan() {
		tool, request, _ := strings.Cut(lines.Text(), " ")
		reply := session.Call(ctx, tool, []byte(request))
		fmt.Printf("isError=%t %.72s\n", reply.IsError, reply.JSON)
	}
	// Output:
	// isError=false {"success":true,"data":{"id":"n1","title":"Buy milk","labels":{"shop":"c
	// isError=false {"success":false,"error":{"code":"NOT_FOUND_OPERATION","message":"Unknow
	// isError=true {"success":false,"error":{"code":"VALIDATION_MALFORMED_JSON","message":"
}

// A transport that can ask a human does so in place of the answer that requires confirmation, and sends the request
// again.
func ExampleWithAnswer() {
	adapter, err := aql.New(notes.NewRegistry(notes.New()), aql.Options{})
	if err != nil {
		log.Fatal(err)
	}
	session := adapter.NewSession()
	defer session.Close()
	ctx := adapter.WithAsker(context.Background())
	request := []byte(`{"operation":"delete_note","params":{"note_id":"n1"}}`)

	reply := session.Call(ctx, "mcp_aql_delete", request)
	fmt.Println(reply.Question.Message)
	state, err := session.Seal(ctx, reply.Question)
	if err != nil {
		log.Fatal(err)
	}
	approved := true // by the human

	reply = session.Call(aql.WithAnswer(ctx, aql.Answer{State: state, Approved: approved}), "mcp_aql_delete", request)
	fmt.Printf("%s\n", reply.JSON)
	// Output:
	// Delete note 'n1'? This cannot be undone.
	// {"success":true,"data":null}
}

// A handler that wraps an API turns its failed responses into failures for the agent.
func ExampleUpstream() {
	body := []byte(`{"message":"Validation Failed","errors":[{"field":"title","code":"missing_field"}]}`)
	fmt.Println(aql.Upstream(422, nil, body))
	fmt.Println(aql.Upstream(503, nil, nil))
	// Output:
	// VALIDATION_MISSING_PARAM: The API refused the request: 'Validation Failed'
	// INTERNAL_ERROR: Internal error: 'the API answered with status 503'
}

func ExampleInvalidState() {
	fmt.Println(aql.InvalidState("order", "17", "shipped").WithDetail("allowed_states", []string{"open", "paid"}))
	// Output:
	// CONFLICT_INVALID_STATE: Resource 'order' is in state 'shipped': '17'
}

func ExampleRateLimited() {
	fmt.Println(aql.RateLimited(30 * time.Second))
	// Output:
	// RATE_LIMIT_EXCEEDED: API rate limit exceeded
}

// errLocked is an error of a library, which the author of an adapter cannot change.
var errLocked = errors.New("note 0x3f is locked by session 17")

// MapError translates the errors of a library, in one place for all operations. The agent learns what the new error
// says; the log has the old one.
func ExampleOptions_mapError() {
	adapter, err := aql.New(lockedNotes(), aql.Options{
		Mode: aql.ModeSingle,
		MapError: func(_ context.Context, operation string, err error) error {
			if errors.Is(err, errLocked) {
				return aql.Errorf("CONFLICT_LOCKED", "somebody edits the note; call %s again later", operation)
			}
			return err
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	session := adapter.NewSession()
	defer session.Close()
	reply := session.Call(context.Background(), "mcp_aql", []byte(`{"operation":"edit_note"}`))
	fmt.Printf("%s\n", reply.JSON)
	// Output:
	// {"success":false,"error":{"code":"CONFLICT_LOCKED","message":"somebody edits the note; call edit_note again later"}}
}

// lockedNotes has an operation that fails.
func lockedNotes() *aql.Registry {
	return gen.NewRegistry([]gen.Handler{{
		Name: "edit_note", Category: gen.Update, Danger: gen.Reversible, Request: (*struct{})(nil),
		Call: func(context.Context, []any, any) (any, error) { return nil, fmt.Errorf("editing: %w", errLocked) },
	}}, nil)
}

// An interceptor sees each call that will run, with its definition, its caller and its request.
func ExampleInterceptor() {
	timed := func(ctx context.Context, call aql.Invocation, next aql.Next) (any, error) {
		result, err := next(ctx)
		fmt.Printf("%s %s for %s: failed %t\n", call.Operation.Category, call.Operation.Name, call.Caller.Subject, err != nil)
		return result, err
	}
	onlyOwnNotes := func(ctx context.Context, call aql.Invocation, next aql.Next) (any, error) {
		if r, ok := call.Request.(*notes.GetNoteRequest); ok && call.Caller.Subject != "ann" {
			return nil, aql.NotFound("note", r.NoteID)
		}
		return next(ctx)
	}
	adapter, err := aql.New(notes.NewRegistry(notes.New()), aql.Options{
		Mode: aql.ModeSingle, Intercept: []aql.Interceptor{timed, onlyOwnNotes},
	})
	if err != nil {
		log.Fatal(err)
	}
	session := adapter.NewSession()
	defer session.Close()
	for _, name := range []string{"ann", "bob"} {
		ctx := aql.WithCaller(context.Background(), aql.Caller{Subject: name})
		session.Call(ctx, "mcp_aql", []byte(`{"operation":"get_note","params":{"note_id":"n1"}}`))
	}
	// Output:
	// READ get_note for ann: failed false
	// READ get_note for bob: failed true
}

// transaction stands for a *sql.Tx.
type transaction struct{}

func (transaction) Commit() error {
	fmt.Println("commit")
	return nil
}

func (transaction) Rollback() { fmt.Println("rollback") }

// transactionKey is the key of the transaction in the context of a call.
type transactionKey struct{}

// The service of each call works in a transaction of its own. An interceptor ends it: with the error or the panic of
// the handler it is rolled back.
func Example_transaction() {
	inTransaction := func(ctx context.Context, call aql.Invocation, next aql.Next) (any, error) {
		fmt.Println("begin", call.Operation.Name)
		tx, committed := transaction{}, false
		defer func() {
			if !committed {
				tx.Rollback()
			}
		}()
		result, err := next(context.WithValue(ctx, transactionKey{}, tx))
		if err != nil {
			return nil, err
		}
		committed = true
		return result, tx.Commit()
	}
	service := func(ctx context.Context) (*notes.Service, error) {
		tx, ok := ctx.Value(transactionKey{}).(transaction)
		if !ok {
			return nil, errors.New("the call has no transaction")
		}
		_ = tx // a service keeps it, and asks its database through it
		return notes.New(), nil
	}
	adapter, err := aql.New(notes.NewRegistryFor(service), aql.Options{
		Mode: aql.ModeSingle, Intercept: []aql.Interceptor{inTransaction},
	})
	if err != nil {
		log.Fatal(err)
	}
	session := adapter.NewSession()
	defer session.Close()
	for _, id := range []string{"n1", "n2"} {
		request := fmt.Sprintf(`{"operation":"get_note","params":{"note_id":%q}}`, id)
		session.Call(context.Background(), "mcp_aql", []byte(request))
	}
	// Output:
	// begin get_note
	// commit
	// begin get_note
	// rollback
}
