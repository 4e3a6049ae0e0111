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
