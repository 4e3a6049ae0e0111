package scan_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/scan"
	"github.com/aqltag/aqltag/internal/scantest"
	"github.com/aqltag/aqltag/model"
)

const adoptedClient = `
-- ext/client/client.go --
// Package client is an API client.
package client

import (
	"context"
	"net/http"
)

// Response is what the API answered.
type Response struct{ *http.Response }

// Notes has the calls about notes.
type Notes struct{}

// Note is a note.
type Note struct {
	ID   int    \x60json:"id"\x60
	Text string \x60json:"text"\x60
}

// List lists the notes of an account.
//
// This paragraph is for programmers.
func (n *Notes) List(ctx context.Context, account string) ([]Note, *Response, error) { return nil, nil, nil }

// Edit changes a note.
func (n *Notes) Edit(ctx context.Context, account, ledger string, number int, body *Note) (*Note, *Response, error) {
	return body, nil, nil
}

// Delete removes a note.
func (n *Notes) Delete(ctx context.Context, id int) (*Response, error) { return nil, nil }

// Reader reads.
type Reader interface {
	// Read reads a note.
	Read(ctx context.Context, id int) (*Note, error)
}
`

// A method of another module is an operation by its name, described by its own comment, without a line of code (B4).
// The plain values in front of the body of an update identify what it changes (B7).
func TestAdoptedMethods(t *testing.T) {
	dir, env := foreign(t, strings.ReplaceAll(adoptedClient, `\x60`, "`")+`
-- app/app.go --
package app

import _ "example.com/ext/client"

//aql:adopt (*client.Notes).List category=READ
//aql:adopt (*client.Notes).Edit category=UPDATE
//aql:adopt client.Notes.Delete category=DELETE
//aql:adopt (client.Reader).Read category=READ
`)
	result := both(t, dir, env)
	if len(result.Packages) != 1 {
		t.Fatalf("no operations:\n%s", scantest.Render(t, dir, result))
	}
	type shown struct{ Name, Description, Receiver, Parameters, Result string }
	var got []shown
	for _, h := range result.Packages[0].Handlers {
		s := shown{h.Operation.Name, h.Operation.Description, h.Receiver.Type, "", h.Result.Text}
		for _, p := range h.Operation.Params {
			s.Parameters += " " + p.Name
			if p.ID {
				s.Parameters += "!"
			}
		}
		if want := (model.Import{Path: "example.com/ext/client", Name: "client"}); h.Receiver.Package != want {
			t.Errorf("%s: the receiver is of package %v, want %v", h.Func, h.Receiver.Package, want)
		}
		got = append(got, s)
	}
	want := []shown{
		{"list", "Lists the notes of an account.", "Notes", " account", "[]client.Note"},
		{"edit", "Changes a note.", "Notes", " account! ledger! number! input", "*client.Note"},
		{"delete", "Removes a note.", "Notes", " id", ""},
		{"read", "Reads a note.", "Reader", " id", "*client.Note"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
}

// A package that an import does not find is reported where the directive names it.
func TestAdoptedPackageFails(t *testing.T) {
	dir := scantest.Write(t, `
-- app.go --
package app

import _ "example.com/app/clients"

//aql:adopt (*clients.Notes).Get category=READ
`)
	result, err := scan.Load(t.Context(), scan.Options{Dir: dir, Env: []string{"GOWORK=off", "GOFLAGS=", "GOPROXY=off"}})
	if err != nil {
		t.Fatal(err)
	}
	const want = `app.go:5:15: package clients could not be loaded
//aql:adopt (*clients.Notes).Get category=READ
              ^~~~~~~
suggestion: see what the go command says of its import
`
	if diff := cmp.Diff(want, scantest.Render(t, dir, result)); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s", diff)
	}
}

const connectModule = `
-- go.mod --
module example.com/app

go 1.26

require (
	connectrpc.com/connect v1.0.0
	github.com/aqltag/aqltag v0.0.0
)

replace connectrpc.com/connect => ./connect

replace github.com/aqltag/aqltag => ./aqltag
-- connect/go.mod --
module connectrpc.com/connect

go 1.26
-- connect/connect.go --
// Package connect stands for the library.
package connect

type Request[T any] struct{ Msg *T }

type Response[T any] struct{ Msg *T }

type ServerStream[T any] struct{ sent []*T }

func NewRequest[T any](m *T) *Request[T] { return &Request[T]{m} }
-- notes/notes.go --
// Package notes is a service.
package notes

import (
	"context"

	"connectrpc.com/connect"
)

// GetRequest names a note.
type GetRequest struct {
	ID string \x60json:"id"\x60
}

// UpdateRequest replaces a note.
type UpdateRequest struct {
	ID   string \x60json:"id"\x60
	Text string \x60json:"text"\x60
}

// Note is a note.
type Note struct {
	ID   string \x60json:"id"\x60
	Text string \x60json:"text"\x60
}

// Handler has the calls.
type Handler struct{}

// Get reads a note.
func (Handler) Get(ctx context.Context, request *connect.Request[GetRequest]) (*connect.Response[Note], error) {
	return nil, nil
}

// Update replaces a note.
func (Handler) Update(ctx context.Context, request *connect.Request[UpdateRequest]) (*connect.Response[Note], error) {
	return nil, nil
}

// Watch sends notes.
func (Handler) Watch(ctx context.Context, request *connect.Request[GetRequest], to *connect.ServerStream[Note]) error {
	return nil
}
`

// What Connect puts around requests and results is taken off; a stream is no operation (B4).
func TestEnvelopes(t *testing.T) {
	dir := scantest.Write(t, strings.ReplaceAll(connectModule, `\x60`, "`")+`
-- app.go --
package app

import _ "example.com/app/notes"

//aql:adopt notes.Handler.Get category=READ
//aql:adopt notes.Handler.Update category=UPDATE,ids=id
//aql:update get=Get
//aql:adopt notes.Handler.Watch category=READ
`)
	result := scantest.Load(t, dir)
	const want = `app.go:7:18: Get cannot read what Update updates: its request and its result are in envelopes
//aql:update get=Get
                 ^~~
suggestion: write a function that takes the identifiers and returns the resource
	app.go:5:27: Get is here
app.go:8:27: Watch cannot be an operation: ` + `it takes the stream *connect.ServerStream[notes.Note], ` +
		`and an operation has one request and one result
//aql:adopt notes.Handler.Watch category=READ
                          ^~~~~
suggestion: write a function that reads or fills it, with //aql:op
`
	if diff := cmp.Diff(want, scantest.Render(t, dir, result)); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s", diff)
	}
	get := result.Packages[0].Handlers[0]
	wrap := model.Wrap{Package: model.Import{Path: "connectrpc.com/connect", Name: "connect"}, Func: "NewRequest"}
	if get.Adopted.Wrap != wrap || get.Adopted.Field != "Msg" || get.Request.Text != "notes.GetRequest" ||
		get.Result.Text != "*notes.Note" {
		t.Errorf("got %+v with request %s and result %s", get.Adopted, get.Request.Text, get.Result.Text)
	}
}
