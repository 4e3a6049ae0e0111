package scan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/aqltag/aqltag/internal/scantest"
	"github.com/aqltag/aqltag/model"
)

// httpOperation is what an operation takes and returns of HTTP messages.
type httpOperation struct{ Name, Parameters, Result string }

// httpOperations tells for each parameter its Go path; a star is for required ones, an exclamation mark for those that
// identify what changes.
func httpOperations(pkg model.Package) (list []httpOperation) {
	for _, h := range pkg.Handlers {
		o := httpOperation{Name: h.Operation.Name, Result: h.Result.Text}
		for _, p := range h.Operation.Params {
			o.Parameters += " " + p.Name + ":" + p.Go
			if p.Required {
				o.Parameters += "*"
			}
			if p.ID {
				o.Parameters += "!"
			}
		}
		list = append(list, o)
	}
	return list
}

const humaModule = `
-- go.mod --
module example.com/app

go 1.26

require (
	github.com/aqltag/aqltag v0.0.0
	github.com/danielgtaylor/huma/v2 v2.0.0
)

replace github.com/danielgtaylor/huma/v2 => ./huma

replace github.com/aqltag/aqltag => ./aqltag
-- huma/go.mod --
module github.com/danielgtaylor/huma/v2

go 1.26
-- huma/huma.go --
// Package huma stands for the framework.
package huma

func Error404NotFound(text string) error { return nil }
-- notes/notes.go --
// Package notes has handlers.
package notes

import (
	"context"

	"github.com/danielgtaylor/huma/v2"
)

type Author struct {
	Name string \x60json:"name"\x60
	Age  int    \x60json:"age,omitempty"\x60
}

type Note struct {
	Text    string   \x60json:"text"\x60
	Author  *Author  \x60json:"author"\x60
	Others  []Author \x60json:"others" required:"false"\x60
	Size    int      \x60json:"size" default:"1"\x60
	Tag     string   \x60json:"tag,omitempty" required:"true"\x60
}

type Page struct {
	PageSize int \x60query:"pageSize"\x60
}

type Server struct{}

type Output struct {
	ETag string \x60header:"ETag"\x60
	Body *Note
}

// List lists notes.
func (Server) List(_ context.Context, in *struct {
	Page
	Author string \x60query:"author,explode" required:"true"\x60
}) (*struct{ Body []Note }, error) {
	return nil, huma.Error404NotFound("")
}

// Put replaces a note.
func (Server) Put(_ context.Context, in *struct {
	Number int \x60path:"note-number"\x60
	Body   *Note
}) (*Output, error) {
	return nil, nil
}

// Tag tags notes.
func (Server) Tag(_ context.Context, in *struct{ Body []string }) (*struct{ Status int }, error) { return nil, nil }

// Move has a header without a tag, as huma allows it, and never takes a credential.
func (Server) Move(_ context.Context, in *struct {
	ID    string \x60path:"id"\x60
	Token string \x60header:"Authorization"\x60
}) (*struct {
	Location string
	Body     Author
}, error) {
	return nil, nil
}

// Count is behind the handlers: its result is none of theirs.
func (Server) Count(_ context.Context, in *struct {
	Tag   string \x60query:"tag"\x60
	Token string \x60cookie:"token"\x60
}) (*Author, error) {
	return nil, nil
}

// Search is a function with other fields, which no framework fills.
func (Server) Search(_ context.Context, in *Author) (*Note, error) { return nil, nil }
`

// Handlers of huma are told apart by their types and the import of huma. Inputs are taken apart, and what huma requires
// is required at every depth (B8).
func TestHumaHandlers(t *testing.T) {
	dir := scantest.Write(t, strings.ReplaceAll(humaModule, `\x60`, "`")+`
-- app.go --
package app

import _ "example.com/app/notes"

//aql:adopt notes.Server.List category=READ
//aql:adopt notes.Server.Put category=UPDATE,danger=reversible
//aql:adopt notes.Server.Tag category=EXECUTE
//aql:adopt notes.Server.Move category=EXECUTE
//aql:adopt notes.Server.Count category=READ
//aql:adopt notes.Server.Search category=READ
`)
	result := scantest.Load(t, dir)
	if len(result.Packages) != 1 {
		t.Fatalf("no operations:\n%s", scantest.Render(t, dir, result))
	}
	pkg := result.Packages[0]
	want := []httpOperation{
		{"list", " page_size:Page.PageSize author:Author*", "[]notes.Note"},
		{"put", " note_number:Number*! input:*", "*notes.Note"},
		{"tag", " body:Body*", ""},
		{"move", " id:ID*", "notes.Author"},
		{"count", " tag:Tag", "*notes.Author"},
		{"search", " name:Name age:Age", "*notes.Note"},
	}
	if diff := cmp.Diff(want, httpOperations(pkg)); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
	fields := make(map[string]string)
	for _, definition := range pkg.Types {
		for _, f := range definition.Fields {
			fields[definition.Name] += fmt.Sprintf(" %s %s %t", f.Name, f.Type, f.Required)
		}
	}
	if diff := cmp.Diff(" text string true author AuthorInput false others array false size integer false tag string true",
		fields["PutInput"]); diff != "" {
		t.Errorf("the body of put (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(" name string true age integer false", fields["AuthorInput"]); diff != "" {
		t.Errorf("what is in it (-want +got):\n%s", diff)
	}
	if body := pkg.Handlers[1].Adopted.Body; body.Field != "" {
		t.Errorf("a body with a required member is allocated twice: %v", body)
	}
	if status := pkg.Handlers[2].Adopted.Status; status != "Status" {
		t.Errorf("got the status %q", status)
	}
}

const strictServer = `
-- ext/api/api.go --
// Package api stands for what oapi-codegen generates.
package api

import (
	"context"
	"net/http"
)

type Note struct {
	Text string \x60json:"text"\x60
}

type NoteJSONResponse Note

type ListParams struct {
	Limit   *int    \x60form:"limit,omitempty" json:"limit,omitempty"\x60
	Session *string \x60form:"session,omitempty" json:"session,omitempty"\x60
}

type ListRequestObject struct{ Params ListParams }

type ListResponseObject interface {
	VisitListResponse(w http.ResponseWriter) error
}

type List200JSONResponse []Note

func (List200JSONResponse) VisitListResponse(w http.ResponseWriter) error { return nil }

type List5XXResponse struct{ StatusCode int }

func (List5XXResponse) VisitListResponse(w http.ResponseWriter) error { return nil }

// ListAll200Response is not a response of List.
type ListAll200Response struct{}

type PutRequestObject struct {
	NoteId string \x60json:"noteId"\x60
	Body   *Note
}

type PutResponseObject interface {
	VisitPutResponse(w http.ResponseWriter) error
}

type Put200JSONResponse struct{ NoteJSONResponse }

func (Put200JSONResponse) VisitPutResponse(w http.ResponseWriter) error { return nil }

type Put204Response struct{}

func (Put204Response) VisitPutResponse(w http.ResponseWriter) error { return nil }

type Put404TextResponse string

func (Put404TextResponse) VisitPutResponse(w http.ResponseWriter) error { return nil }

type PutdefaultJSONResponse struct {
	Body       struct{ Message string }
	StatusCode int
}

func (PutdefaultJSONResponse) VisitPutResponse(w http.ResponseWriter) error { return nil }

type ServerInterfaceWrapper struct{}

func (siw *ServerInterfaceWrapper) List(w http.ResponseWriter, r *http.Request) {
	_ = r.URL.Query().Get("limit")
	_, _ = r.Cookie("session")
}

type StrictServerInterface interface {
	// List Lists notes.
	// (GET /notes)
	List(ctx context.Context, request ListRequestObject) (ListResponseObject, error)

	// (PUT /notes/{noteId})
	Put(ctx context.Context, request PutRequestObject) (PutResponseObject, error)
}
`

// The methods of a strict server in another module are taken apart, however it is loaded: each type of a response is a
// result or a failure with its status (B8).
func TestStrictServers(t *testing.T) {
	dir, env := foreign(t, strings.ReplaceAll(strictServer, `\x60`, "`")+`
-- app/app.go --
package app

import _ "example.com/ext/api"

//aql:adopt api.StrictServerInterface.List category=READ
//aql:adopt api.StrictServerInterface.Put category=UPDATE,danger=reversible,desc='Replaces a note.'
`)
	result := both(t, dir, env)
	if len(result.Packages) != 1 {
		t.Fatalf("no operations:\n%s", scantest.Render(t, dir, result))
	}
	pkg := result.Packages[0]
	want := []httpOperation{
		{"list", " limit:Params.Limit", "api.List200JSONResponse"},
		{"put", " note_id:NoteId*! input:*", "*api.Note"},
	}
	if diff := cmp.Diff(want, httpOperations(pkg)); diff != "" {
		t.Errorf("operations (-want +got):\n%s", diff)
	}
	if got := pkg.Handlers[0].Operation.Description; got != "Lists notes." {
		t.Errorf("got the description %q", got)
	}
	var got []string
	for _, h := range pkg.Handlers {
		for _, r := range h.Adopted.Responses {
			got = append(got, fmt.Sprintf("%s %d%s %t %q %s", r.Type.Text, r.Status, r.Code, r.Success, r.Value, r.Convert.Text))
		}
	}
	responses := []string{
		`api.List200JSONResponse 200 true "" `,
		`api.List5XXResponse 0StatusCode false "" `,
		`api.Put200JSONResponse 200 true "NoteJSONResponse" api.Note`,
		`api.Put204Response 204 true "" `,
		`api.Put404TextResponse 404 false "" `,
		`api.PutdefaultJSONResponse 0StatusCode false "Body" `,
	}
	if diff := cmp.Diff(responses, got); diff != "" {
		t.Errorf("responses (-want +got):\n%s", diff)
	}
}
